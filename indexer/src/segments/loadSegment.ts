import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import type { LedgerEntry } from "tallystick-protocol/ledger/entry";
import { checkSegment, type LedgerHead } from "./checkSegment.ts";
import type { SegmentSource } from "./segmentSource.ts";
import type { GrownPage } from "./storedTree.ts";

/** One anchor of a followed ledger: its entries `[oldSize, newSize)` have to be loaded. */
export type Anchor = { oldSize: bigint; newSize: bigint; root: Hex };

/** A checked segment: its entries, its additions to the stored tree, and the ledger's head after it. */
export type LoadedSegment = {
  entries: LedgerEntry[];
  /** The canonical lines of the entries. */
  lines: readonly string[];
  pages: GrownPage[];
  head: LedgerHead;
};

/**
 * Loads a segment and checks it. If entries contradict the root, they count as missing.
 *
 * @param head the loaded part of the ledger
 * @throws SegmentUnavailableError, SegmentContradictionError, or a TallystickError that says why it cannot be
 * loaded at all
 */
export async function loadSegment(
  anchor: Anchor,
  { head, source, signal }: { head: LedgerHead; source: SegmentSource; signal: AbortSignal },
): Promise<LoadedSegment> {
  if (anchor.oldSize !== BigInt(head.size)) {
    throw new TallystickError({
      code: "segment_gap",
      message:
        `the anchor continues ${anchor.oldSize} entries, but ${head.size} are loaded: ` +
        "the anchors before it were not indexed (START_BLOCK is too late?)",
    });
  }
  if (anchor.newSize > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new TallystickError({
      code: "segment_too_large",
      message: `${anchor.newSize} entries cannot exist`,
    });
  }
  const to = Number(anchor.newSize);
  const request = { from: head.size, to, byteOffset: head.bytes, signal };
  // An anchor may repeat the same size. Then there is nothing to read, but the root must be the same.
  const lines = to === head.size ? [] : await source(request);
  return { ...checkSegment(head, lines, anchor.root), lines };
}
