import * as z from "zod";
import type { Hex } from "../hex.ts";

/** How a signed body names its ledger: by the id on chain, or `local` if the ledger has no chain. */
export type LedgerName = Hex | "local";

/** Whether a value names a ledger: `0x` and 64 lower-case hex digits, or `local`. */
export function isLedgerName(value: unknown): value is LedgerName {
  return typeof value === "string" && /^(?:0x[0-9a-f]{64}|local)$/.test(value);
}

/** Reads a {@link LedgerName}. */
export const ledgerNameSchema = z
  .string()
  .refine(isLedgerName, "must be a ledger's id (0x and 64 lower-case hex digits), or local");
