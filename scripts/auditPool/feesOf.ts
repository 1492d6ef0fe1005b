import type { Market, PoolAudit } from "./market.ts";

/**
 * The fees that a pool owes for an ended audit, in atomic units. Each verdict earns the fee, which depends on
 * the hire's price. The first fail of a confirmed failure earns several times as much (SHP §8.3.2). An
 * inconclusive verdict is paid only if the next auditor's verdict is inconclusive too.
 */
export function feesOf(
  { status, asked }: Pick<PoolAudit, "status" | "asked">,
  {
    priceAtomic,
    rules,
  }: Pick<Market, "priceAtomic"> & { rules: Pick<Market["rules"], "fees" | "bountyMultiplier"> },
): bigint {
  const band = rules.fees.findLast(({ fromAtomic }) => BigInt(fromAtomic) <= priceAtomic);
  const fee = BigInt(band?.feeAtomic ?? 0);
  const words = asked.map(({ word }) => word).filter((word) => word !== null);
  const paid = words.filter((word, n) => word !== "inconclusive" || words[n + 1] === "inconclusive");
  const hasBounty = status === "failed" && words.includes("fail");
  return fee * BigInt(paid.length + (hasBounty ? rules.bountyMultiplier - 1 : 0));
}
