import type { RatingSide } from "tallystick-protocol/records/rating";
import { agentRow, updateAgent } from "./agentRow.ts";
import type { ApplyContext } from "./applyContext.ts";
import { sharedClusterSize } from "./clusters.ts";
import { existingRow } from "./existingRow.ts";
import { append, itemOf } from "./lists.ts";
import {
  add,
  compare,
  formatRational,
  multiply,
  parseRational,
  type Rational,
  rational,
  roundHalfUp,
  subtract,
  ZERO,
} from "./rational.ts";
import { schedule } from "./schedule.ts";
import type { Row } from "./tables.ts";

const DAY = 86_400;

/**
 * Stores the stars that one side gives for a hire. They count once the hire counts. Each side of a receipt
 * rates once (SHP §9.1).
 */
export function ratingSettled(
  context: ApplyContext,
  receipt: Row<"receipt">,
  { side, stars }: { side: RatingSide; stars: number },
): void {
  const [rater, ratee] = side === "buyer" ? [receipt.buyer, receipt.agent] : [receipt.agent, receipt.buyer];
  context.store.insert("rating", {
    id: ratingId(receipt.id, side),
    receipt: receipt.id,
    rater,
    ratee,
    side,
    stars,
    time: context.at.time,
    status: "pending",
    hire: null,
    clusterSize: 1,
    inWindow: false,
  });
  if (receipt.status === "counted" && receipt.hire !== null) {
    countRating(context, ratingId(receipt.id, side), receipt.hire);
  }
}

export function countPendingRatings(context: ApplyContext, receipt: Row<"receipt">, hire: string): void {
  for (const side of ["buyer", "seller"] as const) {
    const id = ratingId(receipt.id, side);
    if (context.store.get("rating", id) !== null) countRating(context, id, hire);
  }
}

export function ratingId(receipt: string, side: RatingSide): string {
  return `${receipt}/${side}`;
}

/**
 * Called when the hire of a rating is counted. Fixes the rating's weight and its window, which do not change later. A
 * buyer's rating enters its seller's stars. A seller's rating is only shown with the hire. A rating of a hire that an
 * operator arranged does not count, and a buyer's rating does not count while the hire is neutral.
 */
function countRating(context: ApplyContext, id: string, hire: string): void {
  const { isCanary, outcome } = existingRow(context.store, "hire", hire);
  if (isCanary) return;
  const before = ratingRow(context, id);
  const isBuyers = before.side === "buyer";
  const clusterSize = sharedClusterSize(context, before.rater, before.ratee);
  const inWindow = isBuyers && before.time > context.state.time - context.params.windowSeconds;
  const counts = !isBuyers || outcome !== "neutral";
  const rating = { ...before, status: counts ? "counted" : "pending", hire, clusterSize, inWindow };
  context.store.put("rating", rating);
  if (inWindow) schedule(context, rating.time + context.params.windowSeconds, "rating", id);
  if (isBuyers && counts) changeFigures(context, rating, 1);
}

/** Removes a rating that left the window from the average. */
export function leaveStars(context: ApplyContext, id: string): void {
  const rating = ratingRow(context, id);
  if (!rating.inWindow) return;
  context.store.update("rating", id, { inWindow: false });
  if (rating.status === "counted") changeStars(context, rating, subtract);
}

/**
 * Takes the buyer's rating of a counted hire out of its seller's figures, or brings it back with the same weight. It
 * does not count if an operator of audits arranged the hire. It does not count either while the hire is neutral: the
 * buyer has its money back, and the work was not found bad. Otherwise bad stars would cost nothing.
 */
export function setRatingCounts(context: ApplyContext, receipt: string, counts: boolean): void {
  const id = ratingId(receipt, "buyer");
  const rating = context.store.get("rating", id);
  if (rating === null || (rating.status === "counted") === counts) return;
  context.store.update("rating", id, { status: counts ? "counted" : "pending" });
  changeFigures(context, rating, counts ? 1 : -1);
}

function changeFigures(context: ApplyContext, rating: Row<"rating">, by: 1 | -1): void {
  const { totalRatings } = agentRow(context, rating.ratee);
  updateAgent(context, rating.ratee, { totalRatings: totalRatings + by });
  if (rating.inWindow) changeStars(context, rating, by === 1 ? add : subtract);
}

function changeStars(
  context: ApplyContext,
  rating: Row<"rating">,
  change: (a: Rational, b: Rational) => Rational,
): void {
  const day = Math.floor(rating.time / DAY);
  const id = `${rating.ratee}/${day}`;
  const row = context.store.get("starDay", id);
  const weight = rational(1n, BigInt(rating.clusterSize));
  const stars = multiply(weight, rational(BigInt(rating.stars)));
  const sums = {
    weight: formatRational(change(parseRational(row?.weight ?? "0"), weight)),
    stars: formatRational(change(parseRational(row?.stars ?? "0"), stars)),
  };
  // All ratings of a day may have left, so that the average no longer reads this day. If later parameters make the
  // window longer, a rating of that day can still enter, because it waited for its hire. So the day is added again.
  if (row === null || row.weight === "0") append(context.store, starDaysOf(rating.ratee), String(day));
  context.store.put("starDay", { id, ...sums });
  updateAverage(context, rating.ratee);
}

/**
 * Stores the average Σ w·q^d·stars / Σ w·q^d, where d is the number of days from a rating to today. From day to day
 * both sums change by the same factor. So d can be counted to any day, here the day of the latest rating, and the
 * average changes only when a rating comes or goes.
 */
function updateAverage(context: ApplyContext, agent: string): void {
  const { numerator, denominator } = context.params.starDecay;
  const q = rational(BigInt(numerator), BigInt(denominator));
  let { firstStarDay } = agentRow(context, agent);
  // A day whose ratings were all removed may still get a new one.
  const isOver = (day: number) => (day + 1) * DAY <= context.state.time - context.params.windowSeconds;
  const days: { day: number; weight: Rational; stars: Rational }[] = [];
  const seen = new Set<string>();
  for (let n = firstStarDay; ; n++) {
    const day = itemOf(context.store, starDaysOf(agent), n);
    if (day === null) break;
    if (seen.has(day)) continue;
    seen.add(day);
    const row = existingRow(context.store, "starDay", `${agent}/${day}`);
    const weight = parseRational(row.weight);
    if (compare(weight, ZERO) > 0) days.push({ day: Number(day), weight, stars: parseRational(row.stars) });
    else if (days.length === 0 && n === firstStarDay && isOver(Number(day))) firstStarDay = n + 1;
  }
  const latest = Math.max(...days.map((it) => it.day));
  let [weight, stars] = [ZERO, ZERO];
  for (const it of days) {
    const decay = power(q, latest - it.day);
    weight = add(weight, multiply(it.weight, decay));
    stars = add(stars, multiply(it.stars, decay));
  }
  const average = days.length === 0 ? null : { n: stars.n * weight.d, d: stars.d * weight.n };
  const rounded = average === null ? null : rational(roundHalfUp(average, 9), 1_000_000_000n);
  updateAgent(context, agent, {
    firstStarDay,
    avgStars: rounded === null ? null : formatRational(rounded),
  });
}

function power({ n, d }: Rational, exponent: number): Rational {
  return rational(n ** BigInt(exponent), d ** BigInt(exponent));
}

function ratingRow(context: ApplyContext, id: string): Row<"rating"> {
  return existingRow(context.store, "rating", id);
}

function starDaysOf(agent: string): string {
  return `stars/${agent}`;
}
