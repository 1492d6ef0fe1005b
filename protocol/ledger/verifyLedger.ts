import { InvalidInputError, TallystickError } from "../errors.ts";
import { dumpsPythonJson, type PyJson, parsePythonJson } from "../json/pythonJson.ts";
import { leafHash } from "../merkle/hash.ts";
import { MerkleFrontier } from "../merkle/merkleFrontier.ts";
import {
  checkHashes,
  entryFromPyJson,
  entryLine,
  GENESIS_HASH,
  hashOfEntryBytes,
  type LedgerEntry,
} from "./entry.ts";
import { type HashText, hashTextByNoble } from "./hashText.ts";
import { verifyCanonicalLine } from "./verifyCanonicalLine.ts";

const encoder = new TextEncoder();

/** A line of a ledger is wrong. `line` counts from 1; `reason` says what is wrong with it. */
export class LedgerLineError extends TallystickError {
  readonly line: number;
  readonly reason: string;

  constructor(line: number, reason: string, cause?: unknown) {
    super({
      code: "ledger_line",
      message: `line ${line}: ${reason}`,
      hint: "The ledger was changed after it was written, or damaged. Restore it from a copy whose head is anchored.",
      details: { line },
      cause,
    });
    this.line = line;
    this.reason = reason;
  }
}

/** What a good ledger comes to: entries, hash of the last one, RFC 6962 root over the canonical lines. */
export type VerifiedLedger = { size: number; head: string; root: Uint8Array };

export type VerifyLedgerOptions = {
  /** Hash of the entry before the first line; {@link GENESIS_HASH} when the lines begin the ledger. */
  parentHash?: string;
  /** Index of the first line's entry in the ledger, from 0: a segment's errors then count the ledger's own lines. */
  firstIndex?: number;
  /**
   * Which lines pass. `canonical` (default): only Python's `json.dumps(entry, sort_keys=True)`, byte for byte.
   * `python`: also `json.dumps(entry)`, whose keys stand in another order; hash and leaf are those of the canonical line.
   */
  form?: "canonical" | "python";
  /** How lines are hashed; in plain JavaScript unless the caller has something faster. */
  hashText?: HashText;
  /** Called for every entry after it was checked. */
  onEntry?: (entry: LedgerEntry, line: string, leafHash: Uint8Array) => void;
};

/**
 * Checks one line of a ledger completely: JSON, fields, form, parent and hash.
 *
 * @param lineNumber from 1, for the error
 * @returns the entry, its canonical line and its Merkle leaf
 * @throws LedgerLineError
 */
export function verifyLedgerLine(
  text: string,
  parentHash: string,
  lineNumber: number,
  form: "canonical" | "python" = "canonical",
  hashText: HashText = hashTextByNoble,
): { entry: LedgerEntry; line: string; leafHash: Uint8Array } {
  try {
    const value = parsePythonJson(text);
    const good = verifyCanonicalLine(text, parentHash, hashText);
    if (good) return { entry: entryFromPyJson(value), line: text, leafHash: good.leafHash };
    const entry = entryFromPyJson(value);
    const line = entryLine(entry);
    if (line !== text && !(form === "python" && isInPythonForm(value, text))) {
      throw new TallystickError({ code: "not_canonical", message: notCanonical(line, text) });
    }
    const bytes = encoder.encode(line);
    checkHashes(entry, parentHash, hashOfEntryBytes(bytes));
    return { entry, line, leafHash: leafHash(bytes) };
  } catch (error) {
    if (!(error instanceof TallystickError)) throw error;
    const reason =
      error instanceof InvalidInputError
        ? error.issues
            .map(({ field, message }) => `${field === "" ? "the line" : field} ${message}`)
            .join("; ")
        : error.message;
    throw new LedgerLineError(lineNumber, reason, error);
  }
}

function isInPythonForm(value: PyJson, text: string): boolean {
  return dumpsPythonJson(value, { sortKeys: false }) === text;
}

function notCanonical(line: string, text: string): string {
  let at = 0;
  while (at < line.length && line.charCodeAt(at) === text.charCodeAt(at)) at++;
  return `it says what its hash covers, but not in the canonical form (column ${at + 1})`;
}

/**
 * Verifies the lines of a ledger, or of a segment of one, one after the other in O(log n) memory: the form of each
 * line, the chain of hashes, and the Merkle root.
 *
 * @param lines without their newlines
 * @throws LedgerLineError for the first bad line
 */
export async function verifyLedgerLines(
  lines: Iterable<string> | AsyncIterable<string>,
  options: VerifyLedgerOptions = {},
): Promise<VerifiedLedger> {
  const { parentHash = GENESIS_HASH, firstIndex = 0, form = "canonical", onEntry } = options;
  const { hashText = hashTextByNoble } = options;
  const frontier = new MerkleFrontier();
  let head = parentHash;
  const check = (text: string): void => {
    // Nobody wants to see the entries: most lines need not be read into one.
    const good = onEntry ? undefined : verifyCanonicalLine(text, head, hashText);
    if (good) {
      frontier.append(good.leafHash);
      head = good.currentHash;
      return;
    }
    const lineNumber = firstIndex + frontier.size + 1;
    const { entry, line, leafHash } = verifyLedgerLine(text, head, lineNumber, form, hashText);
    frontier.append(leafHash);
    head = entry.currentHash;
    onEntry?.(entry, line, leafHash);
  };
  if (Symbol.iterator in lines) for (const text of lines) check(text);
  else for await (const text of lines) check(text);
  return { size: frontier.size, head, root: frontier.root() };
}
