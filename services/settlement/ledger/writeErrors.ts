import { TallystickError } from "tallystick-protocol/errors";
import { diskReason } from "./diskReason.ts";

/** The error of a refused write: 503, and nothing of it is stored. */
export function unavailable(message: string, cause?: unknown): TallystickError {
  return new TallystickError({
    code: "ledger_unavailable",
    message,
    hint: "Nothing of this was written. The operator checks the disk (space, permissions, health).",
    cause,
  });
}

/** The error of a write that the disk did not accept: 503, and nothing of it is stored. */
export function refusal(cause: unknown): TallystickError {
  return unavailable(`The ledger cannot be written: ${diskReason(cause)}.`, cause);
}

/** The disk failed during a write, and perhaps it has the write. Nobody knows before the next start. */
export function perhapsWritten(cause: unknown): TallystickError {
  return new TallystickError({
    code: "outcome_unknown",
    message: `The disk failed while this was written: ${diskReason(cause)}. Perhaps it is settled.`,
    hint: "Wait until the service answers again. Then send a record again: the same record gets the same entry. For a proposal ask GET /v1/status/{task_id} first.",
    cause,
  });
}

/** The shared store has the write, but the disk of this machine failed. */
export function committedElsewhere(cause: unknown): TallystickError {
  return new TallystickError({
    code: "outcome_unknown",
    message: `The ledger cannot be written here: ${diskReason(cause)}. What you sent is settled: the shared store has it.`,
    hint: "Another machine continues the ledger. Send a record again: the same record gets the same entry. For a proposal ask GET /v1/status/{task_id} first.",
    cause,
  });
}

/** The entry is on disk, but this process could not take it into its memory. The next start reads it. */
export function notTaken(cause: unknown): TallystickError {
  return new TallystickError({
    code: "outcome_unknown",
    message: `The ledger cannot continue here: ${diskReason(cause)}. What you sent is settled: the ledger's file has it.`,
    hint: "Send a record again: the same record gets the same entry. For a proposal ask GET /v1/status/{task_id} first. The operator starts the service again.",
    cause,
  });
}

/** The ledger has the review, but the disk did not accept the entry of the release. */
export function notReleased(cause: TallystickError): TallystickError {
  return new TallystickError({
    code: "outcome_unknown",
    message: `The review is settled, and what it releases is not settled yet. ${cause.message}`,
    hint: "Send the same review again when the disk accepts writes. Without that, the next release or the next start settles it.",
    cause,
  });
}

/** Whether nobody knows yet whether something was written. */
export function isOutcomeUnknown(error: unknown): error is TallystickError {
  return error instanceof TallystickError && error.code === "outcome_unknown";
}
