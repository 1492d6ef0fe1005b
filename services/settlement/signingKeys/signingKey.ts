import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { commandAccount } from "./commandAccount.ts";
import type { SignerCommand } from "./runSigner.ts";

/** A key that signs: in this process, or behind a command, so that this process never has the key. */
export type SigningKey =
  | { kind: "private"; privateKey: Hex }
  | { kind: "command"; address: Address; command: SignerCommand };

/** The account of a key, lower case. */
export function addressOfKey(key: SigningKey): Address {
  if (key.kind === "command") return key.address;
  return privateKeyToAccount(key.privateKey).address.toLowerCase() as Address;
}

/**
 * The account that signs with a key.
 *
 * @param signal ends a running command
 */
export function accountOfKey(key: SigningKey, signal?: AbortSignal): LocalAccount {
  return key.kind === "command" ? commandAccount({ ...key, signal }) : privateKeyToAccount(key.privateKey);
}
