import type { LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { commandAccount } from "./commandAccount.ts";
import type { SigningKey } from "./signingKey.ts";

/**
 * The account that signs with a key.
 *
 * @param signal ends a running command
 */
export function accountOfKey(key: SigningKey, signal?: AbortSignal): LocalAccount {
  return key.kind === "command" ? commandAccount({ ...key, signal }) : privateKeyToAccount(key.privateKey);
}
