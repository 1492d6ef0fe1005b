import { plainJson, plainText } from "tallystick-runtime/plainText";

/**
 * Prints a result: one line of JSON for programs, lines for people. Strangers wrote a part of it, so no text in it controls
 * the terminal or begins a line of its own.
 */
export function printResult(
  { json }: { json?: boolean | undefined },
  value: unknown,
  lines: () => readonly string[],
): void {
  const shown = json ? plainJson(value) : lines().map(plainText).join("\n");
  process.stdout.write(`${shown}\n`);
}
