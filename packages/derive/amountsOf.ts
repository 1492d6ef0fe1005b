import type { Params } from "tallystick-protocol/records/params";

type Amounts = {
  minHire: bigint;
  minFunding: bigint;
  fundingShare: { numerator: bigint; denominator: bigint };
};

/** What every transfer is compared with, as numbers: those of each parameters are parsed once. */
export function amountsOf(params: Params): Amounts {
  let amounts = parsed.get(params);
  if (amounts === undefined) {
    const { numerator, denominator } = params.fundingShare;
    amounts = {
      minHire: BigInt(params.minHireAtomic),
      minFunding: BigInt(params.minFundingAtomic),
      fundingShare: { numerator: BigInt(numerator), denominator: BigInt(denominator) },
    };
    parsed.set(params, amounts);
  }
  return amounts;
}

const parsed = new WeakMap<Params, Amounts>();
