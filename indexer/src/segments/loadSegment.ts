import { setTimeout as sleep } from "node:timers/promises";
import { TallystickError } from "../../../protocol/errors.ts";
import type { Hex } from "../../../protocol/hex.ts";
import type { LedgerEntry } from "../../../protocol/ledger/entry.ts";
import { checkSegment, type LedgerHead } from "./checkSegment.ts";
import type { SegmentSource } from "./segmentSource.ts";
import type { TreeNode } from "./storedTree.ts";

/** One anchor of a followed ledger: its entries `[oldSize, newSize)` are to be loaded. */
export type Anchor = {
  ledger: Hex;
  oldSize: bigint;
  newSize: bigint;
  root: Hex;
  block: { number: number; hash: Hex };
};

export type LoadSegmentParameters<Result> = {
  anchor: Anchor;
  /** How far the ledger is loaded. */
  head: LedgerHead;
  source: SegmentSource;
  /** Makes of the checked entries what the caller needs; if it fails, that is waited for too (the chain does not answer). */
  read: (entries: LedgerEntry[], nodes: TreeNode[]) => Promise<Result>;
  /**
   * Whether the anchor's block is still on the chain. Only a certain no (another block has its number) counts: a segment is
   * never skipped because a node lags behind.
   */
  isCanonical: () => Promise<boolean>;
  /** Called while waiting. Its errors are the caller's own and end the wait. */
  keepAlive: () => Promise<void>;
  onBlocked: (failure: { attempts: number; reason: string }) => Promise<void>;
  onUnblocked: () => Promise<void>;
  /** Aborted when the process shuts down; then this rejects. */
  signal: AbortSignal;
  /** First and longest pause between two attempts, in milliseconds. Default 250 and 15,000. */
  pause?: { first: number; most: number };
};

/**
 * Loads a segment and checks it, waiting for as long as it takes: the entries behind an anchored root exist, or everything
 * after it would be guessed. Entries that contradict the root are no better than none.
 *
 * @returns what `read` made of the entries with the ledger's new head, or null when the anchor's block was reorged away
 * @throws whatever `keepAlive` throws, and the abort reason of `signal`
 */
export async function loadSegment<Result>(
  parameters: LoadSegmentParameters<Result>,
): Promise<{ result: Result; head: LedgerHead } | null> {
  const { anchor, head, source, read, signal, pause = { first: 250, most: 15_000 } } = parameters;
  let lastSaid: boolean | undefined;
  for (let attempts = 1, wait = pause.first; ; attempts++, wait = Math.min(2 * wait, pause.most)) {
    try {
      const loaded = await attempt(anchor, head, source, read, signal);
      if (attempts > 1) await parameters.onUnblocked();
      return loaded;
    } catch (error) {
      signal.throwIfAborted();
      await parameters.onBlocked({ attempts, reason: reasonOf(error) });
    }
    await sleep(wait, undefined, { signal });
    await parameters.keepAlive();
    // Two answers in a row, because behind one RPC address there may be nodes on different forks.
    const canonical = await parameters.isCanonical().catch(() => true);
    if (!canonical && lastSaid === false) {
      await parameters.onUnblocked();
      return null;
    }
    lastSaid = canonical;
  }
}

async function attempt<Result>(
  anchor: Anchor,
  head: LedgerHead,
  source: SegmentSource,
  read: LoadSegmentParameters<Result>["read"],
  signal: AbortSignal,
): Promise<{ result: Result; head: LedgerHead }> {
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
  // A heartbeat anchors the same size again: nothing to read, but the root has to be ours.
  const lines = to === head.size ? [] : await source(request);
  const checked = await checkSegment(head, lines, anchor.root);
  return { result: await read(checked.entries, checked.nodes), head: checked.head };
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
