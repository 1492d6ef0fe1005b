import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { Address } from "tallystick-protocol/address";
import { type Hex, toHex } from "tallystick-protocol/hex";
import type { PaymentNetwork } from "tallystick-sdk/chain/paymentNetwork";

/**
 * The EIP-3009 nonce of a pool's next payment to an auditor. It is made of what the auditor was paid so far. So the
 * token accepts only one of all payments with the same earlier sum. This holds even if a killed process, a second
 * process, or a process that lost its disk signs such a payment too.
 *
 * @param paid atomic units, all transfers from the pool to the auditor
 */
export function paymentNonce(
  { chainId, token }: Pick<PaymentNetwork, "chainId" | "token">,
  { pool, auditor, paid }: { pool: Address; auditor: Address; paid: bigint },
): Hex {
  const words = ["tallystick/audit/payment/v1", chainId, token, pool, auditor, paid];
  return toHex(sha256(utf8ToBytes(words.join(" "))));
}
