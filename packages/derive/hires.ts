import { agentRow, updateAgent } from "./agentRow.ts";
import { ensureAgent, mayBeAgent } from "./agents.ts";
import type { ApplyContext } from "./applyContext.ts";
import { addPurchase, removePurchase } from "./buyerGroups.ts";
import { sharedClusterSize } from "./clusters.ts";
import { leaveUnanswered, leaveUnreceipted } from "./families/coverage.ts";
import { changePatron, payeeAccount } from "./families/patrons.ts";
import { hireBacksNoMore, hireMayBack } from "./identities/backing.ts";
import { append, itemsOf } from "./lists.ts";
import { addNumber, removeNumber } from "./orderedSet.ts";
import type { Outcome } from "./outcome.ts";
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
import { schedule } from "./schedule.ts";
import { medianOf, percentilesOf } from "./statistics.ts";
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
    /** How much of it went to published recipients of fees. */
    feePaid: bigint;
  };

/**
 * Counts a hire, once and for ever: registers both sides, then fixes its weight, 1 or 1/cluster_size when both are in one
 * cluster at this position (SHP §4.5.3, §9.2). Returns false, and counts nothing, when a side can never be an agent.
 */
export async function countHire(context: ApplyContext, { payee, ...facts }: HireFacts): Promise<boolean> {
  if (!(await mayHire(context, facts))) return false;
  await ensureAgent(context, facts.seller);
  await ensureAgent(context, facts.buyer);
  const clusterSize = await sharedClusterSize(context, facts.buyer, facts.seller);
  const { windowSeconds, volumeWindowSeconds } = context.params;
  const hire: Row<"hire"> = {
    isAuditable: false,
    ...facts,
    clusterSize,
    leavesDay:
      facts.time > context.state.time - volumeWindowSeconds ? facts.time + volumeWindowSeconds : null,
    payeeAccount: await payeeAccount(context, facts, payee),
    inWindow: facts.time > context.state.time - windowSeconds,
    isCanary: false,
    countedBlock: context.at.block,
    countedLog: context.at.log ?? 0,
    countedSeq: context.at.seq,
  };
  await context.store.insert("hire", hire);
  if (clusterSize > 1) await append(context.store, dampenedBy(hire.seller), hire.id);
  await addDayVolume(context, hire, weightOf(hire));
  if (hire.inWindow) {
    await changeWindow(context, hire, 1);
    await schedule(context, hire.time + windowSeconds, "window", hire.id);
  }
  await noteSale(context, hire);
  await (hire.escrowId === null ? leaveUnreceipted : leaveUnanswered)(context, hire.id);
  await hireMayBack(context, hire);
  return true;
}

/** Whether both sides of a hire are agents or can become agents. Otherwise it is no hire, and registers neither side. */
export async function mayHire(
  context: ApplyContext,
  { seller, buyer }: Pick<HireFacts, "seller" | "buyer">,
): Promise<boolean> {
  return (await mayBeAgent(context, seller)) && (await mayBeAgent(context, buyer));
}

/** A hire is 24 hours old: its price leaves its seller's volume. */
export function leaveDay(context: ApplyContext, seller: string, volume: string): Promise<void> {
  return changeDayVolume(context, seller, parseRational(volume), subtract);
}

/** A hire leaves the window: it leaves every rate and count. */
export async function leaveWindow(context: ApplyContext, id: string): Promise<void> {
  const hire = await hireRow(context, id);
  if (!hire.inWindow) return;
  await context.store.update("hire", id, { inWindow: false });
  await changeWindow(context, hire, -1);
}

/** An operator of audits had arranged a hire: it leaves every figure of both sides, permanently. */
export async function withdrawHire(context: ApplyContext, id: string): Promise<void> {
  const hire = await hireRow(context, id);
  await leaveWindow(context, id);
  await context.store.update("hire", id, { isCanary: true });
  if (hire.leavesDay !== null && hire.leavesDay > context.state.time)
    await addDayVolume(context, hire, subtract(ZERO, weightOf(hire)));
  await hireBacksNoMore(context, id);
}

/** A hire may be audited from here on. A hire that is not counted yet is counted with that. */
export async function markAuditable(context: ApplyContext, id: string): Promise<void> {
  const hire = await context.store.get("hire", id);
  if (hire === null || hire.isAuditable) return;
  await context.store.update("hire", id, { isAuditable: true });
  if (!hire.inWindow) return;
  const { windowAuditable } = await agentRow(context, hire.seller);
  await updateAgent(context, hire.seller, { windowAuditable: windowAuditable + 1 });
}

/** Adds to a counted hire: what the work was, or what its buyer found. Its weight, price and time stay. */
export async function amendHire(
  context: ApplyContext,
  id: string,
  change: Partial<
    Pick<
      Row<"hire">,
      "receipt" | "hireId" | "capability" | "latencyMs" | "outcome" | "evidence" | "dispute" | "disputeSource"
    >
  >,
): Promise<void> {
  const hire = await hireRow(context, id);
  if (hire.inWindow) await changeWindow(context, hire, -1);
  await context.store.update("hire", id, change);
  if (hire.inWindow) await changeWindow(context, { ...hire, ...change }, 1);
  await noteAmended(context, hire, { ...hire, ...change });
}

/**
 * Clusters split, since a hub was published late. Hires in the window whose sides no longer share a cluster weigh 1 from
 * here on.
 *
 * @param members all former members of those clusters
 */
export async function undampen(context: ApplyContext, members: ReadonlySet<string>): Promise<void> {
  for (const seller of members) {
    for await (const id of itemsOf(context.store, dampenedBy(seller))) {
      const hire = await hireRow(context, id);
      if (!hire.inWindow || hire.clusterSize === 1) continue;
      if ((await sharedClusterSize(context, hire.buyer, hire.seller)) > 1) continue;
      await changeWindow(context, hire, -1);
      await context.store.update("hire", id, { clusterSize: 1 });
      await changeWindow(context, { ...hire, clusterSize: 1 }, 1);
      if (hire.leavesDay !== null && hire.leavesDay > context.state.time)
        await addDayVolume(context, hire, subtract(ONE, weightOf(hire)));
      await noteAmended(context, hire, { ...hire, clusterSize: 1 });
    }
  }
}

/** The list of a seller's hires that weigh less than 1, or did when they were counted. */
function dampenedBy(seller: string): string {
  return `dampened/${seller}`;
}

/** The part of a hire's price that counts in the 24-hour volume, until it leaves. */
async function addDayVolume(
  context: ApplyContext,
  { seller, price, leavesDay }: Pick<Row<"hire">, "seller" | "price" | "leavesDay">,
  weight: Rational,
): Promise<void> {
  if (leavesDay === null) return;
  const volume = multiply(weight, rational(price));
  await changeDayVolume(context, seller, volume, add);
  await schedule(context, leavesDay, "day", `${seller} ${formatRational(volume)}`);
}

async function changeDayVolume(
  context: ApplyContext,
  seller: string,
  volume: Rational,
  change: (a: Rational, b: Rational) => Rational,
): Promise<void> {
  const { dayVolume } = await agentRow(context, seller);
  await updateAgent(context, seller, {
    dayVolume: formatRational(change(parseRational(dayVolume), volume)),
  });
}

/** Adds a hire to the window's sums (`by` 1), or takes it out again (−1). */
async function changeWindow(context: ApplyContext, hire: Row<"hire">, by: 1 | -1): Promise<void> {
  const weight = multiply(weightOf(hire), rational(BigInt(by)));
  const grow = (sum: string, counts: boolean) =>
    counts ? formatRational(add(parseRational(sum), weight)) : sum;
  const inEscrow = hire.escrowId !== null;

  const seller = await agentRow(context, hire.seller);
  await updateAgent(context, hire.seller, {
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
  if (hire.capability !== null) await changePrices(context, hire, hire.capability, by);
  if (hire.latencyMs !== null) await changeLatencies(context, hire.seller, hire.latencyMs, by);
  await (by === 1 ? addPurchase : removePurchase)(context, hire.buyer, hire.seller);
  await changePatron(context, hire, by);

  const buyer = await agentRow(context, hire.buyer);
  await updateAgent(context, hire.buyer, {
    bought: buyer.bought + by,
    escrowBought: buyer.escrowBought + (inEscrow ? by : 0),
    silentTimeouts: buyer.silentTimeouts + (hire.silentTimeout ? by : 0),
    refundsAfterDelivery: buyer.refundsAfterDelivery + (hire.refundAfterDelivery ? by : 0),
  });
}

/** The distinct capabilities in the window, each with the median of what was paid for it (SHP §9.2). */
async function changePrices(
  context: ApplyContext,
  { seller, amount: price, outcome }: Row<"hire">,
  capability: string,
  by: 1 | -1,
): Promise<void> {
  const id = `${seller}/${capability}`;
  const row = await context.store.get("capability", id);
  const windowHires = (row?.windowHires ?? 0) + by;
  const windowSuccesses = (row?.windowSuccesses ?? 0) + (outcome === "success" ? by : 0);
  await (by === 1 ? addNumber : removeNumber)(context.store, `price/${id}`, price);
  const median = windowHires === 0 ? null : await medianOf(context.store, `price/${id}`, windowHires);
  const medianPrice = median === null ? null : formatRational(median);
  if (row === null) {
    const { lastCapability: before } = await agentRow(context, seller);
    await context.store.insert("capability", {
      id,
      agent: seller,
      capability,
      windowHires,
      windowSuccesses,
      medianPrice,
      before,
    });
    await updateAgent(context, seller, { lastCapability: capability });
  } else {
    await context.store.update("capability", id, { windowHires, windowSuccesses, medianPrice });
  }
  const appears = by === 1 && windowHires === 1;
  const vanishes = by === -1 && windowHires === 0;
  if (!appears && !vanishes) return;
  const { capabilities } = await agentRow(context, seller);
  await updateAgent(context, seller, { capabilities: capabilities + by });
}

async function changeLatencies(
  context: ApplyContext,
  seller: string,
  latencyMs: number,
  by: 1 | -1,
): Promise<void> {
  const set = `latency/${seller}`;
  await (by === 1 ? addNumber : removeNumber)(context.store, set, BigInt(latencyMs));
  const agent = await agentRow(context, seller);
  const latencies = agent.latencies + by;
  const [p50 = null, p95 = null, p99 = null] =
    latencies === 0 ? [] : await percentilesOf(context.store, set, latencies, [50, 95, 99]);
  const number = (value: bigint | null) => (value === null ? null : Number(value));
  await updateAgent(context, seller, {
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

async function hireRow(context: ApplyContext, id: string): Promise<Row<"hire">> {
  const hire = await context.store.get("hire", id);
  if (hire === null) throw new Error(`There is no hire ${id}.`);
  return hire;
}
