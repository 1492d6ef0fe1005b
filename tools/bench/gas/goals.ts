import type { GasFigures } from "./measureEscrow.ts";
import { BATCH, derivedFigures, hiresWith } from "./measureEscrow.ts";
import { anchorFigure, OLD_SIZES } from "./measureLedger.ts";

/** The name, in the figures, of our test token that costs as much gas as Circle's token. */
export const LIKE_FIAT_TOKEN = "like FiatToken";
/** The name of Circle's own token. */
export const FIAT_TOKEN = "FiatToken 2.2";

/** A figure and its limit. */
export type Goal = { name: string; actual: number; limit: number };

/**
 * The gas limits that the contracts must keep.
 *
 * AuthCaptureEscrow (base/commerce-payments) takes 178,656 gas for authorize and capture on that project's own mock
 * token. TestUSDC is compared with this figure. With Circle's FiatToken behind its proxy, AuthCaptureEscrow takes 211,834
 * gas.
 */
export function goals(figures: GasFigures): Goal[] {
  const derived = derivedFigures(figures);
  const anchors = OLD_SIZES.map((oldSize) => (figures[anchorFigure(oldSize, 1_000)] ?? Number.NaN) / 1_000);
  return [
    {
      name: "depositWithAuthorization + release by the buyer, against 0.88 × 178,656",
      actual: derived.perHire,
      limit: Math.floor(0.88 * 178_656),
    },
    {
      name: "each of a batch of 50 releases, as a share of a single one",
      actual: derived.batchShare,
      limit: 0.6,
    },
    ...[LIKE_FIAT_TOKEN, FIAT_TOKEN]
      .filter((name) => `${name}: depositWithAuthorization` in figures)
      .flatMap((name) => {
        const { perHire, perBatchedHire } = hiresWith(figures, name);
        return [
          {
            name: `a hire with ${name}, against 0.88 × 211,834`,
            actual: perHire,
            limit: Math.floor(0.88 * 211_834),
          },
          { name: `a hire of ${BATCH} in two batches, with ${name}`, actual: perBatchedHire, limit: 110_000 },
        ];
      }),
    { name: "per anchored entry at 1,000 a batch, by the writer", actual: Math.max(...anchors), limit: 70 },
  ];
}
