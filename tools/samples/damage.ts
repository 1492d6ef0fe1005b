import { seededRandom } from "tallystick-runtime/seededRandom";
import { Canvas, encodeRgb, hex } from "./canvas.ts";

/** Keeps only the first `share` of a file, like a broken download. */
export function cut(file: Uint8Array, share: number): Uint8Array {
  return file.slice(0, Math.floor(file.length * share));
}

/** Flips one bit of a file, at a share of its length. */
export function flipBit(file: Uint8Array, share: number): Uint8Array {
  const damaged = file.slice();
  const at = Math.floor(file.length * share);
  damaged[at] = (damaged[at] ?? 0) ^ 4;
  return damaged;
}

/** A picture in one colour. */
export function blank(width: number, height: number, colour: string): Uint8Array {
  return new Canvas(width, height, hex(colour)).png();
}

/** A picture of random pixels. */
export function noise(width: number, height: number, seed: number): Uint8Array {
  const random = seededRandom(seed);
  return encodeRgb(
    width,
    height,
    Uint8Array.from({ length: width * height * 3 }, () => random() * 256),
  );
}

/** A picture that is empty below a share of its height, like a rendering that stopped. */
export function stopped(canvas: Canvas, share: number, colour: string): Uint8Array {
  const half = new Canvas(canvas.width, canvas.height, hex(colour));
  half.pixels.set(canvas.pixels.subarray(0, Math.floor(canvas.height * share) * canvas.width * 3));
  return half.png();
}
