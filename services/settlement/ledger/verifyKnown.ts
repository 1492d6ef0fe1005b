import { setTimeout as pause } from "node:timers/promises";
import { bytesEqual } from "tallystick-protocol/hex";
import { GENESIS_HASH, parseEntryLine } from "tallystick-protocol/ledger/entry";
import { LedgerChain, LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { type FileLine, ledgerLines } from "./ledgerLines.ts";
import type { StorePosition } from "./ledgerStore.ts";
import { verifyInParts } from "./verifyInParts.ts";

/** A ledger with facts from a store: its leaves, and the places of its lines. */
type KnownLedger = {
  tree: { leaf: (index: number) => Uint8Array; root: () => Uint8Array };
  linesOf: (from: number, to: number) => AsyncIterable<FileLine[]>;
};

/**
 * Compares a file's first entry and last entries with a store. Returns why it is another file; undefined when
 * nothing contradicts the store.
 */
export async function tailProblem(
  { tree, linesOf }: KnownLedger,
  { size, end, head }: StorePosition,
  tailEntries: number,
): Promise<string | undefined> {
  try {
    // This throws when a hash that the root needs is missing.
    tree.root();
    const from = Math.max(0, size - tailEntries);
    let parentHash = GENESIS_HASH;
    for (const at of [0, from - 1].filter((index) => index >= 0)) {
      for await (const lines of linesOf(at, at + 1)) {
        const line = lines[0] as FileLine;
        if (!bytesEqual(leafHash(line.bytes, sha256ByNode), tree.leaf(at)))
          return `entry ${at} is another one`;
        if (at === from - 1) parentHash = parseEntryLine(line.text).currentHash;
      }
    }
    const chain = new LedgerChain({ sha256: sha256ByNode, parentHash, firstIndex: from });
    let index = from;
    let last = 0;
    for await (const lines of linesOf(from, size)) {
      for (const line of lines) {
        if (!bytesEqual(chain.next(line), tree.leaf(index++))) return `entry ${index} is another one`;
        last = line.end;
      }
    }
    return index === size && last === end && chain.head === head
      ? undefined
      : `it does not end with entry ${size}`;
  } catch (error) {
    // The caller now reads the whole file, and finds the fault.
    return (error as Error).message;
  }
}

/**
 * The beginning of a file: the number of entries, the parent hash of the next entry, and the place where the
 * entries should end.
 */
export type Beginning = { size: number; head: string; end: number };

/**
 * Verifies the beginning of a ledger's file: on all cores when it is long, and line by line if a doubt
 * remains. It relies on the lines only, and not on stored places of lines.
 *
 * @returns the Merkle root of these lines
 * @throws LedgerLineError naming the first bad line
 */
export async function verifyBeginning(
  file: string,
  { size, head, end }: Beginning,
  options: { signal?: AbortSignal | undefined; onProgress?: ((lines: number) => void) | undefined } = {},
): Promise<Uint8Array> {
  const quick = await verifyInParts({ file, end, ...options });
  if (quick?.size === size && quick.head === head) return quick.root;
  const chain = new LedgerChain({ sha256: sha256ByNode });
  const frontier = new MerkleFrontier(sha256ByNode);
  for await (const lines of ledgerLines(file)) {
    options.signal?.throwIfAborted();
    for (const line of lines.slice(0, size - frontier.size)) frontier.append(chain.next(line));
    options.onProgress?.(frontier.size);
    if (frontier.size === size) break;
    // This pause lets other requests be served.
    await pause(0);
  }
  if (frontier.size !== size)
    throw new LedgerLineError(frontier.size + 1, `the file ends here, before entry ${size}`);
  if (chain.head !== head)
    throw new LedgerLineError(size + 1, `parent_hash is ${head}, but the entry before has ${chain.head}`);
  return frontier.root();
}
