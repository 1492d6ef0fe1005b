import type { Params } from "tallystick-protocol/records/params";

/**
 * Whether a transfer of `value`, the latest of all that make up `received`, is large enough to fund its
 * receiver: at least `minFundingAtomic`, and at least `fundingShare` of all it ever received. So tiny transfers
 * connect nobody, and every wallet has few funders, which limits the search for them.
 */
export function isFundingSize(
  { minFundingAtomic, fundingShare }: Params,
  value: bigint,
  received: bigint,
): boolean {
  return (
    value >= BigInt(minFundingAtomic) &&
    value * BigInt(fundingShare.denominator) >= received * BigInt(fundingShare.numerator)
  );
}
