import { type FactorName, WEIGHTS, type Weights } from "tallystick-derive/steward/score";
import { decimalShareSchema, parseDecimal } from "tallystick-protocol/records/decimalSchema";
import { z } from "zod";

const NAMES = Object.keys(WEIGHTS) as FactorName[];

/** Weights have a precision of a ten-thousandth. */
const PARTS = 10_000;
const NANO_PER_PART = 1_000_000_000n / BigInt(PARTS);

/** `test_coverage=.3,uptime=.2,…`: factors that are not named have no weight, and the sum must be 1. */
export const weightsSetting = z.string().transform((text, context): Weights => {
  const weights: { [name in FactorName]: number } = {
    ...{ test_coverage: 0, uptime: 0, success_rate: 0 },
    ...{ endorsements: 0, attestation_freshness: 0 },
  };
  const given = new Set<string>();
  for (const item of text.split(",")) {
    const [name = "", value = ""] = item.split("=").map((it) => it.trim());
    const share = decimalShareSchema.safeParse(value.replace(/^\./, "0."));
    const nano = share.success ? parseDecimal(share.data) : -1n;
    const isKnown = NAMES.some((it) => it === name) && !given.has(name);
    if (!isKnown || nano < 0n || nano % NANO_PER_PART !== 0n) {
      const message = `must be like ${NAMES.map((it) => `${it}=${WEIGHTS[it] / 100}`).join(",")}: at most four decimals, each name once`;
      context.addIssue({ code: "custom", message });
      return z.NEVER;
    }
    given.add(name);
    weights[name as FactorName] = Number(nano / NANO_PER_PART);
  }
  if (NAMES.reduce((sum, name) => sum + weights[name], 0) === PARTS) return weights;
  context.addIssue({ code: "custom", message: "must add up to 1" });
  return z.NEVER;
});
