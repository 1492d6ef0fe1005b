import { formatUsdc, parseUsdc } from "tallystick-protocol/amount";
import type { SearchRequest } from "../query/answers.ts";

/** What a seller's reputation has to rest on. A figure that a node does not tell, or that is null, meets no requirement. */
export type Requirements = {
  /** Families of wallets that bought, by whose money they began with: at least so many. */
  independentBuyers?: number;
  /** From 0 to 1: the share of direct payments for which the seller wrote a receipt. */
  receiptCoverage?: number;
  /** USDC that its buyers paid and did not get back, like "1.00". */
  keptUsdc?: string;
};

/** Requirements as a search takes them. */
export function requirementsAsked(require: Requirements): Partial<SearchRequest> {
  const { independentBuyers, receiptCoverage, keptUsdc } = require;
  return {
    ...(independentBuyers !== undefined && { min_independent_buyers: independentBuyers }),
    ...(receiptCoverage !== undefined && { min_receipt_coverage: receiptCoverage }),
    ...(keptUsdc !== undefined && { min_kept_usdc: formatUsdc(parseUsdc(keptUsdc, "require.keptUsdc")) }),
  };
}

/** Whether what a search told of a seller meets them: a node that does not know the filters lets everybody pass. */
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
