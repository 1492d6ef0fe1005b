import { TallystickError } from "../../../protocol/errors.ts";
import { fromHex, type Hex, toHex } from "../../../protocol/hex.ts";
import { GENESIS_HASH, type LedgerEntry } from "../../../protocol/ledger/entry.ts";
import { LedgerLineError, verifyLedgerLines } from "../../../protocol/ledger/verifyLedger.ts";
import { EMPTY_ROOT } from "../../../protocol/merkle/hash.ts";
import { MerkleFrontier } from "../../../protocol/merkle/merkleFrontier.ts";
import { isStoredHeight, type TreeNode } from "./storedTree.ts";

/** How far a ledger is loaded: what the next segment has to continue. */
export type LedgerHead = {
  /** Entries so far, and the Merkle root over them. */
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

/** The entries read are not those that were anchored. */
export class SegmentContradictionError extends TallystickError {
  constructor(message: string, cause?: unknown) {
    super({ code: "segment_contradiction", message, cause });
  }
}

/**
 * Checks the lines of a segment against the ledger so far and the anchored root: every entry's form and hash, the chain, and
 * the Merkle root of the new size.
 *
 * @param root the root that was anchored for `head.size + lines.length` entries
 * @returns the entries, the nodes of the tree to keep for proofs (leaves first come first), and the head that the next
 * segment continues
 * @throws SegmentContradictionError with the first thing that is wrong
 */
export async function checkSegment(
  head: LedgerHead,
  lines: string[],
  root: Hex,
): Promise<{ entries: LedgerEntry[]; nodes: TreeNode[]; head: LedgerHead }> {
  const entries: LedgerEntry[] = [];
  const nodes: TreeNode[] = [];
  const keep = (height: number, index: number, hash: Uint8Array) => {
    if (isStoredHeight(height)) nodes.push({ height, index, hash: toHex(hash) });
  };
  const frontier = MerkleFrontier.restore(
    head.size,
    head.frontier.map((hash) => fromHex(hash, 32)),
  );
  let { bytes } = head;
  const options = {
    parentHash: head.head,
    firstIndex: head.size,
    onEntry: (entry: LedgerEntry, line: string, leaf: Uint8Array) => {
      entries.push(entry);
      frontier.append(leaf, keep);
      // Canonical lines are ASCII: characters are bytes.
      bytes += line.length + 1;
    },
  };
  const checked = await verifyLedgerLines(lines, options).catch((error) => {
    if (error instanceof LedgerLineError) throw new SegmentContradictionError(error.message, error);
    throw error;
  });
  const computed = toHex(frontier.root());
  if (computed !== root) {
    throw new SegmentContradictionError(
      `the ${frontier.size} entries have the root ${computed}, but ${root} was anchored`,
    );
  }
  const roots = frontier.roots.map((hash) => toHex(hash));
  return {
    entries,
    nodes,
    head: { size: frontier.size, root: computed, frontier: roots, head: checked.head, bytes },
  };
}
