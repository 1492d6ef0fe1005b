import { readFileSync } from "node:fs";

/** The text of a golden vector file. */
export function readVectorText(name: string): string {
  return readFileSync(new URL(name, import.meta.url), "utf8");
}

/** The parsed JSON of a golden vector file. */
export function readVectors<T>(name: string): T {
  return JSON.parse(readVectorText(name)) as T;
}
