import type { ApplyContext } from "./applyContext.ts";
import { amendHire } from "./hires.ts";
import { directOutcome } from "./outcome.ts";
import { noteClientError } from "./steward/outcomeDays.ts";
import type { Row } from "./tables.ts";

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
  const telemetry = { id: receipt.id, ...measured };
  context.store.insert("telemetry", telemetry);
  const hire = receipt.hire === null ? null : context.store.get("hire", receipt.hire);
  if (hire === null || receipt.status !== "counted") return;
  // The decision of an escrow or an audit stays. Only the latency changes.
  const isDecided = hire.escrowId !== null || hire.evidence === "audit";
  const { outcome, evidence } = isDecided ? hire : directOutcome(receipt, telemetry);
  amendHire(context, hire.id, { outcome, evidence, latencyMs: measured.latencyMs ?? hire.latencyMs });
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

/** The latency of a receipt's hire: the buyer's figure if there is one, else the seller's. */
export function latencyOf(context: ApplyContext, receipt: Row<"receipt">): number | null {
  return context.store.get("telemetry", receipt.id)?.latencyMs ?? receipt.latencyMs;
}
