import * as z from "zod";
import { atomicSchema } from "../amount.ts";

/**
 * One band of an escrow's fee schedule. It begins at the amount `fromAtomic` and ends where the next band begins. The
 * fee is `rateMillionths` of the amount, rounded down, and at least `minAtomic`.
 */
export const feeBandSchema = z.strictObject({
  fromAtomic: atomicSchema,
  rateMillionths: z.int().nonnegative().max(1_000_000),
  minAtomic: atomicSchema,
});

export type FeeBand = z.output<typeof feeBandSchema>;

/** A schedule. The first band begins at 0, and each next band begins at a higher amount. */
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
 * The published schedule of platform escrows, in USDC. Below 0.10 the fee is 0.001. From 0.10 it is 0.5 %, and at
 * least 0.005. From 1.00 it is 0.4 %, and at least 0.005. From 10.00 it is 0.3 %.
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
 * @example escrowFee(500_000n) // 5000n: 0.5 % of 0.50 USDC would be 0.0025 USDC, but the lowest fee is 0.005 USDC
 */
export function escrowFee(amount: bigint, schedule: readonly FeeBand[] = PUBLISHED_FEES): bigint {
  const band = schedule.findLast(({ fromAtomic }) => amount >= BigInt(fromAtomic));
  if (!band) return 0n;
  const share = (amount * BigInt(band.rateMillionths)) / 1_000_000n;
  const least = BigInt(band.minAtomic);
  const fee = share > least ? share : least;
  return fee < amount ? fee : amount;
}
