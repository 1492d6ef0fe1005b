import { formatUsdc, parseUsdc } from "tallystick-protocol/amount";
import type { SearchRequest } from "../query/answers.ts";

/**
 * The least figures that a seller must have. A figure that is null, or that the node does not have, meets no
 * requirement.
 */
export type Requirements = {
  /** The least number of independent buyers: funding families of wallets that bought. */
  independentBuyers?: number;
  /** From 0 to 1: the share of direct payments for which the seller wrote a receipt. */
  receiptCoverage?: number;
  /** USDC that its buyers paid and did not get back, like "1.00". */
  keptUsdc?: string;
};

/** Requirements in the form that a search takes. */
export function requirementsAsked(require: Requirements): Partial<SearchRequest> {
  const { independentBuyers, receiptCoverage, keptUsdc } = require;
  return {
    ...(independentBuyers !== undefined && { min_independent_buyers: independentBuyers }),
    ...(receiptCoverage !== undefined && { min_receipt_coverage: receiptCoverage }),
    ...(keptUsdc !== undefined && { min_kept_usdc: formatUsdc(parseUsdc(keptUsdc, "require.keptUsdc")) }),
  };
}

/**
 * Whether a seller from a search meets the requirements. They are checked here again, because a node without these
 * filters returns every seller.
 */
export function meetsRequirements(
  reputation: { [field: string]: unknown },
  { independentBuyers, receiptCoverage, keptUsdc }: Requirements,
): boolean {
  const { independent_buyers: families, receipt_coverage: coverage, kept_usdc: kept } = reputation;
  return (
    (independentBuyers === undefined || (typeof families === "number" && families >= independentBuyers)) &&
    (receiptCoverage === undefined || (typeof coverage === "number" && coverage >= receiptCoverage)) &&
    (keptUsdc === undefined || reaches(kept, keptUsdc))
  );
}

function reaches(kept: unknown, least: string): boolean {
  if (typeof kept !== "string" || !/^[0-9]+([.][0-9]{1,6})?$/.test(kept)) return false;
  return parseUsdc(kept) >= parseUsdc(least);
}
