import { TallystickError } from "tallystick-protocol/errors";
import { plainText } from "tallystick-runtime/plainText";
import { withoutUrlSecrets } from "tallystick-runtime/withoutUrlSecrets";
import { LogSourceError } from "./logPort/errors.ts";

/** The codes of errors whose messages are in our own words: they quote nothing that a stranger wrote. */
const OWN: ReadonlySet<string> = new Set([
  "chain_unavailable",
  "segment_contradiction",
  "segment_gap",
  "segment_too_large",
  "segment_unavailable",
  "transfers_missing",
]);

/**
 * Why the indexer waits, for strangers: the API shows it. What a source, an RPC or a ledger said is not in it, and
 * neither is an address that may contain a key.
 */
export function publicReason(error: unknown): string {
  if (error instanceof LogSourceError) return `${error.ownWords} (${error.code})`;
  if (!(error instanceof TallystickError)) return "it failed unexpectedly: the operator's log says why";
  if (!OWN.has(error.code)) return `it failed: the operator's log says why (${error.code})`;
  return `${error.message} (${error.code})`;
}

/** The longest part of an error that is logged. */
const MAX_LENGTH = 500;

/** Why the indexer waits, for the operator's log: the words of the error and of its cause. */
export function loggedReason(error: unknown): string {
  const { cause } = Object(error) as { cause?: unknown };
  const words = [error, ...(cause === undefined ? [] : [cause])].map((it) => {
    const text = it instanceof Error ? it.message : String(it);
    return plainText(withoutUrlSecrets(text.slice(0, MAX_LENGTH)));
  });
  return words.join(": ");
}
