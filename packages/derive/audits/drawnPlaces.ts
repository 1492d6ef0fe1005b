import type { Sha256Hex } from "../sha256Hex.ts";

const MILLION = 1_000_000n;

/**
 * The first 64 bits of the SHA-256 of words joined by spaces. One of the words is a block's hash, so nobody can know
 * the number before the block.
 */
export function drawNumber(sha256Hex: Sha256Hex, words: readonly (string | number)[]): bigint {
  return BigInt(`0x${sha256Hex(words.join(" "), "utf8").slice(0, 16)}`);
}

/**
 * Which of `count` things in a row are drawn, at a rate of `ppm` parts per million. With u = `number` mod 10⁶, the
 * thing at position i (from 0) is drawn when ⌊((i+1)·ppm + u)/10⁶⌋ > ⌊(i·ppm + u)/10⁶⌋. All things have the same
 * chance. The count of drawn things differs from rate × `count` by less than one. The cost grows only with the count
 * of drawn things.
 */
export function* drawnPlaces(count: number, ppm: number, number: bigint): Generator<number> {
  if (ppm === 0) return;
  const u = number % MILLION;
  const rate = BigInt(ppm);
  const drawn = (BigInt(count) * rate + u) / MILLION;
  for (let k = 1n; k <= drawn; k++) yield Number((k * MILLION - u + rate - 1n) / rate) - 1;
}
