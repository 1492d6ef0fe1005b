import { BadAnswerError } from "./errors.ts";
import { type Spot, shown } from "./tokenLogs.ts";

/** Reads an object of an answer. */
export function objectOf(value: unknown, { source, field }: Spot): { [key: string]: unknown } {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new BadAnswerError(source, field, `must be an object, not ${shown(value)}`);
}

/** Reads a whole number that is written as a JSON number, not as hex. */
export function naturalOf(value: unknown, { source, field }: Spot): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw new BadAnswerError(source, field, `must be a whole number, not ${shown(value)}`);
}
