import { InvalidInputError, TallystickError } from "../errors.ts";
import { dumpsPythonJson, type PyJson, parsePythonJson } from "../json/pythonJson.ts";
import { lineLeafHash } from "../merkle/entryLeafHash.ts";
import { MerkleFrontier } from "../merkle/merkleFrontier.ts";
import { type Sha256, sha256ByNoble } from "../sha256.ts";
import { CanonicalChain } from "./canonicalChain.ts";
import { checkHashes, entryFromPyJson, entryLine, hashOfEntryLine, type LedgerEntry } from "./entry.ts";

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

/** A line without its newline: as text, or as bytes with the text for when it is asked for. */
export type LedgerLine = string | { readonly bytes: Uint8Array; readonly text: string };

/** An entry that was checked, its canonical line and its Merkle leaf. */
export type CheckedEntry = { entry: LedgerEntry; line: string; leafHash: Uint8Array };

export type LedgerChainOptions = {
  /** Hash of the entry before the first line; 64 zeros, the default, when the lines begin the ledger. */
  parentHash?: string;
  /** Index of the first line's entry in the ledger, from 0: a segment's errors then count the ledger's own lines. */
  firstIndex?: number;
  /**
   * Which lines pass. `canonical` (default): only Python's `json.dumps(entry, sort_keys=True)`, byte for byte.
   * `python`: also `json.dumps(entry)`, whose keys stand in another order; hash and leaf are those of the canonical line.
   */
  form?: "canonical" | "python";
  /** How lines are hashed; in plain JavaScript unless the caller has something faster. */
  sha256?: Sha256;
};

/** Checks the lines of a ledger one after the other, each completely: JSON, fields, form, parent and hash. */
export class LedgerChain {
  readonly #canonical: CanonicalChain;
  readonly #form: "canonical" | "python";
  #lines: number;

  constructor(options: LedgerChainOptions = {}) {
    const { parentHash, firstIndex = 0, form = "canonical", sha256 = sha256ByNoble } = options;
    this.#canonical = new CanonicalChain(sha256, parentHash);
    this.#form = form;
    this.#lines = firstIndex;
  }

  /** Hash of the last entry. */
  get head(): string {
    return this.#canonical.head;
  }

  /**
   * Checks the next line, reading it into an entry only when nothing less can tell.
   *
   * @returns its Merkle leaf
   * @throws LedgerLineError
   */
  next(line: LedgerLine): Uint8Array {
    const leafHash = this.#canonical.next(bytesOf(line));
    if (!leafHash) return this.nextEntry(line).leafHash;
    this.#lines++;
    return leafHash;
  }

  /**
   * Checks the next line and reads it.
   *
   * @throws LedgerLineError
   */
  nextEntry(line: LedgerLine): CheckedEntry {
    try {
      const text = typeof line === "string" ? line : line.text;
      const value = parsePythonJson(text);
      const leafHash = this.#canonical.next(bytesOf(line));
      const checked = leafHash
        ? { entry: entryFromPyJson(value), line: text, leafHash }
        : this.#read(value, text);
      this.#lines++;
      return checked;
    } catch (error) {
      if (!(error instanceof TallystickError)) throw error;
      throw new LedgerLineError(this.#lines + 1, reasonOf(error), error);
    }
  }

  /** The slow way: prints what was read, compares and hashes it. */
  #read(value: PyJson, text: string): CheckedEntry {
    const entry = entryFromPyJson(value);
    const line = entryLine(entry);
    if (line !== text && !(this.#form === "python" && isInPythonForm(value, text))) {
      throw new TallystickError({ code: "not_canonical", message: notCanonical(line, text) });
    }
    checkHashes(entry, this.head, hashOfEntryLine(line));
    this.#canonical.head = entry.currentHash;
    return { entry, line, leafHash: lineLeafHash(line) };
  }
}

function bytesOf(line: LedgerLine): Uint8Array | string {
  return typeof line === "string" ? line : line.bytes;
}

function reasonOf(error: TallystickError): string {
  if (!(error instanceof InvalidInputError)) return error.message;
  return error.issues
    .map(({ field, message }) => `${field === "" ? "the line" : field} ${message}`)
    .join("; ");
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
 * @param options.onEntry called for every entry after it was checked
 * @throws LedgerLineError for the first bad line
 */
export async function verifyLedgerLines(
  lines: Iterable<string> | AsyncIterable<string>,
  options: LedgerChainOptions & {
    onEntry?: (entry: LedgerEntry, line: string, leafHash: Uint8Array) => void;
  } = {},
): Promise<VerifiedLedger> {
  const { onEntry } = options;
  const chain = new LedgerChain(options);
  const frontier = new MerkleFrontier(options.sha256);
  for await (const text of lines) {
    if (!onEntry) {
      frontier.append(chain.next(text));
      continue;
    }
    const { entry, line, leafHash } = chain.nextEntry(text);
    frontier.append(leafHash);
    onEntry(entry, line, leafHash);
  }
  return { size: frontier.size, head: chain.head, root: frontier.root() };
}
