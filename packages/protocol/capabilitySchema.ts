import * as z from "zod";
import { CAPABILITY_LENGTHS, CAPABILITY_PATTERN } from "./capability.ts";

const { least, most } = CAPABILITY_LENGTHS;

/** A capability id by the grammar of SHP §5.1. {@link isCapability} checks the same without a schema. */
export const capabilitySchema = z
  .string()
  .min(least, `must have at least ${least} characters`)
  .max(most, `must have at most ${most} characters`)
  .regex(CAPABILITY_PATTERN, "must be lower-case segments joined by dots, like text.translate.en.it");
