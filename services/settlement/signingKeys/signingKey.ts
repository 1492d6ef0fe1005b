import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { addressOf } from "tallystick-protocol/signatures/signHash";
import type { SignerCommand } from "./runSigner.ts";

/** A key that signs: in this process, or behind a command, so that this process never has the key. */
export type SigningKey =
  | { kind: "private"; privateKey: Hex }
  | { kind: "command"; address: Address; command: SignerCommand };

/** The account of a key, lower case. */
export function addressOfKey(key: SigningKey): Address {
  return key.kind === "command" ? key.address : addressOf(key.privateKey);
}
