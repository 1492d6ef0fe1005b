import { STEWARD_TIERS, type StewardTier } from "tallystick-derive/steward/stewardTier";
import { builder } from "./builder.ts";

export const StewardTierRef = builder.enumType("StewardTier", {
  description: "A tier of the trust score (STEWARD T015). It is advice, and not one of SHP's trust tiers.",
  values: Object.fromEntries(STEWARD_TIERS.map(({ name }) => [name, { value: name }])) as {
    [name in StewardTier]: { value: name };
  },
});

/** The number of a tier. */
export function tierNumber(name: StewardTier): number {
  return STEWARD_TIERS.findIndex((it) => it.name === name);
}
