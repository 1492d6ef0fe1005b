import type { ColumnKind } from "../columnKind.ts";

/**
 * The tables for the results of agents' proposals, as settlement reports them (see `../tables.ts`). A share is stored
 * as a whole number of billionths: 500,000,000 means one half.
 */
export const settlementTrustTables = {
  /** One row for each agent that a record of outcomes names, even if it is not an agent of SHP. */
  settlementTrust: {
    id: "text",
    /**
     * Its settled and its rejected proposals of all time, and the sums of their complexity in thousandths.
     */
    settled: "number",
    rejected: "number",
    settledComplexity: "number",
    rejectedComplexity: "number",
    /** How many of them were compared with a shadow, and the sum of the divergences, in millionths. */
    compared: "number",
    divergence: "number",
    /** The parameters of its Beta distribution, and the 5th percentile of that. */
    alpha: "number",
    beta: "number",
    percentile: "number",
    /**
     * The percentile minus the mean divergence, at least 0; and the level that follows from it, 0 to 3 (see
     * `trustOf.ts`).
     */
    trust: "number",
    level: "number",
    /** The last hour that a record reported for it, unix seconds / 3600. */
    lastHour: "number",
  },
  /**
   * Which parts were reported: `<ledger>/<hour>/<part>`. The report of an hour can have several records, which are
   * called its parts.
   */
  outcomesTold: { id: "text" },
} as const satisfies Record<string, Record<string, ColumnKind>>;
