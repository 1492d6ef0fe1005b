import { styleText } from "node:util";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";

/**
 * Prints an error for a person: a sentence, the fields that are wrong, what to do next, and the code to
 * search for. Unexpected errors are printed with their stack.
 */
export function printError(error: unknown, write = (text: string) => process.stderr.write(text)): void {
  write(`${describeError(error)}\n`);
}

/** The text of `printError`, without the last newline. */
export function describeError(error: unknown): string {
  const stream = process.stderr;
  const label = styleText(["red", "bold"], "error:", { stream });
  const dim = (text: string) => styleText("dim", text, { stream });
  if (!(error instanceof TallystickError)) {
    return `${label} ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
  }
  const lines = [`${label} ${error.message}`];
  if (error instanceof InvalidInputError) {
    for (const issue of error.issues) lines.push(`  ${issue.field}: ${issue.message}`);
  } else if (error.field !== undefined) {
    lines.push(`  ${dim("field:")} ${error.field}`);
  }
  if (error.hint !== undefined) lines.push(`  ${dim("hint:")} ${error.hint}`);
  lines.push(`  ${dim("code:")} ${error.code}`);
  if (process.env.TALLYSTICK_DEBUG) lines.push(dim(error.stack ?? ""));
  return lines.join("\n");
}
