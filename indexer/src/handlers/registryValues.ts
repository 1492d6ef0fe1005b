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

/** What every event of a registry says: where it stands, of which contract it is, in which transaction. */
export function ofRegistry(event: RegistryEvent) {
  return { ...placeOf(event), registry: lower(event.log.address), tx: event.transaction.hash };
}

/**
 * The texts of an event, as they are logged. They are read as bytes: decoded by the event's own types, they would have lost what is no
 * UTF-8, and with it what their hash is of.
 *
 * @param types of the values that are not indexed, in order; `bytes` is a text to be had, all else is passed over
 */
export function textsOf(
  { log }: RegistryEvent,
  types: readonly ("bytes" | "bytes32" | "uint256")[],
): LoggedText[] {
  return bytesIn(log.data, types).map((raw) => loggedText(raw));
}

/** A metadata event's key, which is a text, and its value, which is none. */
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
