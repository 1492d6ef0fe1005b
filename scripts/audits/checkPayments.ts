import { keyOfPayment, MAX_ALIKE } from "tallystick-derive/payments";
import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import { type Hex, ZERO_HASH } from "tallystick-protocol/hex";
import type { AuditChain } from "./auditChain.ts";
import type { DerivedLog } from "./derivedLog.ts";
import type { Findings } from "./findings.ts";

/** The most receipts without a payment that are looked up on the chain. */
const MAX_RECEIPTS = 1_000;

/**
 * Checks that the log does not leave out payments of hires that can be audited. For each receipt without a
 * payment in the log, it looks for the payment on the chain. It takes only receipts that have the hashes of params
 * and result, of sellers that agreed to audits. A hire that is left out would change the place of every later hire
 * in the list of the draw.
 */
export async function checkPayments(log: DerivedLog, chain: AuditChain, found: Findings): Promise<void> {
  const { store } = log;
  const least = BigInt(log.params.minHireAtomic);
  const waiting: Row<"receipt">[] = [];
  for (const receipt of store.rows("receipt").values()) {
    const { agent, buyer, amount, paramsHash, resultHash, status, escrowId } = receipt;
    const isUnpaid =
      escrowId === null
        ? status === "pending" || status === "unmatched"
        : store.get("escrow", escrowId) === null;
    if (!isUnpaid || paramsHash === null || resultHash === null || amount < least) continue;
    // A payment by a hub is not a hire.
    if ((store.get("wallet", buyer)?.kind ?? null) !== null) continue;
    if (store.get("agent", agent)?.everConsented === true) waiting.push(receipt);
  }
  let left = 0;
  for (const receipt of waiting.slice(0, MAX_RECEIPTS)) {
    const place = await (receipt.escrowId === null ? paymentOf : depositOf)(log, receipt, chain);
    if (place === null) continue;
    left++;
    found.check(
      false,
      "",
      `The log leaves out, or changes, ${place}, which the receipt ${receipt.id} of ${receipt.agent} names.`,
    );
  }
  if (left === 0)
    found.check(
      true,
      waiting.length === 0
        ? "No receipt of a hire that can be audited lacks its payment in the log."
        : `${waiting.length} receipts have no payment in the log, and none on the chain either.`,
      "",
    );
  if (waiting.length > MAX_RECEIPTS)
    found.check(
      false,
      "",
      `${waiting.length - MAX_RECEIPTS} more receipts have no payment in the log. The chain was not asked about them.`,
    );
}

async function paymentOf(
  { store, token, lastBlock }: DerivedLog,
  receipt: Row<"receipt">,
  chain: AuditChain,
): Promise<string | null> {
  if (receipt.txHash === ZERO_HASH) return null;
  const known = new Map<number, boolean>();
  for (let n = 0; n < MAX_ALIKE; n++) {
    const row = store.get("payment", `${keyOfPayment(receipt)}/${n}`);
    if (row === null) break;
    known.set(row.log, row.authorized);
  }
  const transfers = await chain.transfers(receipt.txHash as Hex, token, lastBlock);
  const [lost] = transfers.filter(
    ({ log, from, to, value, authorized }) =>
      from === receipt.buyer &&
      to === receipt.payee &&
      value === receipt.amount &&
      (receipt.logIndex === null || receipt.logIndex === log) &&
      (authorized || receipt.buyerSigned) &&
      known.get(log) !== authorized,
  );
  return lost === undefined ? null : `the payment ${receipt.txHash}-${lost.log}`;
}

async function depositOf(
  { params, lastBlock }: DerivedLog,
  { escrowId }: Row<"receipt">,
  chain: AuditChain,
): Promise<string | null> {
  for (const escrow of Object.keys(params.escrows))
    if (await chain.hasEscrow(escrow as Address, escrowId as Hex, lastBlock))
      return `the deposit ${escrowId}`;
  return null;
}
