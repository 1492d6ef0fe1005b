import { schedule } from "./agenda.ts";
import { agentRow, updateAgent } from "./agentRow.ts";
import { ensureAgent } from "./agents.ts";
import { clusterOf } from "./clusters.ts";
import type { Outcome } from "./outcome.ts";
import { addCustom, removeCustom } from "./parties.ts";
import {
  add,
  formatRational,
  multiply,
  parseRational,
  type Rational,
  rational,
  subtract,
} from "./rational.ts";
import type { Step } from "./step.ts";
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
  >;

/**
 * Counts a hire, once and for good: registers both sides, then fixes its weight, 1 or 1/cluster_size when both are in one
 * cluster at this position (SHP §4.5.3, §9.2). False, and nothing is counted, when a side can never be an agent.
 */
export async function countHire(step: Step, facts: HireFacts): Promise<boolean> {
  if ((await ensureAgent(step, facts.seller)) === null) return false;
  if ((await ensureAgent(step, facts.buyer)) === null) return false;
  const clusterSize = await sharedClusterSize(step, facts.buyer, facts.seller);
  const { windowSeconds, volumeWindowSeconds } = step.params;
  const hire: Row<"hire"> = {
    ...facts,
    clusterSize,
    inWindow: facts.time > step.state.time - windowSeconds,
    inDay: facts.time > step.state.time - volumeWindowSeconds,
    countedBlock: step.at.block,
    countedLog: step.at.log ?? 0,
    countedSeq: step.at.seq,
  };
  await step.store.insert("hire", hire);
  if (hire.inDay) {
    await changeDayVolume(step, hire, add);
    await schedule(step, hire.time + volumeWindowSeconds, "day", hire.id);
  }
  if (hire.inWindow) {
    await changeWindow(step, hire, 1);
    await schedule(step, hire.time + windowSeconds, "window", hire.id);
  }
  return true;
}

async function sharedClusterSize(step: Step, buyer: string, seller: string): Promise<number> {
  const cluster = await clusterOf(step, buyer);
  if (cluster === null || cluster.id !== (await clusterOf(step, seller))?.id) return 1;
  return cluster.size;
}

/** A hire is 24 hours old: it leaves the volume. */
export async function leaveDay(step: Step, id: string): Promise<void> {
  const hire = await hireRow(step, id);
  if (!hire.inDay) return;
  await step.store.update("hire", id, { inDay: false });
  await changeDayVolume(step, hire, subtract);
}

/** A hire is as old as the window: it leaves every rate and count. */
export async function leaveWindow(step: Step, id: string): Promise<void> {
  const hire = await hireRow(step, id);
  if (!hire.inWindow) return;
  await step.store.update("hire", id, { inWindow: false });
  await changeWindow(step, hire, -1);
}

/** A receipt that comes after its escrow was counted says what the work was; the outcome and weight stay. */
export async function describeHire(
  step: Step,
  id: string,
  facts: { receipt: string; capability: string; latencyMs: number | null; hireId: string },
): Promise<void> {
  const hire = await hireRow(step, id);
  await step.store.update("hire", id, facts);
  step.touchedAgents.add(hire.seller);
  if (hire.inWindow) await changeCapability(step, hire.seller, facts.capability, 1);
}

async function changeDayVolume(
  step: Step,
  hire: Row<"hire">,
  change: (a: Rational, b: Rational) => Rational,
): Promise<void> {
  const { dayVolume } = await agentRow(step, hire.seller);
  const volume = multiply(weightOf(hire), rational(hire.price));
  await updateAgent(step, hire.seller, {
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
  });
  if (hire.capability !== null) await changeCapability(step, hire.seller, hire.capability, by);
  await (by === 1 ? addCustom : removeCustom)(step, hire.buyer, hire.seller);

  const buyer = await agentRow(step, hire.buyer);
  await updateAgent(step, hire.buyer, {
    bought: buyer.bought + by,
    escrowBought: buyer.escrowBought + (inEscrow ? by : 0),
    silentTimeouts: buyer.silentTimeouts + (hire.silentTimeout ? by : 0),
    refundsAfterDelivery: buyer.refundsAfterDelivery + (hire.refundAfterDelivery ? by : 0),
  });
}

async function changeCapability(step: Step, seller: string, capability: string, by: 1 | -1): Promise<void> {
  const id = `${seller}/${capability}`;
  const row = await step.store.get("capability", id);
  const windowHires = (row?.windowHires ?? 0) + by;
  if (row === null) await step.store.insert("capability", { id, windowHires });
  else await step.store.update("capability", id, { windowHires });
  const appears = by === 1 && windowHires === 1;
  const vanishes = by === -1 && windowHires === 0;
  if (!appears && !vanishes) return;
  const { capabilities } = await agentRow(step, seller);
  await updateAgent(step, seller, { capabilities: capabilities + by });
}

function weightOf(hire: Row<"hire">): Rational {
  return rational(1n, BigInt(hire.clusterSize));
}

async function hireRow(step: Step, id: string): Promise<Row<"hire">> {
  const hire = await step.store.get("hire", id);
  if (hire === null) throw new Error(`There is no hire ${id}.`);
  return hire;
}
