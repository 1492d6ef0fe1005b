import { keyOfPayment, MAX_ALIKE } from "tallystick-derive/payments";
import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { type Hex, ZERO_HASH } from "tallystick-protocol/hex";
import { forEachAtOnce } from "tallystick-sdk/forEachAtOnce";
import type { AuditChain, ChainTransfer } from "./auditChain.ts";
import type { DerivedLog } from "./derivedLog.ts";
import type { Findings } from "./findings.ts";
import { mustBePaid } from "./mustBePaid.ts";

/**
 * The most receipts without a payment that are looked up on the chain, and the most time for it, in milliseconds. Anybody
 * can sign such receipts for nothing, so the rest counts as unchecked, and not as a fault of the node.
 */
const MAX_RECEIPTS = 50_000;
const MAX_MS = 600_000;
const AT_ONCE = 16;

/**
 * A look-up may fail because the chain's node does not have the transaction that a receipt names, or gets too many
 * questions. So a receipt whose look-up fails counts as unchecked. After this many failures nothing more is asked.
 */
const MAX_FAILURES = 16;

type Place = string | null;

export type PaymentLimits = {
  /** The most receipts that are looked up. */
  most?: number;
  /** After this time no further look-up begins, in milliseconds. */
  withinMs?: number;
  signal?: AbortSignal | undefined;
};

/**
 * Checks that the log does not leave out payments of hires that can be audited. For each receipt without a
 * payment in the log, it looks for the payment on the chain. It takes only receipts that have the hashes of params
 * and result, of sellers that agreed to audits. A hire that is left out would change the place of every later hire
 * in the list of the draw.
 *
 * @throws the signal's reason
 */
export async function checkPayments(
  log: DerivedLog,
  chain: AuditChain,
  found: Findings,
  { most = MAX_RECEIPTS, withinMs = MAX_MS, signal }: PaymentLimits = {},
): Promise<void> {
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
  const asked = waiting.slice(0, most);
  const places: (Place | undefined)[] = Array(asked.length).fill(undefined);
  const transfers = once((tx: string) => chain.transfers(tx as Hex, log.token, log.lastBlock));
  const isDue = mustBePaid(log);
  const enough = new AbortController();
  // Receipts that name the same transaction share one failure.
  const failures = new Set<TallystickError>();
  const ends = [enough.signal, AbortSignal.timeout(withinMs), ...(signal ? [signal] : [])];
  await forEachAtOnce(
    asked.entries(),
    { atOnce: AT_ONCE, signal: AbortSignal.any(ends) },
    async ([n, receipt]) => {
      try {
        places[n] =
          receipt.escrowId === null
            ? await paymentOf(log, receipt, { transfers, isDue })
            : await depositOf(log, receipt, chain);
      } catch (error) {
        if (!(error instanceof TallystickError) || error.code !== "chain_unavailable") throw error;
        if (failures.add(error).size >= MAX_FAILURES) enough.abort();
      }
    },
  );
  signal?.throwIfAborted();
  for (const [n, place] of places.entries())
    if (typeof place === "string")
      found.check(
        false,
        "",
        `The log leaves out, or changes, ${place}, which the receipt ${asked[n]?.id} of ${asked[n]?.agent} names.`,
      );
  const absent = places.filter((place) => place === null).length;
  if (waiting.length === 0)
    found.check(true, "No receipt of a hire that can be audited lacks its payment in the log.", "");
  else if (absent > 0 && !places.some((place) => typeof place === "string"))
    found.check(true, `${absent} receipts have no payment in the log, and none on the chain either.`, "");
  const unknown = waiting.length - places.filter((place) => place !== undefined).length;
  if (unknown === 0) return;
  const what = `${unknown} more receipts have no payment in the log. The chain was not asked about them, or did not answer.`;
  const [failure] = failures;
  found.unchecked.push(failure === undefined ? what : `${what} ${failure.message}`);
}

/** Asks once for each key, and gives the same answer again. */
function once<Answer>(ask: (key: string) => Promise<Answer>): (key: string) => Promise<Answer> {
  const asked = new Map<string, Promise<Answer>>();
  return (key) => {
    const answer = asked.get(key) ?? ask(key);
    asked.set(key, answer);
    return answer;
  };
}

async function paymentOf(
  { store }: DerivedLog,
  receipt: Row<"receipt">,
  of: { transfers: (tx: string) => Promise<ChainTransfer[]>; isDue: ReturnType<typeof mustBePaid> },
): Promise<Place> {
  if (receipt.txHash === ZERO_HASH) return null;
  const known = new Map<number, boolean>();
  for (let n = 0; n < MAX_ALIKE; n++) {
    const row = store.get("payment", `${keyOfPayment(receipt)}/${n}`);
    if (row === null) break;
    known.set(row.log, row.authorized);
  }
  const { buyer, payee, amount } = receipt;
  const alike = (await of.transfers(receipt.txHash)).filter(
    ({ from, to, value }) => from === buyer && to === payee && value === amount,
  );
  const lost = alike
    .slice(0, MAX_ALIKE)
    .find((it) => known.get(it.log) !== it.authorized && of.isDue(receipt, it));
  return lost === undefined ? null : `the payment ${receipt.txHash}-${lost.log}`;
}

async function depositOf(
  { history, lastBlock }: DerivedLog,
  { escrowId }: Row<"receipt">,
  chain: AuditChain,
): Promise<Place> {
  // A node follows the escrows of its log's first line. A later record makes it follow no other.
  for (const escrow of Object.keys(history[0]?.params.escrows ?? {}))
    if (await chain.hasEscrow(escrow as Address, escrowId as Hex, lastBlock))
      return `the deposit ${escrowId}`;
  return null;
}
