import { admittedOf } from "tallystick-runtime/http/limitClients";
import type { Connection } from "./graphql/context.ts";

/**
 * This many lines or digests cost a client one point, in addition to the price of the request. This many bytes of
 * them also cost one point. The higher of the two prices counts.
 */
const LINES_PER_POINT = 100;
const BYTES_PER_POINT = 64 * 1024;

/** Charges a client for lines that were read for it, whatever is sent of them. */
export function chargeLines(env: unknown, { lines, bytes }: { lines: number; bytes: number }): void {
  const points = Math.max(lines / LINES_PER_POINT, bytes / BYTES_PER_POINT);
  admittedOf((env as Connection | undefined)?.incoming)?.budget.charge(points);
}
