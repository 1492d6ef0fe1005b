import { appendFileSync, readFileSync } from "node:fs";
import { TallystickError } from "tallystick-protocol/errors";
import type { Environment } from "./processEnvironment.ts";

/** Settings as lines of a `.env` file. */
export function linesOf(settings: Environment): string {
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

/**
 * Adds settings to the end of a `.env` file.
 *
 * @throws TallystickError `no_such_file`
 */
export function saveSettings(file: string, settings: Environment): void {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    throw new TallystickError({
      code: "no_such_file",
      message: `The settings cannot be added to ${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
      hint: "Copy .env.example to .env first, and fill in what you need.",
      cause,
    });
  }
  const lines = linesOf(settings);
  if (lines !== "") appendFileSync(file, text === "" || text.endsWith("\n") ? lines : `\n${lines}`);
}
