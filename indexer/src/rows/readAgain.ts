import type { TableName } from "tallystick-derive/tables";

/**
 * The tables that most events read. Ponder keeps all their rows in memory while it reads the history (`ponderRows.ts`), so
 * reading one of these rows again is cheap.
 */
export const READ_AGAIN: readonly TableName[] = [
  "agent",
  "brought",
  "buyerGroup",
  "capability",
  "capabilityPlace",
  "cluster",
  "digestNode",
  "family",
  "familyMember",
  "fingerprint",
  "list",
  "listing",
  "orderIndex",
  "orderedNode",
  "purchases",
  "state",
  "steward",
  "wallet",
];
