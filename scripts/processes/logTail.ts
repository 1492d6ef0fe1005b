import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { stripVTControlCharacters } from "node:util";

const MAX_BYTES = 16_384;

/** The last lines of a log file, without colours; empty when there is no such file. */
export function logTail(file: string, lines: number): string {
  let descriptor: number;
  try {
    descriptor = openSync(file, "r");
  } catch {
    return "";
  }
  try {
    const { size } = fstatSync(descriptor);
    const length = Math.min(size, MAX_BYTES);
    const buffer = Buffer.alloc(length);
    readSync(descriptor, buffer, 0, length, size - length);
    const text = stripVTControlCharacters(buffer.toString("utf8")).trimEnd();
    return text.split("\n").slice(-lines).join("\n");
  } finally {
    closeSync(descriptor);
  }
}
