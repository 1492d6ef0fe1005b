import { TallystickError } from "tallystick-protocol/errors";

/** Another process has written at our position, so this one stops. */
export function takenOver(position: number): TallystickError {
  return new TallystickError({
    code: "ledger_taken_over",
    message: `Another process writes the ledger: entry ${position} is not from this process.`,
    hint: "Your request was not written. This process ends. When it is started again, it waits as the stand-by.",
  });
}

/** Another process has the lease, so this one stops. */
export function leaseLost(): TallystickError {
  return new TallystickError({
    code: "ledger_taken_over",
    message: "Another process has the ledger's lease.",
    hint: "This process ends. When it is started again, it waits as the stand-by. This process was probably paused, or had no connection to the database, for longer than LEDGER_LEASE_SECONDS.",
  });
}

/** This process could not write or anchor for a long time, and another one can. */
export function handedOver(reason: TallystickError): TallystickError {
  return new TallystickError({
    code: "ledger_handed_over",
    message: `This machine handed the ledger over to its stand-by: ${reason.message}`,
    hint: `This process ends. When it is started again, it waits as the stand-by.${reason.hint ? ` ${reason.hint}` : ""}`,
    cause: reason,
  });
}

export function storeUnavailable(cause: unknown): TallystickError {
  return new TallystickError({
    code: "store_unavailable",
    message: `The shared store does not answer: ${reasonOf(cause)}.`,
    hint: "Check LEDGER_STORE_URL and the database. A request that got no answer is perhaps settled. Send it again: the same record gets the same entry.",
    cause,
  });
}

/**
 * A caller has waited long enough for the store, or this process stops asking it for a reason of its own. The store
 * perhaps has what was sent.
 */
export function outcomeUnknown(cause?: unknown): TallystickError {
  return new TallystickError({
    code: "outcome_unknown",
    message: "The shared store has not answered yet whether this is settled.",
    hint: "Send it again: the same record gets the same entry. For a proposal ask GET /v1/status/{task_id} first.",
    details: { headers: { "retry-after": "5" } },
    cause,
  });
}

export function storeEmpty(size: number): TallystickError {
  return new TallystickError({
    code: "store_empty",
    message: `The shared store has no entry of this ledger, which has ${size} entries here.`,
    hint: "The database was lost, or another one is set. Restore it. If this is the newest copy of the ledger, run: tallystick ledger share",
  });
}

export function storeBehind(size: number, end: number): TallystickError {
  return new TallystickError({
    code: "store_behind",
    message: `The shared store has ${end} entries of this ledger, but this machine's file has ${size}.`,
    hint: "The database was restored from an older copy. Restore the newest one. If this is the newest copy of the ledger, run: tallystick ledger share",
  });
}

export function storeContradicts(position: number, cause?: unknown): TallystickError {
  return new TallystickError({
    code: "store_contradicts",
    message: `The shared store and this machine's file have different entries before entry ${position}.`,
    hint: "One of them was written without the other. Compare both with the chain (tallystick verify-ledger) before you remove one of them.",
    cause,
  });
}

export function storeLacksRows(size: number): TallystickError {
  return new TallystickError({
    code: "store_lacks_rows",
    message: `The shared store no longer has, or never had, the entries from ${size} on.`,
    hint: "Copy the ledger's folder from the machine that writes, or run: tallystick ledger pull --from URL. Then start again.",
  });
}

export function foreignRow(what: string): TallystickError {
  return new TallystickError({
    code: "store_foreign_row",
    message: `${what} in the shared store was not written by a machine of this ledger.`,
    hint: "Check that LEDGER_STORE_KEY is the same on every machine. If it is, a stranger writes into the database: find out who, before you remove the row.",
  });
}

/** Strangers read this reason, and the text of an error may name the database's host or user. So only its code is told. */
function reasonOf(cause: unknown): string {
  if (typeof cause === "string") return cause;
  const { code } = Object(cause) as { code?: unknown };
  return typeof code === "string" ? code : "the connection is broken or too slow";
}
