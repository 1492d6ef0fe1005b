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

/** `image.generate.illustration.png`: a drawing as PNG. */
export const imageGenerateIllustrationPng = defineCapability({
  id: "image.generate.illustration.png",
  summary: "a drawing, as PNG",
  input: {
    type: "object",
    properties: {
      prompt: { type: "string", minLength: 1, maxLength: 4000 },
      style: { type: "string", maxLength: 100 },
      width: { type: "integer", minimum: 64, maximum: 2048 },
      height: { type: "integer", minimum: 64, maximum: 2048 },
    },
    required: ["prompt", "width", "height"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: { image_b64: imageSchema },
    required: ["image_b64"],
  },
  inputRules: sizeRules,
  checks: {
    is_valid_png: isValidPng(),
    matches_dimensions: matchesDimensions(),
    is_not_blank: isNotBlank(),
    is_not_noise: isNotNoise(),
    has_shapes: measured(
      ({ edges, colours }) => edges >= 0.004 && colours >= 3,
      "has no shapes in it, or no colours",
    ),
    is_finished: measured(
      ({ emptyBand, inkWidth, inkHeight }) => emptyBand <= 0.6 && inkWidth >= 0.2 && inkHeight >= 0.2,
      "is empty over most of its height",
    ),
  },
});
