import { Canvas, type Colour } from "./canvas.ts";

/** Enlarges a picture by `factor` with Catmull–Rom interpolation, like a simple upscaler without a model. */
export function enlarge(source: Canvas, factor: number): Canvas {
  const { width, height } = source;
  const at = (x: number, y: number, channel: number): number => {
    const [column, row] = [Math.min(width - 1, Math.max(0, x)), Math.min(height - 1, Math.max(0, y))];
    return source.pixels[(row * width + column) * 3 + channel] ?? 0;
  };
  return new Canvas(width * factor, height * factor, (x, y) => {
    const [u, v] = [(x + 0.5) / factor - 0.5, (y + 0.5) / factor - 0.5];
    const [column, row] = [Math.floor(u), Math.floor(v)];
    const [across, down] = [weights(u - column), weights(v - row)];
    const channel = (index: number): number => {
      let sum = 0;
      for (const [dy, weightY] of down.entries()) {
        for (const [dx, weightX] of across.entries()) {
          sum += weightX * weightY * at(column + dx - 1, row + dy - 1, index);
        }
      }
      return Math.min(1, Math.max(0, sum));
    };
    return [channel(0), channel(1), channel(2)] as Colour;
  });
}

function weights(t: number): number[] {
  return [
    -0.5 * t + t ** 2 - 0.5 * t ** 3,
    1 - 2.5 * t ** 2 + 1.5 * t ** 3,
    0.5 * t + 2 * t ** 2 - 1.5 * t ** 3,
    -0.5 * t ** 2 + 0.5 * t ** 3,
  ];
}

/** Swaps left and right. */
export function mirror(source: Canvas): Canvas {
  const { width, height, pixels } = source;
  return new Canvas(width, height, (x, y) => {
    const at = (y * width + width - 1 - x) * 3;
    return [pixels[at], pixels[at + 1], pixels[at + 2]] as unknown as Colour;
  });
}
