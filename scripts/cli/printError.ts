import { styleText } from "node:util";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { plainLines, plainText } from "tallystick-runtime/plainText";
import { withoutUrlSecrets } from "tallystick-runtime/withoutUrlSecrets";
import { NoSellerError, SellerSchemaError } from "tallystick-sdk/errors";
import { ServiceError } from "tallystick-sdk/requestService";

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
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return `${label} ${plainLines(withoutUrlSecrets(text))}`;
  }
  // A node or a seller may have written a part of these texts. Such a text must not begin a line of its own.
  const isForeign = error instanceof ServiceError || error instanceof SellerSchemaError;
  const plain = isForeign ? plainText : plainLines;
  const lines = [`${label} ${plain(error.message)}`];
  if (error instanceof InvalidInputError) {
    for (const issue of error.issues) lines.push(`  ${plainText(`${issue.field}: ${issue.message}`)}`);
  } else if (error.field !== undefined) {
    lines.push(`  ${dim("field:")} ${plainText(error.field)}`);
  }
  if (error instanceof NoSellerError && error.paymentModes.length > 0)
    lines.push(`  ${dim("payment modes offered:")} ${plainText(error.paymentModes.join(", "))}`);
  if (error.hint !== undefined) lines.push(`  ${dim("hint:")} ${plain(error.hint)}`);
  lines.push(`  ${dim("code:")} ${plainText(error.code)}`);
  if (process.env.TALLYSTICK_DEBUG) lines.push(dim(plainLines(error.stack ?? "")));
  return lines.join("\n");
}
