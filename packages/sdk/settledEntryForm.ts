import { isLedgerHash } from "tallystick-protocol/ledger/entry";
import * as z from "zod";

/** The answer of a service that settled something, or that gives the head of its ledger: at least the entry's hash. */
export const settledEntryForm = z.looseObject({ hash: z.string().refine(isLedgerHash) });
