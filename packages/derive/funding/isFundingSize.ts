import type { Params } from "tallystick-protocol/records/params";
import { amountsOf } from "../amountsOf.ts";

/**
 * Whether a transfer of `value` is large enough to fund its receiver. It must be at least `minFundingAtomic`, and at
 * least `fundingShare` of all that the receiver ever got. `received` is that sum, with this transfer. So tiny
 * transfers connect nobody. This also limits how many funders a wallet has, and so the search for them.
 */
export function isFundingSize(params: Params, value: bigint, received: bigint): boolean {
  const { minFunding, fundingShare } = amountsOf(params);
  return value >= minFunding && value * fundingShare.denominator >= received * fundingShare.numerator;
}
