import type { InputIssue } from "tallystick-protocol/errors";
import type { Check, CheckContext } from "../defineCapability.ts";
import { decodePicture, MAX_IMAGE_BASE64, MAX_PIXELS, type Picture } from "./decodePicture.ts";
import { measurePicture, type PictureMeasures } from "./measurePicture.ts";

type WithImage = { image_b64: string };
type Context<Input> = CheckContext<Input, WithImage>;

/** The schema of an image in an output. */
export const imageSchema = { type: "string", minLength: 1, maxLength: MAX_IMAGE_BASE64 } as const;

/** Refuses a request for a larger picture than can be decoded. */
export function sizeRules({ width, height }: { width: number; height: number }): InputIssue[] {
  if (width * height <= MAX_PIXELS) return [];
  return [{ field: "params.height", message: `must be smaller: at most ${MAX_PIXELS} pixels in all` }];
}

/** The picture of a context's output, decoded once. */
export function pictureOf({ output, once }: CheckContext<unknown, WithImage>): Promise<Picture> {
  return once("picture", () => decodePicture(output.image_b64));
}

/** The measures of a context's picture, taken once. */
export function measuresOf(context: CheckContext<unknown, WithImage>): Promise<PictureMeasures> {
  return context.once("measures", async () => measurePicture(await pictureOf(context)));
}

/** The check that the whole file can be decoded. It tests checksums, the order of chunks and completeness. */
export function isValidPng(): Check<unknown, WithImage> {
  return {
    since: "v0",
    test: async (context) => {
      await pictureOf(context);
      return undefined;
    },
  };
}

/** The check that the picture has the requested size, and the size that the output names. */
export function matchesDimensions(): Check<
  { width?: number; height?: number },
  WithImage & { width?: number; height?: number }
> {
  return {
    since: "v0",
    test: async (context) => {
      const { width, height } = await pictureOf(context);
      const { input, output } = context;
      for (const said of [input, output]) {
        const [wide, high] = [said.width ?? width, said.height ?? height];
        if (wide !== width || high !== height) return `is ${width} × ${height}, not ${wide} × ${high}`;
      }
      return undefined;
    },
  };
}

/** The check that the picture has more than one tone. It replaces the perceptual hash of SHP §8.1. */
export function isNotBlank(): Check<unknown, WithImage> {
  return {
    since: "v0",
    test: async (context) => {
      const { contrast, colours } = await measuresOf(context);
      return contrast < 2 && colours < 4 ? "shows nothing: one tone throughout" : undefined;
    },
  };
}

/** The check that the picture is not noise: neighbouring pixels are similar. */
export function isNotNoise(): Check<unknown, WithImage> {
  return {
    since: "v1",
    test: async (context) => {
      const { roughness } = await measuresOf(context);
      if (roughness <= 0.8) return undefined;
      return `is noise: neighbouring pixels differ by ${roughness.toFixed(2)} times the contrast`;
    },
  };
}

/** Makes a check of the measures. If `holds` is false, the check fails with the complaint. */
export function measured(
  holds: (measures: PictureMeasures, context: Context<unknown>) => boolean,
  complaint: string,
): Check<unknown, WithImage> {
  return {
    since: "v1",
    test: async (context) => (holds(await measuresOf(context), context) ? undefined : complaint),
  };
}
