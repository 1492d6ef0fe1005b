import { TallystickError } from "tallystick-protocol/errors";
import { fromHex, type Hex, toHex } from "tallystick-protocol/hex";
import { GENESIS_HASH, LedgerCorruptError, type LedgerEntry } from "tallystick-protocol/ledger/entry";
import {
  type CheckedEntry,
  LedgerChain,
  LedgerLayoutError,
  LedgerLineError,
} from "tallystick-protocol/ledger/verifyLedger";
import { EMPTY_ROOT } from "tallystick-protocol/merkle/hash";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { type GrownPage, TreeGrowth } from "./storedTree.ts";

/** The loaded part of a ledger. The next segment must continue it. */
export type LedgerHead = {
  /** The number of entries so far, and the Merkle root over them. */
  size: number;
  root: Hex;
  /** The complete subtrees of that tree, largest first. */
  frontier: Hex[];
  /** Hash of the last entry. */
  head: string;
  /** Length of all canonical lines so far, newlines included. */
  bytes: number;
};

/** The head of a ledger without entries. */
export const EMPTY_LEDGER: LedgerHead = {
  size: 0,
  root: toHex(EMPTY_ROOT),
  frontier: [],
  head: GENESIS_HASH,
  bytes: 0,
};

/** The entries that were read differ from the anchored ones. The message is published, so it quotes no entry. */
export class SegmentContradictionError extends TallystickError {
  constructor(message: string, cause?: unknown) {
    super({ code: "segment_contradiction", message, cause });
  }
}

/**
 * Checks the lines of a segment against the ledger so far and the anchored root. It checks every entry's form and
 * hash, the chain of hashes, and the Merkle root of the new size.
 *
 * @param root the root that was anchored for `head.size + lines.length` entries. Null if none was: then the lines are a part of a
 * segment that goes on, and nothing proves them yet
 * @returns the entries, the additions to the pages of the stored tree, and the head for the next segment
 * @throws SegmentContradictionError with the first thing that is wrong
 */
export function checkSegment(
  head: LedgerHead,
  lines: readonly string[],
  root: Hex | null,
): { entries: LedgerEntry[]; pages: GrownPage[]; head: LedgerHead } {
  const growth = new TreeGrowth();
  const subtrees = head.frontier.map((hash) => fromHex(hash, 32));
  const frontier = MerkleFrontier.restore(head.size, subtrees, sha256ByNode);
  const chain = new LedgerChain({ parentHash: head.head, firstIndex: head.size, sha256: sha256ByNode });
  const entries = lines.map((line) => {
    const checked = nextEntry(chain, line);
    frontier.append(checked.leafHash, growth.add);
    return checked.entry;
  });
  const computed = toHex(frontier.root());
  if (root !== null && computed !== root) {
    throw new SegmentContradictionError(
      `the ${frontier.size} entries have the root ${computed}, but the anchor proves ${root}`,
    );
  }
  const roots = frontier.roots.map((hash) => toHex(hash));
  // Canonical lines are ASCII: characters are bytes.
  const bytes = lines.reduce((sum, line) => sum + line.length + 1, head.bytes);
  return {
    entries,
    pages: growth.pages,
    head: { size: frontier.size, root: computed, frontier: roots, head: chain.head, bytes },
  };
}

/** A line that is no entry is described by its number only: the description may have names that its writer chose. */
function ownWordsOf(error: LedgerLineError): string {
  if (error instanceof LedgerLayoutError || error.cause instanceof LedgerCorruptError) return error.message;
  return `line ${error.line} is not an entry of a ledger`;
}

function nextEntry(chain: LedgerChain, line: string): CheckedEntry {
  try {
    return chain.nextEntry(line);
  } catch (error) {
    if (error instanceof LedgerLineError) throw new SegmentContradictionError(ownWordsOf(error), error);
    throw error;
  }
}
