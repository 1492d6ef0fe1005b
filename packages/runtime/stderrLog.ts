import { plainText } from "./plainText.ts";
import { withoutUrlSecrets } from "./withoutUrlSecrets.ts";

/** The most characters of one value, because a value may come from a stranger. */
const MAX_VALUE_LENGTH = 2_000;

/** Writes one line to the log: a sentence, then its fields. */
export type Log = (sentence: string, fields?: { [key: string]: unknown }) => void;

/** Writes `2026-01-31T12:00:00.000Z A sentence. key=value …` to standard error; standard output is for results. */
export const stderrLog: Log = (sentence, fields = {}) => {
  const pairs = Object.entries(fields).map(([key, value]) => ` ${key}=${printable(value)}`);
  process.stderr.write(`${new Date().toISOString()} ${sentence}${pairs.join("")}\n`);
};

/** A value that is a URL stays whole. A URL inside a text may be an RPC's, in the message of an error. */
function printable(value: unknown): string {
  const whole = value instanceof Error ? value.message : String(value);
  const text = (/\s/.test(whole) ? withoutUrlSecrets(whole) : whole).slice(0, MAX_VALUE_LENGTH);
  return plainText(/^[^\s"=]+$/.test(text) ? text : JSON.stringify(text));
}
