import type { Params } from "tallystick-protocol/records/params";

type Amounts = {
  minHire: bigint;
  minFunding: bigint;
  fundingShare: { numerator: bigint; denominator: bigint };
};

/** What every transfer is compared with, as numbers: those of the parameters in force are parsed once. */
export function amountsOf(params: Params): Amounts {
  if (last?.params !== params) last = { params, amounts: read(params) };
  return last.amounts;
}

/** Hardly any event changes the parameters, so those of the event before are remembered. */
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
