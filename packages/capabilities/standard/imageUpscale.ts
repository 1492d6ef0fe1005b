import { decodePicture, MAX_PIXELS, type Picture, pictureSize } from "../checks/decodePicture.ts";
import { imageSchema, isNotBlank, isValidPng, pictureOf } from "../checks/pictureChecks.ts";
import { defineCapability } from "../defineCapability.ts";
import type { FamilyValue } from "../taxonomy.ts";

const FACTORS: { readonly [factor in FamilyValue<"image.upscale", "factor">]: number } = { "2x": 2, "4x": 4 };

/**
 * The largest mean difference, out of 255, between the picture and its enlargement, when the enlargement is reduced
 * again.
 */
const MAX_DIFFERENCE = 14;

/** `image.upscale.2x` and `.4x`: the same picture, larger. */
export const imageUpscale = defineCapability({
  id: "image.upscale",
  summary: "the same picture in 2 or 4 times its size, as PNG",
  input: {
    type: "object",
    properties: { image_b64: imageSchema },
    required: ["image_b64"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: { image_b64: imageSchema },
    required: ["image_b64"],
  },
  inputRules: ({ image_b64 }, { factor }) => {
    const field = "params.image_b64";
    try {
      const { width, height } = pictureSize(image_b64);
      if (width * height * factorOf(factor) ** 2 <= MAX_PIXELS) return [];
      return [{ field, message: `would have more than ${MAX_PIXELS} pixels afterwards` }];
    } catch (error) {
      return [{ field, message: (error as Error).message }];
    }
  },
  checks: {
    is_valid_png: isValidPng(),
    has_the_asked_size: {
      since: "v0",
      test: async (context) => {
        const { width, height } = await pictureOf(context);
        const source = pictureSize(context.input.image_b64);
        const factor = factorOf(context.parts.factor);
        const fits = width === factor * source.width && height === factor * source.height;
        return fits ? undefined : `is ${width} × ${height} after ${source.width} × ${source.height}`;
      },
    },
    is_not_blank: isNotBlank(),
    shows_the_same: {
      since: "v1",
      test: async (context) => {
        const source = await decodePicture(context.input.image_b64);
        const difference = meanDifference(source, await pictureOf(context), factorOf(context.parts.factor));
        return difference <= MAX_DIFFERENCE
          ? undefined
          : `differs from the original by ${difference.toFixed(0)}`;
      },
    },
  },
});

function factorOf(factor: string | undefined): number {
  return FACTORS[factor as keyof typeof FACTORS] ?? 2;
}

/**
 * The mean difference between the source's pixels and the averages of their enlarged blocks, on a grid of
 * about 16,384 pixels.
 */
function meanDifference(source: Picture, large: Picture, factor: number): number {
  const step = Math.max(1, Math.ceil(Math.sqrt((source.width * source.height) / 16_384)));
  let [total, count] = [0, 0];
  for (let y = 0; y < source.height; y += step) {
    for (let x = 0; x < source.width; x += step) {
      const sums = [0, 0, 0];
      for (let dy = 0; dy < factor; dy++) {
        for (let dx = 0; dx < factor; dx++) {
          addChannels(sums, large.rgbAt(x * factor + dx, y * factor + dy), 1);
        }
      }
      const block = factor * factor;
      addChannels(sums, source.rgbAt(x, y), -block);
      total += sums.reduce((sum, channel) => sum + Math.abs(channel) / block, 0) / 3;
      count++;
    }
  }
  return total / count;
}

function addChannels(sums: number[], rgb: number, times: number): void {
  for (const [at, shift] of [16, 8, 0].entries()) {
    sums[at] = (sums[at] ?? 0) + times * ((rgb >> shift) & 255);
  }
}
