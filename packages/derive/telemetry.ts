import type { ApplyContext } from "./applyContext.ts";
import { amendHire } from "./hires.ts";
import { directOutcome } from "./outcome.ts";
import { noteClientError } from "./steward/outcomeDays.ts";
import type { Row } from "./tables.ts";

/**
 * What a buyer measured of its hire. Its latency goes before the seller's figure, and for a direct hire its verdict goes
 * before the seller's claim, unless the buyer had signed the receipt itself: its first word stands.
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
  // What an escrow or an audit decided stands; only the latency is news.
  const isDecided = hire.escrowId !== null || hire.evidence === "audit";
  const { outcome, evidence } = isDecided ? hire : directOutcome(receipt, telemetry);
  amendHire(context, hire.id, { outcome, evidence, latencyMs: measured.latencyMs ?? hire.latencyMs });
  if (measured.failure === CLIENT_ERROR) noteClientError(context, hire.id);
}

const CLIENT_ERROR = "client_error";

/** A receipt is known to be of a hire: what its buyer said of it before counts. */
export function telemetryCounted(context: ApplyContext, receipt: string, hire: string): void {
  const telemetry = context.store.get("telemetry", receipt);
  if (telemetry?.failure === CLIENT_ERROR) noteClientError(context, hire);
}

/** Whether a buyer measured that nothing came: it waited for no answer that it could time, and none of its checks passed. */
export function saidNothingCame(context: ApplyContext, receipt: string): boolean {
  const telemetry = context.store.get("telemetry", receipt);
  return telemetry !== null && telemetry.latencyMs === null && telemetry.allPassed === false;
}

/** The latency of a receipt's hire: the buyer's figure before the seller's. */
export function latencyOf(context: ApplyContext, receipt: Row<"receipt">): number | null {
  return context.store.get("telemetry", receipt.id)?.latencyMs ?? receipt.latencyMs;
}
