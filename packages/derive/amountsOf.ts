import type { Params } from "tallystick-protocol/records/params";

type Amounts = {
  minHire: bigint;
  minFunding: bigint;
  fundingShare: { numerator: bigint; denominator: bigint };
};

/**
 * The amounts with which every transfer is compared, as numbers. They are parsed again only when the parameters
 * change.
 */
export function amountsOf(params: Params): Amounts {
  if (last?.params !== params) last = { params, amounts: read(params) };
  return last.amounts;
}

/** Hardly any event changes the parameters, so the last amounts are remembered. */
let last: { params: Params; amounts: Amounts } | undefined;

function read({ minHireAtomic, minFundingAtomic, fundingShare }: Params): Amounts {
  return {
    minHire: BigInt(minHireAtomic),
    minFunding: BigInt(minFundingAtomic),
    fundingShare: {
      numerator: BigInt(fundingShare.numerator),
      denominator: BigInt(fundingShare.denominator),
    },
  };
}
