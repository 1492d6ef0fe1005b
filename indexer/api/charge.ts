import { admittedOf } from "tallystick-runtime/http/limitClients";
import type { Connection } from "./graphql/context.ts";
import { FREE_SKIPS, SKIPPING_POINTS } from "./rows/list.ts";

/**
 * This many lines or digests cost a client one point, in addition to the price of the request. This many bytes of
 * them also cost one point. The higher of the two prices counts.
 */
const LINES_PER_POINT = 100;
const BYTES_PER_POINT = 64 * 1024;

/**
 * A search pays one point for this many listings that it may look at, even if they are not in the answer. Postgres needs
 * about six milliseconds to skip 2,500 listings, or to sort 500.
 */
const SKIPPED_PER_POINT = 2_500;
const SORTED_PER_POINT = 500;

/** The price of a payment of any size. For each one this node asks the facilitator and the chain's RPC. */
const PAYMENT_POINTS = 20;

/** Charges a client for a payment that it sent. */
export function chargePayment(env: unknown): void {
  charge(env, PAYMENT_POINTS);
}

/** Charges a client for the lines that were read for it, even if not all of them are sent. */
export function chargeLines(env: unknown, { lines, bytes }: { lines: number; bytes: number }): void {
  charge(env, Math.max(lines / LINES_PER_POINT, bytes / BYTES_PER_POINT));
}

/** Charges a client for the listings that a search may skip in an index, or sort by a figure. */
export function chargeListings(
  env: unknown,
  { skipped = 0, sorted = 0 }: { skipped?: number; sorted?: number },
): void {
  charge(env, skipped / SKIPPED_PER_POINT + sorted / SORTED_PER_POINT);
}

/** Charges a client for a list that leaves out the rows which nobody may notice. */
export function chargeSkipped(env: unknown, skipped: number): void {
  charge(env, SKIPPING_POINTS + skipped / FREE_SKIPS);
}

function charge(env: unknown, points: number): void {
  admittedOf((env as Connection | undefined)?.incoming)?.budget.charge(points);
}
