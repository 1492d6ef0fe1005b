import type { ApplyContext } from "../applyContext.ts";
import { existingRow } from "../existingRow.ts";
import { itemsOf } from "../lists.ts";
import { forEachRow } from "../loadedRows.ts";
import { add, compare, formatRational, parseRational, type Rational, rational } from "../rational.ts";
import type { Row } from "../tables.ts";
import { dayOf, HOUR } from "./days.ts";
import { decayedSuccess, decayedUptime, decayWeights } from "./decay.ts";
import { weighEndorsements } from "./endorsements.ts";
import { NANO, nanoOf } from "./nano.ts";
import { parseOutcomeDays, sumOutcomes } from "./outcomeDays.ts";
import { endorsementsOf, freshnessOf, lessDenials, ownTrustOf, scoreOf } from "./score.ts";
import { evaluateSla } from "./sla/evaluate.ts";
import { sumSlots } from "./slotDays.ts";
import { agentsOf, STEWARD_SLOTS } from "./stewardRow.ts";
import { closeSlot } from "./stewardSlots.ts";
import { stewardTierOf, type TierFigures, type Uptime } from "./stewardTier.ts";
import { type ProbeCache, takeSlots } from "./takeSlots.ts";

const SLOT_SECONDS = 300;

/** The window of the score's shares, in UTC days. */
const SCORE_DAYS = 30;

/**
 * Computes trust scores at a tick. Every agent is computed once an hour, when its slot of 300 seconds is
 * over. Its own figures come first, then the endorsements by others.
 */
export function tickSteward(context: ApplyContext): void {
  const due = new Map<string, Row<"steward">>();
  const away: ProbeCache = new Map();
  const weights = decayWeights(context.params.starDecay, SCORE_DAYS);
  const slots = new Map<number, Row<"steward">[]>();
  forEachRow(slotsOver(context.state.time, context.at.time), (slot) => {
    const rows: Row<"steward">[] = [];
    forEachRow(itemsOf(context.store, agentsOf(slot)), (agent) => {
      const row = ownFigures(context, existingRow(context.store, "steward", agent), away, weights);
      rows.push(row);
      due.set(agent, row);
    });
    slots.set(slot, rows);
  });
  const find = (agent: string) => due.get(agent) ?? context.store.get("steward", agent);
  forEachRow(due.values(), (row) => {
    addEndorsements(context, row, find);
    context.store.put("steward", row);
  });
  forEachRow(slots, ([slot, rows]) => closeSlot(context, slot, rows));
}

/** The slots of the hour that ended since the last tick, in order. */
export function slotsOver(since: number, time: number): number[] {
  const [from, to] = [Math.floor(since / SLOT_SECONDS), Math.floor(time / SLOT_SECONDS)];
  const first = Math.max(from, to - STEWARD_SLOTS);
  return Array.from({ length: to - first }, (_, n) => (first + n) % STEWARD_SLOTS);
}

/**
 * All figures except the endorsements, in a row of their own. A row has many columns, so it is copied once, and then
 * changed column by column.
 */
function ownFigures(
  context: ApplyContext,
  before: Row<"steward">,
  away: ProbeCache,
  weights: readonly bigint[],
): Row<"steward"> {
  const { change, days: slots } = takeSlots(context, before, away);
  const row: Row<"steward"> = { ...before };
  Object.assign(row, change);
  const { block, time } = context.at;
  const today = dayOf(time);
  const [week, month, quarter] = sumSlots(slots, today, [7, 30, 90]) as [Sum, Sum, Sum];
  const outcomes = parseOutcomeDays(row.outcomes);
  const { ok, failed } = sumOutcomes(outcomes, today, SCORE_DAYS);
  const all = ok.n * failed.d + failed.n * ok.d;
  row.testCoverage = row.testsTotal === 0 ? 0 : nanoOf(BigInt(row.testsPassing), BigInt(row.testsTotal));
  row.uptime = month.data === 0 ? 0 : nanoOf(BigInt(month.data - month.down), BigInt(month.data));
  // ok / (ok + failed), over a common denominator.
  row.successRate = all === 0n ? 0 : nanoOf(ok.n * failed.d, all);
  row.freshness = row.ranAt === null ? 0 : freshnessOf(Math.floor((time - row.ranAt) / HOUR));
  row.computedBlock = block;
  row.computedTime = time;
  row.scoredAttestation = row.attestation;
  row.ownTrust = ownTrustOf(factorsOf(row), context.stewardWeights);
  row.succeeded = formatRational(ok);
  row.failed = formatRational(failed);
  row.slotSums = [week, month, quarter].map((it) => `${it.data}:${it.down}:${it.raw}`).join(" ");
  row.denied = month.denied;
  row.decayedSuccess = decayedSuccess(outcomes, today, weights);
  row.decayedUptime = decayedUptime(slots, today, weights);
  row.difficultySuccess = difficultySuccess(row, { ok, failed }, today);
  return row;
}

/**
 * The success rate in which each hire weighs as much as its capability is difficult (T014). It is never part
 * of the score.
 */
function difficultySuccess(
  { hardSales }: Row<"steward">,
  { ok, failed }: { ok: Rational; failed: Rational },
  today: number,
): number | null {
  const hard = sumOutcomes(parseOutcomeDays(hardSales), today, SCORE_DAYS);
  const good = add(ok, hard.ok);
  const all = add(good, add(failed, hard.failed));
  return all.n === 0n ? null : nanoOf(good.n * all.d, good.d * all.n);
}

type Sum = ReturnType<typeof sumSlots>[number];

/** The five factors of the score, from a row. */
export function factorsOf(
  row: Pick<Row<"steward">, "testCoverage" | "uptime" | "successRate" | "endorsements" | "freshness">,
) {
  return {
    test_coverage: row.testCoverage,
    uptime: row.uptime,
    success_rate: row.successRate,
    endorsements: row.endorsements,
    attestation_freshness: row.freshness,
  };
}

/** Adds the endorsements and the score to a row of `ownFigures`. */
function addEndorsements(
  context: ApplyContext,
  row: Row<"steward">,
  find: (agent: string) => Row<"steward"> | null,
): void {
  const { counted, words, leftOut } = weighEndorsements(context, row, find);
  const { value, unique, average } = endorsementsOf(counted);
  row.endorsements = value;
  row.endorsementCount = counted.length;
  row.uniqueEndorsers = unique;
  row.endorserTrust = average;
  row.counted = words;
  row.leftOut = leftOut;
  row.algorithmScore = scoreOf(factorsOf(row), context.stewardWeights);
  const { left, guarantees } = evaluateSla(context, row);
  row.score = nanoOf(BigInt(lessDenials(row.algorithmScore, row.denied)) * left.n, left.d * BigInt(NANO));
  row.slaLeft = formatRational(left);
  row.guarantees = guarantees;
  row.tier = tierOf(row, row.score);
}

function tierOf(row: Row<"steward">, score: number): number {
  const tests = { passing: row.testsPassing, total: row.testsTotal };
  return stewardTierOf({ score, ...tierFiguresOf(row, tests) });
}

/** The figures for the requirements of tiers, from a row. */
export function tierFiguresOf(row: Row<"steward">, tests: TierFigures["tests"]): Omit<TierFigures, "score"> {
  const sums = row.slotSums.split(" ").map((text) => {
    const [data, down] = text.split(":").map(Number) as [number, number];
    return { data, down };
  });
  const [week, month, quarter] = sums as [Uptime, Uptime, Uptime];
  const succeeded = parseRational(row.succeeded);
  return {
    uptime: { 7: week, 30: month, 90: quarter },
    tests,
    endorsements: row.endorsementCount,
    successesAbove: (count) => compare(succeeded, rational(BigInt(count))) > 0,
  };
}
