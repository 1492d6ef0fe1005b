import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { plainLines } from "../plainText.ts";
import { withoutUrlSecrets } from "../withoutUrlSecrets.ts";

/** Ends the process because of an error. It says on stderr what happened, every wrong field, and what to do next. */
export function endWithError(error: unknown): never {
  process.stderr.write(errorText(error));
  process.exit(1);
}

/**
 * The text that a process prints about the error that ends it. An unexpected error is printed with its stack. A node or an
 * RPC may have written a part of it, so it cannot control a terminal, and has no key of an RPC's URL.
 */
export function errorText(error: unknown): string {
  return plainLines(withoutUrlSecrets(textOf(error)));
}

function textOf(error: unknown): string {
  if (!(error instanceof TallystickError))
    return `error: ${String(error instanceof Error ? error.stack : error)}\n`;
  const others = error instanceof InvalidInputError ? error.issues.slice(1) : [];
  const lines = [error.message, ...others.map(({ field, message }) => `${field}: ${message}`)];
  const hint = error.hint === undefined ? "" : `hint: ${error.hint}\n`;
  return `${lines.map((line) => `error: ${line}\n`).join("")}${hint}`;
}
