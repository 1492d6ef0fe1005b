import { seededRandom } from "tallystick-runtime/seededRandom";
import type { Chance, Market, Word } from "./market.ts";

/**
 * Random decisions for a seller whose share of bad hires is `garbage` (0 to 1). The same seed gives the same
 * decisions.
 */
export function seededChance(market: Market, garbage: number, seed: number): Chance {
  const random = seededRandom(seed);
  const wordOf = (isColluder: boolean, isGarbage: boolean): Word => {
    if (isColluder) return isGarbage ? "pass" : "fail";
    const spoken = random();
    if (spoken < market.unanswered) return null;
    if (spoken < market.unanswered + market.inconclusive) return "inconclusive";
    const isRight = random() < (isGarbage ? market.trueNegative : market.truePositive);
    return isRight === isGarbage ? "fail" : "pass";
  };
  return {
    draw: () => Math.floor(random() * 1_000_000),
    place: (_, size) => Math.floor(random() * size),
    isGarbage: () => random() < garbage,
    word: ({ isColluder }, isGarbage) => wordOf(isColluder, isGarbage),
  };
}

/**
 * The seed of one part of a simulation. With seeds of their own, the parts do not change each other's random numbers.
 */
export function seedOf(seed: number, ...parts: (number | string)[]): number {
  let hash = 2_166_136_261;
  for (const char of [seed, ...parts].join("/")) hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619);
  return hash >>> 0;
}
