import type { Log } from "tallystick-runtime/stderrLog";
import type { AuditorHires } from "./auditorHires.ts";
import type { CanaryDesk, SettledEntry } from "./canaryDesk.ts";
import { createFinalAccounts, createFinalSet } from "./finalAccounts.ts";
import type { ChallengedHire, OperatorNode, RolledBackEscrow } from "./operatorNode.ts";
import type { PaymentDesk } from "./paymentDesk.ts";
import type { RefundDesk } from "./refundDesk.ts";

/** What an operator's process has done, and what waits for it. Amounts are atomic units, times unix seconds. */
export type OperatorState = {
  /** When the last round without a failure ended, by this process's clock; 0 before the first. */
  roundAt: number;
  /** The time of the node's last tick. */
  nodeTime: number;
  /** What this process has done since its start. */
  taken: number;
  reminded: number;
  notTaken: number;
  refunded: number;
  paidAtomic: bigint;
  failures: number;
  /** These fields are as of the last round. If a part of the round failed, its fields are of an earlier round. */
  openAssignments: number;
  paymentsWaiting: number;
  paymentsRefused: number;
  owedAtomic: bigint;
  budgetAtomic: bigint;
  canariesOpen: number;
  challenged: ChallengedHire[];
};

export type RoundParameters = {
  node: OperatorNode;
  payments: PaymentDesk;
  hires: AuditorHires;
  /** Absent without a key of an arbiter. */
  refunds?: RefundDesk | undefined;
  canaries: CanaryDesk;
  /** The pool's address. The node's params must name the same pool. */
  pool: string;
  /** The time of the last final block, in unix seconds. */
  finalTime: () => Promise<number>;
  budgetLeft: () => Promise<bigint>;
  /** No payment is decided before this, in unix seconds of the chain's clock. */
  payAfter: number;
  /** Milliseconds since 1970. */
  now: () => number;
  log: Log;
};

/** The state before the first round. */
export function freshState(): OperatorState {
  return {
    ...{ roundAt: 0, nodeTime: 0, taken: 0, reminded: 0, notTaken: 0, refunded: 0, failures: 0 },
    ...{ paidAtomic: 0n, owedAtomic: 0n, budgetAtomic: 0n },
    ...{ openAssignments: 0, paymentsWaiting: 0, paymentsRefused: 0, canariesOpen: 0, challenged: [] },
  };
}

/**
 * One round of everything, reported in `state`. A part that fails is logged and left to the next round. In three cases
 * the round only follows the payments under way and reads the budget: the node is blocked, the node names another pool,
 * or the node or the chain does not answer at the beginning. Any later failure stops only its own part.
 */
export function createRound(
  parameters: RoundParameters,
  state: OperatorState,
  signal: AbortSignal,
): () => Promise<void> {
  const { node, payments, hires, refunds, canaries, pool, payAfter, now, log } = parameters;
  const finalAccounts = createFinalAccounts();
  const finalEscrows = createFinalSet<RolledBackEscrow>();
  const finalSettled = createFinalSet<{ id: string }>();
  /** The permanently settled escrows. The node is asked about the others in every round. */
  const over = new Set<string>();

  /** Runs a part of the round. If it fails, the parts after it still run. */
  async function part(name: string, work: () => Promise<void>): Promise<void> {
    if (signal.aborted) return;
    try {
      await work();
    } catch (error) {
      if (signal.aborted) return;
      state.failures++;
      log("A part of the round failed. The next round repeats it.", { part: name, error });
    }
  }

  async function actOn(time: number): Promise<void> {
    const finalTime = await parameters.finalTime();
    /**
     * The times for answers that were just read. The node's tick is asked for after the answers, because only a later
     * tick shows how new they can be.
     */
    const timesNow = async () => ({ time: (await node.status(signal)).time, finalTime });
    const rules = await node.rules(signal);
    if (rules.pool !== pool)
      throw new Error(`the node's parameters name the pool ${rules.pool}, not ${pool}`);
    const accounts = await node.accounts(signal);
    const asOf = await timesNow();
    state.owedAtomic = accounts.reduce((sum, { accrued, paid }) => sum + max(0n, accrued - paid), 0n);
    await part("payments", async () => {
      const final = finalAccounts(accounts, asOf);
      if (finalTime < payAfter) return;
      const { waiting, refused } = await payments.pay(final, signal);
      state.paymentsWaiting += waiting;
      state.paymentsRefused = refused;
    });
    await part("assignments", async () => {
      const open = await node.openAssignments(signal);
      state.openAssignments = open.length;
      const final = open.filter((it) => it.time <= finalTime);
      const done = await hires.round(final, { accounts, fees: rules.fees, time }, signal);
      state.taken += done.taken;
      state.reminded += done.reminded;
      state.notTaken += done.failed;
    });
    await part("refunds", async () => {
      const { held, settled, unread, reason } = await node.rolledBackEscrows(over, signal);
      const times = await timesNow();
      for (const { id } of finalSettled(settled, times, unread)) over.add(id);
      const final = finalEscrows(held, times, unread);
      state.refunded += (await refunds?.round(final, rules.auditArbiters, signal)) ?? 0;
      if (reason !== undefined) throw reason;
    });
    await part("decisions", async () => {
      const before = new Set(state.challenged.map(({ hire }) => hire));
      state.challenged = await node.challenged(signal);
      for (const { hire, seller, capability } of state.challenged)
        if (!before.has(hire)) log("A hire waits for a decision.", { hire, seller, capability });
    });
    await part("canaries", async () => {
      const isAnchored = async (entry: SettledEntry): Promise<boolean> =>
        ((await node.anchoredAt(entry, signal)) ?? Number.POSITIVE_INFINITY) <= finalTime;
      await canaries.round({ time, isAnchored }, signal, (open) => {
        state.canariesOpen = open;
      });
    });
  }

  return async () => {
    const failuresBefore = state.failures;
    // Signed payments are followed even without the node, because only the chain is needed.
    await part("payments under way", async () => {
      const { settled, waiting } = await payments.follow(signal);
      state.paidAtomic += settled;
      state.paymentsWaiting = waiting;
    });
    await part("the node", async () => {
      const { time, isBlocked } = await node.status(signal);
      state.nodeTime = time;
      if (isBlocked)
        throw new Error(
          "the node waits for a part of a ledger or for transfers, or its transfers do not add up",
        );
      await actOn(time);
    });
    await part("the budget", async () => {
      state.budgetAtomic = await parameters.budgetLeft();
    });
    if (state.failures === failuresBefore) state.roundAt = Math.floor(now() / 1_000);
  };
}

function max(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
