import { Canvas, encodeRgb, hex, randomNumbers } from "./canvas.ts";

/** The first `share` of a file, as when a download breaks. */
export function cut(file: Uint8Array, share: number): Uint8Array {
  return file.slice(0, Math.floor(file.length * share));
}

/** The file with one bit turned over at a share of its length. */
export function flipBit(file: Uint8Array, share: number): Uint8Array {
  const damaged = file.slice();
  const at = Math.floor(file.length * share);
  damaged[at] = (damaged[at] ?? 0) ^ 4;
  return damaged;
}

/** One tone throughout. */
export function blank(width: number, height: number, colour: string): Uint8Array {
  return new Canvas(width, height, hex(colour)).png();
}

/** Every pixel by chance. */
export function noise(width: number, height: number, seed: number): Uint8Array {
  const random = randomNumbers(seed);
  return encodeRgb(
    width,
    height,
    Uint8Array.from({ length: width * height * 3 }, () => random() * 256),
  );
}

/** The picture down to a share of its height, and nothing below: a rendering that stopped. */
export function stopped(canvas: Canvas, share: number, colour: string): Uint8Array {
  const half = new Canvas(canvas.width, canvas.height, hex(colour));
  half.pixels.set(canvas.pixels.subarray(0, Math.floor(canvas.height * share) * canvas.width * 3));
  return half.png();
}
