import { TallystickError } from "tallystick-protocol/errors";
import {
  isNoteSignedBy,
  type NoteVerifierKey,
  parseVerifierKey,
  type SignedNote,
} from "tallystick-protocol/note/signedNote";
import {
  parseTrustPolicy,
  policyObjection,
  type TrustPolicy,
  witnessesOf,
} from "tallystick-protocol/note/trustPolicy";
import { type Check, fails, holds, isOpen } from "./check.ts";

/**
 * Keys that the reader trusts: keys of logs, with a policy of witnesses if the reader gave one, and bare keys
 * of nodes that sign reports.
 */
export type BelievedKeys = {
  logs: readonly NoteVerifierKey[];
  policy: TrustPolicy | null;
  reports: readonly string[];
};

/** The longest text of keys that is read, in characters. */
const MAX_LENGTH = 200_000;

/**
 * Reads the reader's keys: on each line a `vkey` or the 64 hex digits of a report's key, or a whole C2SP
 * tlog-policy.
 *
 * @throws TallystickError when a line is none of these
 */
export function readKeys(text: string): BelievedKeys {
  const whole = text.slice(0, MAX_LENGTH);
  if (/^[ \t]*quorum[ \t]/m.test(whole)) {
    const policy = parseTrustPolicy(whole);
    return { logs: policy.logs.map(({ key }) => key), policy, reports: [] };
  }
  const words = whole.split(/\s+/).filter((it) => it !== "");
  const isReport = (word: string) => /^(?:0x)?[0-9a-f]{64}$/i.test(word);
  return {
    logs: words.filter((it) => !isReport(it)).map((it) => parseVerifierKey(it, "key")),
    policy: null,
    reports: words.filter(isReport).map((it) => it.toLowerCase().replace(/^0x/, "")),
  };
}

/** Checks the signatures of a checkpoint by the keys that the reader trusts. */
export function signatureChecks(note: SignedNote, origin: string, { logs, policy }: BelievedKeys): Check[] {
  if (logs.length === 0)
    return [
      isOpen(
        "Who signed it",
        `It says ${origin}. To check it, give the key of that log. Get the key from another source.`,
      ),
    ];
  if (policy !== null) {
    const objection = policyObjection(note, origin, policy);
    if (objection !== undefined) return [fails("It is not what the policy asks for", objection)];
    const witnesses = [...witnessesOf(note, policy)].map(([name]) => name);
    return [
      holds("A log of the policy signed it", origin),
      witnesses.length === 0
        ? isOpen("No witness of the policy cosigned it", "The policy asks for none.")
        : holds("Its quorum of witnesses cosigned it", witnesses.join(", ")),
    ];
  }
  return logs.some((key) => key.name === origin && isNoteSignedBy(note, key))
    ? [holds("A key that you gave signed it", origin)]
    : [fails("None of the keys that you gave signed it", `It says that it is of ${origin}.`)];
}

/** The finding for a file that cannot be read. An error that is not a TallystickError is thrown again. */
export function unreadable(title: string, text: string, error: unknown): { title: string; checks: Check[] } {
  if (!(error instanceof TallystickError)) throw error;
  return { title, checks: [fails(text, error.message)] };
}
