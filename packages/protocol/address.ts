import * as z from "zod";
import type { Hex } from "./hex.ts";

/** A wallet or contract address, lower case. An AgentID is one of these (SHP §4.1). */
export type Address = Hex;

export const ZERO_ADDRESS: Address = `0x${"0".repeat(40)}`;

/** AgentID grammar: `0x` and 40 lower-case hex digits (SHP §4.1). Checksummed spellings are refused. */
export const addressSchema = z
  .string()
  .regex(/^0x[0-9a-f]{40}$/, "must be 0x and 40 lower-case hex digits")
  .transform((value) => value as Address);
