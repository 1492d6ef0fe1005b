import type { Market, PoolAudit } from "./market.ts";

/**
 * What a pool owes for an ended audit, in atomic units: the fee of the hire's price for each word, several times that for the
 * first fail of a confirmed one (SHP §8.3.2). One that cannot say is paid only when the next one asked cannot either.
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
