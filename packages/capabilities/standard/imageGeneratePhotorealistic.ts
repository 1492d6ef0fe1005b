import {
  imageSchema,
  isNotBlank,
  isNotNoise,
  isValidPng,
  matchesDimensions,
  measured,
  sizeRules,
} from "../checks/pictureChecks.ts";
import { defineCapability } from "../defineCapability.ts";

/** `image.generate.photorealistic.png`: a picture that could be a photograph (SHP §8.1). */
export const imageGeneratePhotorealistic = defineCapability({
  id: "image.generate.photorealistic.png",
  summary: "a picture that could be a photograph, as PNG",
  input: {
    type: "object",
    properties: {
      prompt: { type: "string", minLength: 1, maxLength: 4000 },
      width: { type: "integer", minimum: 64, maximum: 2048 },
      height: { type: "integer", minimum: 64, maximum: 2048 },
      seed: { type: "integer", minimum: 0 },
    },
    required: ["prompt", "width", "height"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: {
      image_b64: imageSchema,
      width: { type: "integer", minimum: 1 },
      height: { type: "integer", minimum: 1 },
    },
    required: ["image_b64", "width", "height"],
  },
  inputRules: sizeRules,
  checks: {
    is_valid_png: isValidPng(),
    matches_dimensions: matchesDimensions(),
    is_not_blank: isNotBlank(),
    is_not_noise: isNotNoise(),
    has_gradation: measured(
      ({ colours, commonestEight }) => colours >= 24 && commonestEight <= 0.9,
      "has the few flat colours of a drawing",
    ),
    has_detail: measured(({ edges }) => edges >= 0.001, "has no edges: a gradient"),
    is_finished: measured(({ emptyBand }) => emptyBand <= 0.4, "is empty over a large part of its height"),
  },
});
