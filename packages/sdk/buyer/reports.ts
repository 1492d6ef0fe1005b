import type { Verification } from "tallystick-capabilities/verification";
import { chainIdOfNetwork } from "tallystick-protocol/erc8004/chainIdOfNetwork";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { Listing } from "tallystick-protocol/records/listing";
import type { PaymentNetwork } from "../chain/paymentNetwork.ts";
import { type Fetch, ServiceError } from "../requestService.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { receiptInLedger, type SignedReceipt } from "./receiptInLedger.ts";
import { countersign, findReceiptHash, type Reporter, reportHire } from "./report.ts";
import { createSellerClient } from "./sellerClient.ts";

/** The report to the ledger about one hire. */
export type Report = {
  jobId: string;
  endpoint: Listing["endpoint"];
  /** The idempotency key of the hire. */
  key?: string;
  /** The receipt as the seller signed it. The ledger says which entry it is. */
  receipt?: SignedReceipt;
  /** The entry of the receipt in a report of an earlier version, which has no `receipt`; null while there was none. */
  receiptHash?: string | null;
  /** The receipt that the buyer has to sign: of a free hire, or of a payment to another payee. */
  freeReceipt?: RecordBody;
  /** The buyer's report; absent if only the entry of the receipt is wanted. */
  telemetry?: { latencyMs?: number | undefined; verification: Pick<Verification, "all_passed" | "checks"> };
  /** Milliseconds since 1970. */
  since: number;
};

/** Reports on their way to the ledger. They are stored, so that no hire waits for them and no crash loses them. */
export type Reports = {
  add: (report: Report) => Promise<void>;
  /** Sends what is waiting, once. What fails waits for the next time. */
  flush: () => Promise<void>;
  waiting: () => Promise<number>;
};

/** How long a report is tried, in milliseconds: a week. */
const KEEP_MS = 7 * 86_400_000;

/** How long only the seller is asked for the entry of a paid receipt that the buyer signs, in milliseconds. */
const SIGN_MS = 60_000;

/** The most reports that one round sends. */
const MAX_A_ROUND = 100;

/** How many reports are sent at the same time. */
const AT_ONCE = 8;

/**
 * A report waits `FIRST_WAIT_MS * 2` after its first failure, and then twice as long each time, up to
 * `MAX_WAIT_MS`.
 */
const FIRST_WAIT_MS = 1_000;
const MAX_WAIT_MS = 600_000;

/** The outbox of a buyer's reports about its hires, under `report/` in its journal. */
export function createReports(
  parameters: Reporter & {
    /** Reaches sellers. */
    sellerFetch: Fetch;
    store: KeyValueStore;
    now: () => number;
    /** The chain of the ledger. Reports of hires on another chain wait for a process on that chain. */
    network?: Pick<PaymentNetwork, "chainId">;
    /**
     * Called once the receipt of a hire is in the ledger, with the hire's idempotency key, its job and the receipt's
     * entry hash.
     */
    onReceipt?: ((key: string, jobId: string, receiptHash: string) => Promise<void>) | undefined;
  },
): Reports {
  const { account, baseUrl, fetch, ledger, sellerFetch, store, now, network, onReceipt } = parameters;
  const own = account.address.toLowerCase();
  /** When a failed report is tried again, and how often it was tried. */
  const later = new Map<string, { at: number; times: number }>();
  let round: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;

  async function send(key: string): Promise<void> {
    const report = await store.get<Report>(key);
    if (!report) return;
    if (now() - report.since > KEEP_MS) return await store.delete(key);
    const { telemetry, receipt } = report;
    const body: RecordBody = receipt?.body ?? report.freeReceipt ?? {};
    // The report belongs to another wallet that shares the journal. That wallet sends it.
    if (body.buyer !== undefined && body.buyer !== own) return;
    // The ledger of this chain would refuse the report, and this process would then delete it.
    if (network && typeof body.network === "string" && chainIdOfNetwork(body.network) !== network.chainId)
      return;
    const receiptHash = await entryOf(report);
    if (receiptHash === null) return;
    if (report.key !== undefined) await onReceipt?.(report.key, report.jobId, receiptHash);
    if (telemetry) await reportHire({ account, baseUrl, fetch, ledger }, { receiptHash, ...telemetry });
    await store.delete(key);
  }

  /** The entry hash of the report's receipt; null while it is not in the ledger. */
  async function entryOf({ jobId, endpoint, receipt, receiptHash, freeReceipt, since }: Report) {
    const ask = createSellerClient({ endpoint }, sellerFetch);
    const find = async () =>
      receipt
        ? await receiptInLedger({ baseUrl, fetch }, receipt)
        : (receiptHash ?? (await findReceiptHash(ask, jobId)));
    if (freeReceipt === undefined) return await find();
    const signing = countersign({ account }, ask, jobId, freeReceipt);
    const isFree = receipt === undefined || freeReceipt.amount_usdc_atomic === "0";
    const mayWait = isFree || now() - since < SIGN_MS;
    const named = mayWait ? await signing : await signing.catch(() => null);
    // Without the buyer's signature the receipt of a payment may still count, and a bad result must be reported.
    if (named === null && mayWait) return null;
    // The seller may name the entry of another hire. If the ledger has the receipt with the buyer's signature, it gives
    // the entry to whoever sends the receipt without it.
    return receipt === undefined ? named : await find();
  }

  async function trySend(key: string): Promise<void> {
    try {
      await send(key);
      if ((await store.get(key)) === undefined) later.delete(key);
      else postpone(key);
    } catch (error) {
      postpone(key);
      // If this threw, the round would end before its other reports, and the next round would send them twice.
      if (error instanceof ServiceError && error.isRefusal)
        await store.delete(key).then(
          () => later.delete(key),
          () => {},
        );
    }
  }

  function postpone(key: string): void {
    const times = (later.get(key)?.times ?? 0) + 1;
    later.set(key, { times, at: now() + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** times) });
  }

  async function sendAll(): Promise<void> {
    const due = (await store.keys("report")).filter((key) => (later.get(key)?.at ?? 0) <= now());
    const waiting = due.slice(0, MAX_A_ROUND);
    // A few at a time, so that a report that hangs does not delay the others.
    while (waiting.length > 0) await Promise.all(waiting.splice(0, AT_ONCE).map(trySend));
  }

  function turn(): Promise<void> {
    next = undefined;
    round = sendAll();
    return round;
  }

  return {
    add: (report) => store.put(`report/${report.jobId}`, report),
    flush: () => {
      // What is added during a round is sent by the next round, also if the disk fails in this one.
      next ??= round.then(turn, turn);
      return next;
    },
    waiting: async () => (await store.keys("report")).length,
  };
}
