import {
  type LoggedBytes,
  type LoggedText,
  loggedBytes,
  loggedText,
} from "tallystick-protocol/erc8004/loggedText";
import { fromHex, type Hex } from "tallystick-protocol/hex";
import { decodeAbiParameters } from "viem";
import { lower, placeOf } from "./place.ts";

type RegistryEvent = Parameters<typeof placeOf>[0] & {
  log: { data: Hex };
  transaction: { hash: Hex };
};

/**
 * The fields that every event of a registry has: its place in the chain, its contract and its transaction.
 */
export function ofRegistry(event: RegistryEvent) {
  return { ...placeOf(event), registry: lower(event.log.address), tx: event.transaction.hash };
}

/**
 * The texts of an event, exactly as they are logged. They are decoded as bytes. A decoder of strings replaces
 * bytes that are not UTF-8, and then the text no longer fits its hash.
 *
 * @param types the types of the values that are not indexed, in order; each `bytes` gives one text, other
 * types are skipped
 */
export function textsOf(
  { log }: RegistryEvent,
  types: readonly ("bytes" | "bytes32" | "uint256")[],
): LoggedText[] {
  return bytesIn(log.data, types).map((raw) => loggedText(raw));
}

/** The key and the value of a metadata event. The key is a text, the value is any bytes. */
export function metadataOf({ log }: RegistryEvent): { key: LoggedText; value: LoggedBytes } {
  const [key = new Uint8Array(), value = new Uint8Array()] = bytesIn(log.data, ["bytes", "bytes"]);
  return { key: loggedText(key), value: loggedBytes(value) };
}

function bytesIn(data: Hex, types: readonly ("bytes" | "bytes32" | "uint256")[]): Uint8Array[] {
  const values = decodeAbiParameters(
    types.map((type) => ({ type })),
    data,
  );
  return values.flatMap((value, n) => (types[n] === "bytes" ? [fromHex(value as Hex)] : []));
}
