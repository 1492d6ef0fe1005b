import { InvalidInputError } from "../errors.ts";
import { formatVerifierKey, type NoteVerifierKey, parseVerifierKey } from "./signedNote.ts";

/** A ledger's key, with the start and the end of its use: unix seconds, undefined if unknown. */
export type DatedVerifierKey = NoteVerifierKey & { from?: number; until?: number };

/** The most keys that a ledger has at one time: the present key and the next one. */
const MAX_KEYS = 2;

/** The longest line of a list of keys, in characters. */
const MAX_LINE_LENGTH = 1_000;

/**
 * A ledger's verifier keys as `GET /v1/ledger/key` gives them: a `vkey` on each line (C2SP signed-note). While
 * one key replaces another, `from=` and `until=` follow each of them. A ledger with one key has the line of
 * that key alone.
 */
export function formatVerifierKeys(keys: readonly DatedVerifierKey[]): string {
  const time = (name: string, seconds: number | undefined): string =>
    seconds === undefined ? "" : ` ${name}=${new Date(seconds * 1000).toISOString().replace(".000Z", "Z")}`;
  return keys
    .map((key) => `${formatVerifierKey(key)}${time("from", key.from)}${time("until", key.until)}\n`)
    .join("");
}

/**
 * Reads a list of verifier keys, the present one first. A note is valid if any of them signed it.
 *
 * @throws InvalidInputError naming `field`
 */
export function parseVerifierKeys(text: string, field = "key"): DatedVerifierKey[] {
  const refuse = (message: string): never => {
    throw new InvalidInputError({ issues: [{ field, message }] });
  };
  if (text.length > MAX_KEYS * (MAX_LINE_LENGTH + 1)) refuse(`must be at most ${MAX_KEYS} verifier keys`);
  const lines = text.trimEnd().split("\n");
  if (lines.length > MAX_KEYS) refuse(`must be at most ${MAX_KEYS} verifier keys, each on its own line`);
  const keys = lines.map((line): DatedVerifierKey => {
    const match = /^(\S+)(?: from=(\S+))?(?: until=(\S+))?$/.exec(line);
    if (!match) return refuse("must have one verifier key on each line, and after it only from= and until=");
    const [, key = "", from, until] = match;
    return {
      ...parseVerifierKey(key, field),
      ...(from !== undefined && { from: seconds(from) }),
      ...(until !== undefined && { until: seconds(until) }),
    };
  });
  if (keys.some(({ name }) => name !== keys[0]?.name)) refuse("must be keys of one name");
  return keys;

  function seconds(time: string): number {
    const isTime = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}Z$/.test(time);
    const value = isTime ? Date.parse(time) / 1000 : Number.NaN;
    return Number.isNaN(value) ? refuse("must have its times as 2026-01-31T00:00:00Z") : value;
  }
}
