import { setTimeout as pause } from "node:timers/promises";
import { bytesEqual } from "tallystick-protocol/hex";
import { GENESIS_HASH, parseEntryLine } from "tallystick-protocol/ledger/entry";
import { LedgerChain, LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import type { FileLine } from "./ledgerLines.ts";
import type { StorePosition } from "./ledgerStore.ts";

/** A ledger of which more is known than was read: its leaves, and where its lines are. */
type KnownLedger = {
  tree: { leaf: (index: number) => Uint8Array };
  linesOf: (from: number, to: number) => AsyncIterable<FileLine[]>;
};

/**
 * Why a file is not the one that a store knows, as far as its first entry and its last ones show; undefined when nothing
 * contradicts it.
 */
export async function tailProblem(
  { tree, linesOf }: KnownLedger,
  { size, end, head }: StorePosition,
  tailEntries: number,
): Promise<string | undefined> {
  try {
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
    // Whatever the fault is, reading the file again finds it.
    return (error as Error).message;
  }
}

/**
 * Verifies the first `size` entries. It pauses as long as it reads.
 *
 * @param options.each called with every group of lines, after they were verified
 * @throws LedgerLineError naming the first bad line
 */
export async function verifyBeginning(
  { tree, linesOf }: KnownLedger,
  size: number,
  {
    signal,
    each,
  }: {
    signal: AbortSignal;
    each?: ((lines: readonly FileLine[], firstIndex: number) => void) | undefined;
  },
): Promise<void> {
  const chain = new LedgerChain({ sha256: sha256ByNode });
  let index = 0;
  let start = performance.now();
  for await (const lines of linesOf(0, size)) {
    signal.throwIfAborted();
    const first = index;
    for (const line of lines) {
      if (!bytesEqual(chain.next(line), tree.leaf(index++)))
        throw new LedgerLineError(index, "the entry is not the one that was settled");
    }
    each?.(lines, first);
    await pause(performance.now() - start);
    start = performance.now();
  }
  if (index !== size) throw new LedgerLineError(index + 1, `the file ends here, before entry ${size}`);
}
