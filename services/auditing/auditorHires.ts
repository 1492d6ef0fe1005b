import { formatUsdc } from "tallystick-protocol/amount";
import { auditToken } from "tallystick-protocol/records/auditToken";
import { parseListing } from "tallystick-protocol/records/listing";
import type { Log } from "tallystick-runtime/stderrLog";
import { AUDIT_CAPABILITY } from "tallystick-sdk/audits/auditHire";
import type { Verify } from "tallystick-sdk/buyer/verifyResult";
import type { Buyer } from "tallystick-sdk/createBuyer";
import { BudgetError } from "tallystick-sdk/errors";
import { forEachAtOnce } from "tallystick-sdk/forEachAtOnce";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import type { AuditorAccount, OpenAssignment, OperatorRules } from "./operatorNode.ts";

/** Accepts every answer to a hire of an auditor, because the auditor's verdict comes through the ledger. */
export const anyAnswer: Verify = () => ({ all_passed: true, checks: {}, details: {} });

/** How long an auditor may take to accept an assignment, in milliseconds. */
const HIRE_MS = 30_000;

/** When an auditor without a verdict is asked, as shares of its time: at once, at half of it, and at 80 %. */
const REMINDERS = [0, 0.5, 0.8] as const;

/**
 * The stored state of an assignment: how often its auditor was asked, whether the auditor has accepted, and the fee
 * and address of the offer. Until the auditor accepts, each request repeats this offer. So all these requests are one
 * hire.
 */
type Asked = { times: number; isTaken: boolean; feeAtomic: string; endpoint: string };

export type HireRound = { taken: number; reminded: number; failed: number };

export type AuditorHiresParameters = {
  /** The pool's buyer. Its budget is the operator's, and its journal survives a crash. */
  buyer: Pick<Buyer, "hire">;
  store: KeyValueStore;
  /** Whether an auditor may ask for its fee when it is hired, by x402. Otherwise it is paid only after its verdict. */
  payBefore: boolean;
  /** How many auditors are asked at the same time. */
  atOnce: number;
  log: Log;
};

/**
 * Hires each drawn auditor by a normal hire (x402), at the endpoint of the auditor's offer. The hire tells the auditor
 * its assignment. An auditor that lets its time pass is reminded. An auditor that asks for payment gets its fee with
 * the hire, as an advance on the fees of its verdicts. It gets at most one advance for an assignment. An auditor that
 * cannot be reached finds the assignment at its node, and is paid after its verdict.
 */
export function createAuditorHires({ buyer, store, payBefore, atOnce, log }: AuditorHiresParameters) {
  const keyOf = (token: string): string => `asked/${token}`;

  async function ask(assignment: OpenAssignment, token: string, asked: Asked): Promise<void> {
    const { hire, round, attempt, auditor, capability, due } = assignment;
    const { times, isTaken, endpoint } = asked;
    await store.put(keyOf(token), { ...asked, times: times + 1 } satisfies Asked);
    // A reminder before the auditor accepts repeats the paid offer. A reminder after that is free.
    const price = isTaken ? "0" : formatUsdc(BigInt(asked.feeAtomic));
    await buyer.hire({
      capability: AUDIT_CAPABILITY,
      params: { token, hire, round, attempt, capability, due },
      listing: parseListing({
        agent_id: auditor,
        capability: AUDIT_CAPABILITY,
        price_usdc: price,
        max_latency_ms: HIRE_MS,
        endpoint,
      }),
      // These are the operator's own terms. An auditor offers itself by a record of its own type, and has no listing
      // for this.
      trustListing: true,
      maxPriceUsdc: price,
      maxLatencyMs: HIRE_MS,
      // The same assignment is the same hire, in any process. It is paid once.
      idempotencyKey: isTaken ? `${token}.${times}` : token,
      maxAttempts: 1,
      // The auditor was already drawn, so a suspension for its SLA does not matter here.
      allowSuspended: true,
      telemetry: false,
      verify: anyAnswer,
    });
    await store.put(keyOf(token), { ...asked, times: times + 1, isTaken: true } satisfies Asked);
  }

  return {
    /**
     * @param time of the node's last tick, in unix seconds
     * @param assignments only assignments that no reorganization can undo
     */
    round: async (
      assignments: readonly OpenAssignment[],
      of: { accounts: readonly AuditorAccount[]; fees: OperatorRules["fees"]; time: number },
      signal: AbortSignal,
    ): Promise<HireRound> => {
      const done: HireRound = { taken: 0, reminded: 0, failed: 0 };
      await forgetOthers(assignments);
      const credit = new Map(of.accounts.map((it) => [it.auditor, it.paid - it.accrued]));
      // A fee that was offered earlier counts as an advance even while the chain does not show its payment.
      for (const it of assignments) {
        const offered = BigInt((await store.get<Asked>(keyOf(auditToken(it))))?.feeAtomic ?? "0");
        if (offered > (credit.get(it.auditor) ?? 0n)) credit.set(it.auditor, offered);
      }
      await forEachAtOnce(assignments, { atOnce, signal }, async (it) => {
        const token = auditToken(it);
        const known = await store.get<Asked>(keyOf(token));
        if (!isDue(it, known?.times ?? 0, of.time)) return;
        // An auditor with an advance that it has not earned yet gets no second advance.
        const hasCredit = (credit.get(it.auditor) ?? 0n) > 0n;
        const fee = payBefore && !hasCredit ? feeFor(of.fees, it.amount) : 0n;
        const asked = known ?? {
          ...{ times: 0, isTaken: false, feeAtomic: String(fee), endpoint: it.endpoint },
        };
        if (asked.times > 0) done.reminded++;
        if (known === undefined) credit.set(it.auditor, (credit.get(it.auditor) ?? 0n) + fee);
        try {
          await ask(it, token, asked);
          done.taken++;
        } catch (error) {
          done.failed++;
          const why = error instanceof BudgetError ? "the budget does not allow it" : String(error);
          log("An auditor did not take its assignment.", { token, auditor: it.auditor, why });
        }
      });
      return done;
    },
  };

  /** Deletes the stored state of all assignments that are not open. */
  async function forgetOthers(assignments: readonly OpenAssignment[]): Promise<void> {
    const open = new Set(assignments.map((it) => keyOf(auditToken(it))));
    for (const key of await store.keys("asked")) if (!open.has(key)) await store.delete(key);
  }
}

/** Whether an auditor is asked now. `times`: how often it was asked before. */
function isDue({ time: from, due }: OpenAssignment, times: number, time: number): boolean {
  const share = REMINDERS[times];
  return share !== undefined && time >= from + (due - from) * share;
}

/** The fee of a verdict on a hire with the price `amount`. */
export function feeFor(fees: OperatorRules["fees"], amount: bigint): bigint {
  return fees.findLast(({ from }) => from <= amount)?.fee ?? 0n;
}

export type AuditorHires = ReturnType<typeof createAuditorHires>;
