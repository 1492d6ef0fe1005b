import type { ApplyContext } from "./applyContext.ts";
import { amendHire } from "./hires.ts";
import { directOutcome } from "./outcome.ts";
import { noteClientError } from "./steward/outcomeDays.ts";
import type { Row } from "./tables.ts";

/**
 * A seller may do the work before it collects the payment, and clocks differ. So a latency may be this much longer than
 * the time since the payment, in seconds.
 */
const LATENCY_TOLERANCE_SECONDS = 3_600;

/**
 * Stores what a buyer measured of its hire. Its latency replaces the seller's figure. For a direct hire its
 * verdict replaces the seller's claim, unless the buyer had signed the receipt: then its first statement
 * counts.
 */
export function telemetrySettled(
  context: ApplyContext,
  receipt: Row<"receipt">,
  measured: { latencyMs: number | null; allPassed: boolean | null; failure: string | null },
): void {
  const telemetry = { id: receipt.id, time: context.at.time, ...measured };
  context.store.insert("telemetry", telemetry);
  const hire = receipt.hire === null ? null : context.store.get("hire", receipt.hire);
  if (hire === null || receipt.status !== "counted") return;
  // The decision of an escrow or an audit stays. Only the latency changes.
  const isDecided = hire.escrowId !== null || hire.evidence === "audit";
  const { outcome, evidence } = isDecided ? hire : directOutcome(receipt, telemetry);
  amendHire(context, hire.id, {
    outcome,
    evidence,
    latencyMs: latencyOf(context, receipt, paidAt(context, hire)),
  });
  if (measured.failure === CLIENT_ERROR) noteClientError(context, hire.id);
}

const CLIENT_ERROR = "client_error";

/** Called when a receipt is known to belong to a hire. What its buyer reported before counts now. */
export function telemetryCounted(context: ApplyContext, receipt: string, hire: string): void {
  const telemetry = context.store.get("telemetry", receipt);
  if (telemetry?.failure === CLIENT_ERROR) noteClientError(context, hire);
}

/** Whether a buyer reports that nothing arrived: it measured no latency, and no check passed. */
export function saidNothingCame(context: ApplyContext, receipt: string): boolean {
  const telemetry = context.store.get("telemetry", receipt);
  return telemetry !== null && telemetry.latencyMs === null && telemetry.allPassed === false;
}

/**
 * The latency of a receipt's hire: the buyer's figure if there is one, else the seller's. Null if neither is possible.
 * When the receipt came, the seller said that the work was done. So a buyer cannot make the latency longer by a late
 * report.
 *
 * @param paid when the buyer paid or deposited
 */
export function latencyOf(context: ApplyContext, receipt: Row<"receipt">, paid: number): number | null {
  const telemetry = context.store.get("telemetry", receipt.id);
  const measured = telemetry === null ? null : possibleLatency(telemetry, paid);
  return measured === null
    ? possibleLatency(receipt, paid)
    : Math.min(measured, longestLatency(receipt, paid));
}

/**
 * A latency that can be true: the record that states it is not much older than the time that passed since the payment.
 * Otherwise one invented figure would decide a seller's average.
 */
function possibleLatency(record: Pick<Row<"telemetry">, "latencyMs" | "time">, paid: number): number | null {
  const { latencyMs } = record;
  return latencyMs !== null && latencyMs <= longestLatency(record, paid) ? latencyMs : null;
}

/** The longest latency, in milliseconds, that a record with this time can state. */
function longestLatency({ time }: Pick<Row<"telemetry">, "time">, paid: number): number {
  return (Math.max(0, time - paid) + LATENCY_TOLERANCE_SECONDS) * 1_000;
}

/** When the buyer of a hire paid or deposited. */
function paidAt(context: ApplyContext, { escrowId, time }: Row<"hire">): number {
  const escrow = escrowId === null ? null : context.store.get("escrow", escrowId);
  return escrow?.depositedTime ?? time;
}
