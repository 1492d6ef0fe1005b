import { InvalidInputError, TallystickError } from "../errors.ts";

/**
 * The result of one check. `holds` is null when the check was not made; then `detail` says why. `field` is the checked
 * field of the file, or the fact on the chain that was compared with the file.
 */
export type Finding = { field: string; holds: boolean | null; detail: string };

/** A check that was made. */
export function finding(field: string, holds: boolean, right: string, wrong: string): Finding {
  return { field, holds, detail: holds ? right : wrong };
}

/** A check that was not made, and why. */
export function notChecked(field: string, detail: string): Finding {
  return { field, holds: null, detail };
}

/** Turns an error of this project into findings about the file. Any other error is thrown again. */
export function problemsOf(error: unknown, field: string): Finding[] {
  const wrong = (at: string, detail: string): Finding => ({ field: at, holds: false, detail });
  if (error instanceof InvalidInputError)
    return error.issues.map((issue) => wrong(issue.field === "" ? field : issue.field, issue.message));
  if (error instanceof TallystickError) return [wrong(field, error.message)];
  throw error;
}
