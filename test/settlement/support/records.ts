import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signBody, signRecord } from "tallystick-protocol/records/record";
import type { LocalAccount } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { NOW } from "./testService.ts";

export const seller = privateKeyToAccount(`0x${"11".repeat(32)}`);
export const buyer = privateKeyToAccount(`0x${"22".repeat(32)}`);

/** A listing that every rule accepts. */
export function listingBody(changes: RecordBody = {}): RecordBody {
  return {
    agent_id: seller.address.toLowerCase(),
    capability: "text.translate.en.it",
    price_usdc: "0.50",
    max_latency_ms: 8000,
    endpoint: "https://seller.example/hire",
    ...changes,
  };
}

/** A receipt that every rule accepts, completed a minute before {@link NOW}. */
export function receiptBody(changes: RecordBody = {}): RecordBody {
  return {
    agent_id: seller.address.toLowerCase(),
    buyer: buyer.address.toLowerCase(),
    capability: "text.translate.en.it",
    hire_id: "rcpt_01",
    tx_hash: `0x${"fe".repeat(32)}`,
    amount_usdc_atomic: "500000",
    network: "base",
    completed_at: NOW - 60,
    protocol_version: "swarmwage/v0.3",
    verification: { all_passed: true, checks: { non_empty: true } },
    ...changes,
  };
}

/** The envelope of a body signed by the seller. */
export async function envelope(body: RecordBody) {
  return { body, signature: await signBody(body, { account: seller }) };
}

/** The envelope of a record that names its type and its ledger: by default that of a service without a chain. */
export async function bound(
  type: string,
  fields: RecordBody,
  account: LocalAccount,
  ledger: LedgerName = "local",
) {
  const { body, signature } = await signRecord({ type, ledger, body: fields, account });
  return { body, signature };
}

/** The form of existing Swarmwage SDKs: the signature is one of the body's own keys. */
export async function flat(body: RecordBody) {
  return { ...body, signature: await signBody(body, { account: seller }) };
}
