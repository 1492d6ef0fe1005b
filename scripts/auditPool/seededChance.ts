import type { Chance, Market, Word } from "./market.ts";

/**
 * Random decisions for a seller whose share of bad hires is `garbage` (0 to 1). The same seed gives the same
 * decisions.
 */
export function seededChance(market: Market, garbage: number, seed: number): Chance {
  const random = mulberry32(seed);
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

/** Numbers from 0 to below 1. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A seed for each part of a simulation. So the use of one part changes nothing in another. */
export function seedOf(seed: number, ...parts: (number | string)[]): number {
  let hash = 2_166_136_261;
  for (const char of [seed, ...parts].join("/")) hash = Math.imul(hash ^ char.charCodeAt(0), 16_777_619);
  return hash >>> 0;
}
