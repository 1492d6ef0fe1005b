import * as z from "zod";

/** The hash of a ledger entry, as the ledger writes it: 64 lower-case hex digits without `0x`. */
export const entryHashSchema = z.string().regex(/^[0-9a-f]{64}$/, "must be 64 lower-case hex digits");
