import { COMPLEXITY_UNITS } from "tallystick-protocol/records/outcomes";
import { nanoToNumber } from "../steward/nano.ts";
import type { Row } from "../tables.ts";
import { penaltyOf, type SettlementLevel, settlementLevels } from "./trustOf.ts";

/**
 * The published figures of settlement's trust in an agent: advice, on the operator's word. Shares are numbers from 0 to
 * 1, rounded at nine decimals.
 */
export type SettlementFigures = {
  trust: number;
  level: SettlementLevel;
  /** The 5th percentile, before the mean divergence is subtracted. */
  percentile: number;
  /** The mean over compared proposals; null without any. */
  mean_divergence: number | null;
  settled: number;
  rejected: number;
  /** The sum of complexity, in tasks of complexity 1. */
  settled_complexity: number;
  rejected_complexity: number;
  compared: number;
  /** Unix seconds / 3600. */
  last_hour: number;
};

/** The published figures of a row. */
export function settlementFigures(row: Row<"settlementTrust">): SettlementFigures {
  return {
    trust: nanoToNumber(row.trust),
    level: settlementLevels[row.level] as SettlementLevel,
    percentile: nanoToNumber(row.percentile),
    mean_divergence: row.compared === 0 ? null : nanoToNumber(penaltyOf(row)),
    settled: row.settled,
    rejected: row.rejected,
    settled_complexity: row.settledComplexity / COMPLEXITY_UNITS,
    rejected_complexity: row.rejectedComplexity / COMPLEXITY_UNITS,
    compared: row.compared,
    last_hour: row.lastHour,
  };
}
