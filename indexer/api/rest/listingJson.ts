import type { Row } from "tallystick-derive/tables";
import type { ListingsResponse, SearchResponse } from "./schemas.ts";

/**
 * A listing's offer, as search results show it (SHP §6.2). Fields that its body does not have are left out.
 */
export function offerJson(row: Row<"listing">): SearchResponse["agents"][number]["listing"] {
  return {
    capability: row.capability,
    price_usdc: row.priceUsdc,
    max_latency_ms: row.maxLatencyMs,
    payment_mode: row.paymentMode,
    first_call_free: row.firstCallFree,
    endpoint: row.endpoint,
    ...(row.payee !== null && { payee: row.payee }),
    ...(row.verificationVersion !== null && { verification_version: row.verificationVersion }),
    clarification_supported: row.clarificationSupported,
    private_metrics: row.privateMetrics,
    entry_hash: row.hash,
  };
}

/** A listing with its state; retired listings too. */
export function listingJson(row: Row<"listing">): ListingsResponse["listings"][number] {
  return { ...offerJson(row), retired: !row.live, issued_at: row.issuedAt, block: row.block };
}
