import * as z from "zod";
import { atomicSchema } from "../amount.ts";

/**
 * One band of an escrow's fee schedule: from an amount on, up to where the next begins. The fee is `rateMillionths` of
 * the amount, rounded down, and at least `minAtomic`.
 */
export const feeBandSchema = z.strictObject({
  fromAtomic: atomicSchema,
  rateMillionths: z.int().nonnegative().max(1_000_000),
  minAtomic: atomicSchema,
});

export type FeeBand = z.output<typeof feeBandSchema>;

/** A schedule: its bands begin at zero and rise. */
export const feeScheduleSchema = z
  .array(feeBandSchema)
  .min(1)
  .refine((bands) => bands[0]?.fromAtomic === "0", "must begin at 0")
  .refine(
    (bands) =>
      bands.every(
        ({ fromAtomic }, at) => at === 0 || BigInt(fromAtomic) > BigInt(bands[at - 1]?.fromAtomic ?? 0),
      ),
    "must rise from band to band",
  );

/**
 * The published schedule of platform escrows. Below 0.10 USDC the fee is 0.001. From 0.10 on it is 0.5 %,
 * from 1.00 on 0.4 %, in both bands at least 0.005. From 10.00 on it is 0.3 %. An amount on an edge belongs
 * to the band above it.
 */
export const PUBLISHED_FEES: readonly FeeBand[] = [
  { fromAtomic: "0", rateMillionths: 0, minAtomic: "1000" },
  { fromAtomic: "100000", rateMillionths: 5_000, minAtomic: "5000" },
  { fromAtomic: "1000000", rateMillionths: 4_000, minAtomic: "5000" },
  { fromAtomic: "10000000", rateMillionths: 3_000, minAtomic: "0" },
];

/**
 * The fee of an escrow, in atomic units like `amount`; never more than the amount itself.
 *
 * @example escrowFee(500_000n) // 5000n: 0.5 % of 0.50 would be 0.0025, the least is 0.005
 */
export function escrowFee(amount: bigint, schedule: readonly FeeBand[] = PUBLISHED_FEES): bigint {
  const band = schedule.findLast(({ fromAtomic }) => amount >= BigInt(fromAtomic));
  if (!band) return 0n;
  const share = (amount * BigInt(band.rateMillionths)) / 1_000_000n;
  const least = BigInt(band.minAtomic);
  const fee = share > least ? share : least;
  return fee < amount ? fee : amount;
}
