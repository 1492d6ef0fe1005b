import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import type { LedgerEntry } from "tallystick-protocol/ledger/entry";
import { checkSegment, type LedgerHead, SegmentContradictionError } from "./checkSegment.ts";
import type { SegmentSource } from "./segmentSource.ts";
import type { GrownPage } from "./storedTree.ts";

/** One anchor of a followed ledger: its entries `[oldSize, newSize)` have to be loaded. */
export type Anchor = { oldSize: bigint; newSize: bigint; root: Hex };

/** A checked part of a segment: its entries, its additions to the stored tree, and the ledger's head after it. */
export type LoadedPart = {
  /** The number of the part's first entry. */
  from: number;
  entries: LedgerEntry[];
  /** The canonical lines of the entries. */
  lines: readonly string[];
  pages: GrownPage[];
  head: LedgerHead;
};

export type LoadingOptions = {
  /** The loaded part of the ledger. */
  head: LedgerHead;
  source: SegmentSource;
  signal: AbortSignal;
  /**
   * Tries until it succeeds. An attempt rejects with SegmentUnavailableError, SegmentContradictionError, or a
   * TallystickError that says why the segment cannot be loaded at all.
   */
  retry: <Result>(attempt: () => Promise<Result>) => Promise<Result>;
  /** Called before each further part, with the number of the ledger's entries before it: a long segment takes long. */
  goOn: (size: number) => Promise<void>;
};

/**
 * Loads a segment in parts that fit into memory. Gives no part before the whole segment is checked against the anchored root.
 * So a segment of one part is read once, and a longer one twice. If entries contradict the root, they count as missing.
 */
export async function* loadSegment(
  anchor: Anchor,
  { head, source, signal, retry, goOn }: LoadingOptions,
): AsyncGenerator<LoadedPart> {
  const size = Number(anchor.newSize);
  let heads: LedgerHead[] = [head];
  for (;;) {
    const part = await retry(async () => {
      expectPossible(anchor, head);
      const last = heads.at(-1) as LedgerHead;
      try {
        return await readPart(last, size, {
          source,
          signal,
          rootAt: (n) => (n === size ? anchor.root : null),
        });
      } catch (error) {
        // An earlier part may have the entry that is wrong.
        if (error instanceof SegmentContradictionError) heads = [head];
        throw error;
      }
    });
    heads.push(part.head);
    const isWhole = part.head.size === size;
    if (isWhole && heads.length === 2) {
      yield part;
      return;
    }
    await goOn(part.head.size);
    if (isWhole) break;
  }
  // A root fixes all entries before it. So what is read now is what was checked.
  for (const [n, end] of heads.slice(1).entries()) {
    const from = heads[n] as LedgerHead;
    if (n > 0) await goOn(from.size);
    yield await retry(() => readPart(from, end.size, { source, signal, rootAt: () => end.root }));
  }
}

/** @throws TallystickError if no source can have the segment */
function expectPossible({ oldSize, newSize }: Anchor, head: LedgerHead): void {
  if (oldSize !== BigInt(head.size)) {
    throw new TallystickError({
      code: "segment_gap",
      message:
        `the anchor continues ${oldSize} entries, but ${head.size} are loaded: ` +
        "the anchors before it were not indexed (START_BLOCK is too late?)",
    });
  }
  if (newSize > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new TallystickError({
      code: "segment_too_large",
      message: `${newSize} entries cannot exist`,
    });
  }
}

/**
 * Reads the next part of a segment that ends before entry `to`.
 *
 * @param rootAt the root of so many entries; null if it is not known
 */
async function readPart(
  head: LedgerHead,
  to: number,
  {
    source,
    signal,
    rootAt,
  }: { source: SegmentSource; signal: AbortSignal; rootAt: (size: number) => Hex | null },
): Promise<LoadedPart> {
  const from = head.size;
  // An anchor may repeat the same size. Then there is nothing to read, but the root must be the same.
  const lines = to === from ? [] : await source({ from, to, byteOffset: head.bytes, signal });
  return { from, lines, ...checkSegment(head, lines, rootAt(from + lines.length)) };
}
