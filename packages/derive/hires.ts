import { schedule } from "./agenda.ts";
import { agentRow, updateAgent } from "./agentRow.ts";
import { ensureAgent, mayBeAgent } from "./agents.ts";
import { sharedClusterSize } from "./clusters.ts";
import { leaveUnanswered, leaveUnreceipted } from "./families/coverage.ts";
import { changePatron, payeeAccount } from "./families/patrons.ts";
import { append, itemsOf } from "./lists.ts";
import { addNumber, removeNumber } from "./orderedSet.ts";
import type { Outcome } from "./outcome.ts";
import { addCustom, removeCustom } from "./parties.ts";
import {
  add,
  formatRational,
  multiply,
  ONE,
  parseRational,
  type Rational,
  rational,
  subtract,
  ZERO,
} from "./rational.ts";
import { medianOf, percentilesOf } from "./statistics.ts";
import type { Step } from "./step.ts";
import { noteAmended, noteSale } from "./steward/outcomeDays.ts";
import type { Row } from "./tables.ts";

export type HireFacts = Outcome &
  Pick<
    Row<"hire">,
    | "id"
    | "seller"
    | "buyer"
    | "hireId"
    | "capability"
    | "paymentMode"
    | "amount"
    | "latencyMs"
    | "time"
    | "tx"
    | "escrowId"
    | "receipt"
  > &
  Partial<Pick<Row<"hire">, "isAuditable">> & {
    /** Who got the money. */
    payee: string;
    /** What of it the published recipients of fees got. */
    feePaid: bigint;
  };

/**
 * Counts a hire, once and for good: registers both sides, then fixes its weight, 1 or 1/cluster_size when both are in one
 * cluster at this position (SHP §4.5.3, §9.2). False, and nothing is counted, when a side can never be an agent.
 */
export async function countHire(step: Step, { payee, ...facts }: HireFacts): Promise<boolean> {
  if (!(await mayHire(step, facts))) return false;
  await ensureAgent(step, facts.seller);
  await ensureAgent(step, facts.buyer);
  const clusterSize = await sharedClusterSize(step, facts.buyer, facts.seller);
  const { windowSeconds, volumeWindowSeconds } = step.params;
  const hire: Row<"hire"> = {
    isAuditable: false,
    ...facts,
    clusterSize,
    leavesDay: facts.time > step.state.time - volumeWindowSeconds ? facts.time + volumeWindowSeconds : null,
    payeeAccount: await payeeAccount(step, facts, payee),
    inWindow: facts.time > step.state.time - windowSeconds,
    isCanary: false,
    countedBlock: step.at.block,
    countedLog: step.at.log ?? 0,
    countedSeq: step.at.seq,
  };
  await step.store.insert("hire", hire);
  if (clusterSize > 1) await append(step.store, dampenedBy(hire.seller), hire.id);
  await addDayVolume(step, hire, weightOf(hire));
  if (hire.inWindow) {
    await changeWindow(step, hire, 1);
    await schedule(step, hire.time + windowSeconds, "window", hire.id);
  }
  await noteSale(step, hire);
  await (hire.escrowId === null ? leaveUnreceipted : leaveUnanswered)(step, hire.id);
  return true;
}

/** Whether both sides of a hire are agents or can become some: else it is none, and neither side becomes one by it. */
export async function mayHire(
  step: Step,
  { seller, buyer }: Pick<HireFacts, "seller" | "buyer">,
): Promise<boolean> {
  return (await mayBeAgent(step, seller)) && (await mayBeAgent(step, buyer));
}

/** A hire is 24 hours old: what it was worth leaves its seller's volume. */
export function leaveDay(step: Step, seller: string, volume: string): Promise<void> {
  return changeDayVolume(step, seller, parseRational(volume), subtract);
}

/** A hire is as old as the window: it leaves every rate and count. */
export async function leaveWindow(step: Step, id: string): Promise<void> {
  const hire = await hireRow(step, id);
  if (!hire.inWindow) return;
  await step.store.update("hire", id, { inWindow: false });
  await changeWindow(step, hire, -1);
}

/** An operator of audits had arranged a hire: it leaves every figure of both sides, for good. */
export async function withdrawHire(step: Step, id: string): Promise<void> {
  const hire = await hireRow(step, id);
  await leaveWindow(step, id);
  await step.store.update("hire", id, { isCanary: true });
  if (hire.leavesDay !== null && hire.leavesDay > step.state.time)
    await addDayVolume(step, hire, subtract(ZERO, weightOf(hire)));
}

/** A hire may be audited from here on; one that is not counted yet is counted so. */
export async function markAuditable(step: Step, id: string): Promise<void> {
  const hire = await step.store.get("hire", id);
  if (hire === null || hire.isAuditable) return;
  await step.store.update("hire", id, { isAuditable: true });
  if (!hire.inWindow) return;
  const { windowAuditable } = await agentRow(step, hire.seller);
  await updateAgent(step, hire.seller, { windowAuditable: windowAuditable + 1 });
}

/**
 * Says more of a hire that was counted: what the work was, or what its buyer found. Its weight, price and time stay.
 */
export async function amendHire(
  step: Step,
  id: string,
  change: Partial<
    Pick<
      Row<"hire">,
      "receipt" | "hireId" | "capability" | "latencyMs" | "outcome" | "evidence" | "dispute" | "disputeSource"
    >
  >,
): Promise<void> {
  const hire = await hireRow(step, id);
  if (hire.inWindow) await changeWindow(step, hire, -1);
  await step.store.update("hire", id, change);
  if (hire.inWindow) await changeWindow(step, { ...hire, ...change }, 1);
  await noteAmended(step, hire, { ...hire, ...change });
}

/**
 * Clusters came apart, since a hub was published late: hires in the window whose sides are in none together any more weigh 1 from here on.
 *
 * @param members all that were in those clusters
 */
export async function undampen(step: Step, members: ReadonlySet<string>): Promise<void> {
  for (const seller of members) {
    for await (const id of itemsOf(step.store, dampenedBy(seller))) {
      const hire = await hireRow(step, id);
      if (!hire.inWindow || hire.clusterSize === 1) continue;
      if ((await sharedClusterSize(step, hire.buyer, hire.seller)) > 1) continue;
      await changeWindow(step, hire, -1);
      await step.store.update("hire", id, { clusterSize: 1 });
      await changeWindow(step, { ...hire, clusterSize: 1 }, 1);
      if (hire.leavesDay !== null && hire.leavesDay > step.state.time)
        await addDayVolume(step, hire, subtract(ONE, weightOf(hire)));
      await noteAmended(step, hire, { ...hire, clusterSize: 1 });
    }
  }
}

/** The list of a seller's hires that weigh less than 1, or did when they were counted. */
function dampenedBy(seller: string): string {
  return `dampened/${seller}`;
}

/** So much of a hire's price counts in the 24-hour volume, until it leaves. */
async function addDayVolume(
  step: Step,
  { seller, price, leavesDay }: Pick<Row<"hire">, "seller" | "price" | "leavesDay">,
  weight: Rational,
): Promise<void> {
  if (leavesDay === null) return;
  const volume = multiply(weight, rational(price));
  await changeDayVolume(step, seller, volume, add);
  await schedule(step, leavesDay, "day", `${seller} ${formatRational(volume)}`);
}

async function changeDayVolume(
  step: Step,
  seller: string,
  volume: Rational,
  change: (a: Rational, b: Rational) => Rational,
): Promise<void> {
  const { dayVolume } = await agentRow(step, seller);
  await updateAgent(step, seller, {
    dayVolume: formatRational(change(parseRational(dayVolume), volume)),
  });
}

/** Adds a hire to the window's sums (`by` 1), or takes it out again (−1). */
async function changeWindow(step: Step, hire: Row<"hire">, by: 1 | -1): Promise<void> {
  const weight = multiply(weightOf(hire), rational(BigInt(by)));
  const grow = (sum: string, counts: boolean) =>
    counts ? formatRational(add(parseRational(sum), weight)) : sum;
  const inEscrow = hire.escrowId !== null;

  const seller = await agentRow(step, hire.seller);
  await updateAgent(step, hire.seller, {
    windowHires: seller.windowHires + by,
    windowWeight: grow(seller.windowWeight, true),
    ratedWeight: grow(seller.ratedWeight, hire.outcome !== "neutral"),
    successWeight: grow(seller.successWeight, hire.outcome === "success"),
    escrowWeight: grow(seller.escrowWeight, inEscrow),
    refundedWeight: grow(seller.refundedWeight, inEscrow && hire.refunded),
    auditDisputedWeight: grow(seller.auditDisputedWeight, hire.disputeSource === "audit"),
    windowAuditable: seller.windowAuditable + (hire.isAuditable ? by : 0),
    windowDirect: seller.windowDirect + (inEscrow ? 0 : by),
    refundsContested: seller.refundsContested + (hire.refundAfterDelivery ? by : 0),
    feesPaid: seller.feesPaid + BigInt(by) * hire.feePaid,
  });
  if (hire.capability !== null) await changePrices(step, hire, hire.capability, by);
  if (hire.latencyMs !== null) await changeLatencies(step, hire.seller, hire.latencyMs, by);
  await (by === 1 ? addCustom : removeCustom)(step, hire.buyer, hire.seller);
  await changePatron(step, hire, by);

  const buyer = await agentRow(step, hire.buyer);
  await updateAgent(step, hire.buyer, {
    bought: buyer.bought + by,
    escrowBought: buyer.escrowBought + (inEscrow ? by : 0),
    silentTimeouts: buyer.silentTimeouts + (hire.silentTimeout ? by : 0),
    refundsAfterDelivery: buyer.refundsAfterDelivery + (hire.refundAfterDelivery ? by : 0),
  });
}

/** The distinct capabilities in the window, each with the median of what was paid for it (SHP §9.2). */
async function changePrices(
  step: Step,
  { seller, amount: price, outcome }: Row<"hire">,
  capability: string,
  by: 1 | -1,
): Promise<void> {
  const id = `${seller}/${capability}`;
  const row = await step.store.get("capability", id);
  const windowHires = (row?.windowHires ?? 0) + by;
  const windowSuccesses = (row?.windowSuccesses ?? 0) + (outcome === "success" ? by : 0);
  await (by === 1 ? addNumber : removeNumber)(step.store, `price/${id}`, price);
  const median = windowHires === 0 ? null : await medianOf(step.store, `price/${id}`, windowHires);
  const medianPrice = median === null ? null : formatRational(median);
  if (row === null) {
    const { lastCapability: before } = await agentRow(step, seller);
    await step.store.insert("capability", {
      id,
      agent: seller,
      capability,
      windowHires,
      windowSuccesses,
      medianPrice,
      before,
    });
    await updateAgent(step, seller, { lastCapability: capability });
  } else {
    await step.store.update("capability", id, { windowHires, windowSuccesses, medianPrice });
  }
  const appears = by === 1 && windowHires === 1;
  const vanishes = by === -1 && windowHires === 0;
  if (!appears && !vanishes) return;
  const { capabilities } = await agentRow(step, seller);
  await updateAgent(step, seller, { capabilities: capabilities + by });
}

async function changeLatencies(step: Step, seller: string, latencyMs: number, by: 1 | -1): Promise<void> {
  const set = `latency/${seller}`;
  await (by === 1 ? addNumber : removeNumber)(step.store, set, BigInt(latencyMs));
  const agent = await agentRow(step, seller);
  const latencies = agent.latencies + by;
  const [p50 = null, p95 = null, p99 = null] =
    latencies === 0 ? [] : await percentilesOf(step.store, set, latencies, [50, 95, 99]);
  const number = (value: bigint | null) => (value === null ? null : Number(value));
  await updateAgent(step, seller, {
    latencies,
    latencySum: agent.latencySum + BigInt(by) * BigInt(latencyMs),
    latencyP50: number(p50),
    latencyP95: number(p95),
    latencyP99: number(p99),
  });
}

function weightOf(hire: Row<"hire">): Rational {
  return rational(1n, BigInt(hire.clusterSize));
}

async function hireRow(step: Step, id: string): Promise<Row<"hire">> {
  const hire = await step.store.get("hire", id);
  if (hire === null) throw new Error(`There is no hire ${id}.`);
  return hire;
}
