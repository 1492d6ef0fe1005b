import { InvalidInputError, TallystickError } from "../errors.ts";
import { dumpsPythonJson, JsonSyntaxError } from "../json/pythonJson.ts";
import { lineLeafHash } from "../merkle/entryLeafHash.ts";
import { MerkleFrontier } from "../merkle/merkleFrontier.ts";
import { type Sha256, sha256ByNoble } from "../sha256.ts";
import { CanonicalChain } from "./canonicalChain.ts";
import { checkHashes, entryLine, hashOfEntryLine, type LedgerEntry, parseEntryLine } from "./entry.ts";

/** An entry of a ledger does not verify. `line` counts from 1; `reason` says what is wrong with it. */
export class LedgerLineError extends TallystickError {
  readonly line: number;
  readonly reason: string;

  constructor(line: number, reason: string, options: { code?: string; hint?: string; cause?: unknown } = {}) {
    super({
      code: options.code ?? "ledger_line",
      message: `line ${line}: ${reason}`,
      hint:
        options.hint ??
        "The ledger was changed after it was written, or damaged. Restore it from a copy whose head is anchored.",
      details: { line },
      cause: options.cause,
    });
    this.line = line;
    this.reason = reason;
  }
}

/** An entry verifies, but its line has another layout and only canonical lines are accepted. */
export class LedgerLayoutError extends LedgerLineError {
  /** @param column the first character that differs from the canonical line, from 1 */
  constructor(line: number, column: number) {
    super(
      line,
      `the entry verifies, but its line is not in the canonical layout (from column ${column} on)`,
      {
        code: "ledger_layout",
        hint: "Its content was not changed. `tallystick ledger import FILE` writes such a ledger in canonical lines.",
      },
    );
  }
}

/** A verified ledger: its number of entries, the hash of the last entry, the RFC 6962 root over the canonical lines. */
export type VerifiedLedger = { size: number; head: string; root: Uint8Array };

/** A line without its newline: a text, or the bytes with their text. `text` may be a getter that decodes the bytes. */
export type LedgerLine = string | { readonly bytes: Uint8Array; readonly text: string };

/** An entry that was checked, its canonical line (even if it was read in another layout) and its Merkle leaf. */
export type CheckedEntry = { entry: LedgerEntry; line: string; leafHash: Uint8Array };

/** Lines in a layout that is not canonical. `firstLine` is the number of the first, from 1; 0 when there is none. */
export type OtherLayouts = { count: number; firstLine: number };

export type LedgerChainOptions = {
  /** Hash of the entry before the first line; 64 zeros, the default, when the lines begin the ledger. */
  parentHash?: string;
  /** Index of the first line's entry in the ledger, from 0. Line numbers in errors count all lines of the ledger. */
  firstIndex?: number;
  /**
   * Which lines pass. `canonical` (default, for segments and all that we write): only Python's `json.dumps(entry,
   * sort_keys=True)`, byte for byte. `any`: every line whose content verifies, in any layout. Then hash and leaf are
   * made of the canonical line with the same content.
   */
  layout?: "canonical" | "any";
  /** How lines are hashed; in plain JavaScript unless the caller has something faster. */
  sha256?: Sha256;
};

/** Checks the lines of a ledger one after the other, each completely: JSON, fields, parent, hash and layout. */
export class LedgerChain {
  readonly #canonical: CanonicalChain;
  readonly #sha256: Sha256;
  readonly #takesAnyLayout: boolean;
  #lines: number;
  #otherLayouts: OtherLayouts = { count: 0, firstLine: 0 };

  constructor(options: LedgerChainOptions = {}) {
    const { parentHash, firstIndex = 0, layout, sha256 = sha256ByNoble } = options;
    this.#canonical = new CanonicalChain(sha256, parentHash);
    this.#sha256 = sha256;
    this.#takesAnyLayout = layout === "any";
    this.#lines = firstIndex;
  }

  /** Hash of the last entry. */
  get head(): string {
    return this.#canonical.head;
  }

  /** The lines until now whose layout was not canonical. */
  get otherLayouts(): OtherLayouts {
    return this.#otherLayouts;
  }

  /**
   * Checks the next line. It reads the line into an entry only when the faster check cannot decide.
   *
   * @returns the line's Merkle leaf
   * @throws LedgerLineError
   */
  next(line: LedgerLine): Uint8Array {
    const leafHash = this.#canonical.next(bytesOf(line));
    if (!leafHash) return this.#slowly(line).leafHash;
    this.#lines++;
    return leafHash;
  }

  /**
   * Checks the next line and reads it.
   *
   * @throws LedgerLineError
   */
  nextEntry(line: LedgerLine): CheckedEntry {
    const leafHash = this.#canonical.next(bytesOf(line));
    if (!leafHash) return this.#slowly(line);
    // The scan passes only canonical text, which is pure ASCII: any decoding of its bytes gives its text.
    const text = typeof line === "string" ? line : line.text;
    const entry = parseEntryLine(text);
    this.#lines++;
    return { entry, line: text, leafHash };
  }

  /** Reads the line, prints it again and hashes the result. It reports a wrong content before a wrong layout. */
  #slowly(input: LedgerLine): CheckedEntry {
    try {
      const text = typeof input === "string" ? input : utf8(input.bytes);
      const entry = parseEntryLine(this.#isMarkOfFile(text) ? text.slice(1) : text);
      const line = entryLine(entry);
      checkHashes(entry, this.head, hashOfEntryLine(line, this.#sha256));
      if (line !== text) this.#otherLayout(line, text);
      this.#canonical.head = entry.currentHash;
      this.#lines++;
      return { entry, line, leafHash: lineLeafHash(line, this.#sha256) };
    } catch (error) {
      if (!(error instanceof TallystickError) || error instanceof LedgerLineError) throw error;
      throw new LedgerLineError(this.#lines + 1, reasonOf(error), { cause: error });
    }
  }

  /**
   * Whether a text is the file's first line, and begins with a byte order mark. Editors and shells of Windows write
   * such a mark. It belongs to the layout, not to the content.
   */
  #isMarkOfFile(text: string): boolean {
    return this.#takesAnyLayout && this.#lines === 0 && text.startsWith("\ufeff");
  }

  #otherLayout(line: string, text: string): void {
    if (!this.#takesAnyLayout) throw new LedgerLayoutError(this.#lines + 1, columnOfChange(line, text));
    const { count, firstLine } = this.#otherLayouts;
    this.#otherLayouts = { count: count + 1, firstLine: count === 0 ? this.#lines + 1 : firstLine };
  }
}

function bytesOf(line: LedgerLine): Uint8Array | string {
  return typeof line === "string" ? line : line.bytes;
}

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const lenientDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

function utf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch {
    throw new JsonSyntaxError("bytes that are not UTF-8", lenientDecoder.decode(bytes).indexOf("\ufffd"));
  }
}

/**
 * The most problems that are reported for one line, and the most characters of a name in them. There are
 * limits because anyone may have written the line.
 */
const MAX_PROBLEMS = 5;
const MAX_NAME_LENGTH = 64;

function reasonOf(error: TallystickError): string {
  if (!(error instanceof InvalidInputError)) return error.message;
  const told = error.issues
    .slice(0, MAX_PROBLEMS)
    .map(({ field, message }) => `${field === "" ? "the line" : printable(field)} ${message}`);
  const untold = error.issues.length - told.length;
  return [...told, ...(untold > 0 ? [`and ${untold} more`] : [])].join("; ");
}

/** A name that is safe to show: a stranger's control characters must not reach a terminal. */
function printable(name: string): string {
  const cut = name.length > MAX_NAME_LENGTH ? `${name.slice(0, MAX_NAME_LENGTH)}...` : name;
  return /^[a-z_]+$/.test(cut) ? cut : dumpsPythonJson(cut);
}

function columnOfChange(line: string, text: string): number {
  let at = 0;
  // Behind the end of a text, the code is NaN, which is equal to nothing.
  while (line.charCodeAt(at) === text.charCodeAt(at)) at++;
  return at + 1;
}

/**
 * Verifies the lines of a ledger, or of a segment of a ledger, one after the other. It checks each line, the chain of
 * hashes, and the Merkle root. It needs O(log n) memory.
 *
 * @param lines without their newlines
 * @param options.onEntry called with every entry after the entry was checked
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
