import * as z from "zod";
import type { Hex } from "./hex.ts";

/** 32 bytes, as `0x` and 64 lower-case hex digits. */
export const hash32Schema = z
  .string()
  .regex(/^0x[0-9a-f]{64}$/, "must be 0x and 64 lower-case hex digits")
  .transform((text) => text as Hex);
