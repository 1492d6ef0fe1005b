import { instantiateSecp256k1 } from "@bitauth/libauth";
import { fromHex, type Hex, toHex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { recordSigningHash } from "tallystick-protocol/records/record";
import { privateKeyToAccount } from "viem/accounts";

const KEY: Hex = `0x${"11".repeat(32)}`;

/** A receipt ready to be sent. */
export type SignedReceipt = { body: RecordBody; signature: Hex };

/** Signs receipts as a seller would, quickly. `from` is the number of the first receipt. */
export async function signReceipts(count: number, from = 0): Promise<SignedReceipt[]> {
  const secp256k1 = await instantiateSecp256k1();
  const privateKey = fromHex(KEY);
  const agent_id = privateKeyToAccount(KEY).address.toLowerCase();
  const completed_at = Math.floor(Date.now() / 1000);
  return Array.from({ length: count }, (_, i) => {
    const body: RecordBody = {
      agent_id,
      buyer: `0x${"22".repeat(20)}`,
      capability: "text.translate.en.it",
      hire_id: `rcpt_${from + i}`,
      tx_hash: `0x${(from + i).toString(16).padStart(64, "0")}`,
      amount_usdc_atomic: "500000",
      network: "eip155:31337",
      completed_at,
      protocol_version: "swarmwage/v0.3",
      verification: { all_passed: true, checks: { non_empty: true, schema: true } },
      latency_ms: 812,
    };
    const signed = secp256k1.signMessageHashRecoverableCompact(privateKey, fromHex(recordSigningHash(body)));
    if (typeof signed === "string") throw new Error(signed);
    const signature = toHex(Uint8Array.of(...signed.signature, 27 + signed.recoveryId));
    return { body, signature };
  });
}
