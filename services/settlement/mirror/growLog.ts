import { TallystickError } from "tallystick-protocol/errors";
import { bytesEqual, fromHex, type Hex, toHex } from "tallystick-protocol/hex";
import { LedgerChain, LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { TILE_WIDTH } from "tallystick-protocol/merkle/tilePath";
import type { Checkpoint } from "tallystick-protocol/note/checkpoint";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { type ReadLine, verifyLines } from "../ledger/verifyLines.ts";
import type { LogFolder } from "../staticLog/logFolder.ts";
import { bundleLines, type LogSource, readLogTile } from "../staticLog/logSource.ts";
import type { Position } from "./position.ts";

/** The number of bundles that are fetched in advance, at most 17 MB each. */
const AHEAD = 4;

export type GrowLogParameters = {
  from: Position;
  to: Checkpoint;
  source: LogSource;
  /** The folder to write, and the files that it already has. */
  folder: LogFolder;
  own: LogSource;
  /**
   * Whether bundles of the folder after `from` are used. An earlier run fetched and verified them. `alone`:
   * never continue without them, because they are more trustworthy than the source.
   */
  usesOwn: "first" | "alone" | "not";
  /** The anchored size and root, if the log has to be compared with them while it grows. */
  anchored?: { size: number; root: Hex } | undefined;
  onProgress?: ((size: number, of: number) => void) | undefined;
  signal?: AbortSignal | undefined;
};

/** The entries of a source are not those of its checkpoint. */
export class SourceContradictsError extends TallystickError {
  constructor(where: string, reason: string, cause?: unknown) {
    super({
      code: "source_contradicts",
      message: `${where} gave entries that are not those of its checkpoint: ${reason}.`,
      hint: "Nothing of it was published here. If this continues, mirror another source. The evidence is stored below evidence/.",
      cause,
    });
  }
}

/** The contract has another root than the log at that size. */
export class AnchorContradictsError extends TallystickError {
  constructor(size: number, anchored: Hex, found: Hex) {
    super({
      code: "ledger_forked",
      message: `The contract holds ${anchored} for the first ${size} entries, and the log has ${found} there.`,
      hint: "The ledger has two histories: keep the evidence, and tell its operator and its followers. First check that MIRROR_LEDGER is this log's id.",
    });
  }
}

/**
 * Fetches the entries of a log after a position. Verifies each entry against the one before, and the tree
 * against the checkpoint. Writes bundles and tiles. The folder's checkpoint does not change.
 *
 * @returns the position of `to`
 * @throws SourceContradictsError, AnchorContradictsError, UnreadableLogError; errors of the disk as they are
 */
export async function growLog(parameters: GrowLogParameters): Promise<Position> {
  const used = { own: false };
  try {
    return await grow(parameters, used);
  } catch (error) {
    const isContradiction =
      error instanceof SourceContradictsError || error instanceof AnchorContradictsError;
    if (!isContradiction || !used.own || parameters.usesOwn !== "first") throw error;
    // Files of an earlier run may come from a source that lied. So everything is fetched again from this
    // source.
    return growLog({ ...parameters, usesOwn: "not" });
  }
}

async function grow(parameters: GrowLogParameters, used: { own: boolean }): Promise<Position> {
  const { from, to, folder, usesOwn, onProgress, signal } = parameters;
  const first = Math.floor(from.size / TILE_WIDTH);
  const last = Math.ceil(to.size / TILE_WIDTH);
  const edge = from.edge.clone();
  const tiles: [Parameters<LogFolder["putTile"]>[0], Uint8Array][] = [];
  let { head } = from;
  const fetching = new Map<number, Promise<Buffer>>();
  const fetched = (index: number): Promise<Buffer> => {
    for (let at = index; at < Math.min(last, index + AHEAD); at++) {
      if (fetching.has(at)) continue;
      const bytes = readLogTile(parameters.source, bundleAt(at, to.size));
      // If an earlier bundle fails, this one is never awaited. Its rejection must not end the process.
      bytes.catch(() => {});
      fetching.set(at, bytes);
    }
    return fetching.get(index) as Promise<Buffer>;
  };
  for (let index = first; index < last; index++) {
    signal?.throwIfAborted();
    let verified = usesOwn === "not" ? undefined : await ownBundle(parameters, index, head);
    if (verified !== undefined) used.own = true;
    else {
      const bytes = await fetched(index);
      verified = await verifyBundle(parameters, index, head, bytes);
      const tile = bundleAt(index, to.size);
      await folder.putTile(tile, verified.bytes);
    }
    fetching.delete(index);
    head = verified.head;
    for (const leaf of verified.leaves) {
      edge.append(leaf, (full, hashes) => tiles.push([full, hashes]));
      if (edge.size === parameters.anchored?.size) compareWithAnchor(parameters.anchored, edge.root());
    }
    for (const [full, hashes] of tiles.splice(0)) await folder.putTile(full, hashes);
    onProgress?.(edge.size, to.size);
  }
  if (!bytesEqual(edge.root(), to.root)) {
    throw new SourceContradictsError(
      parameters.source.where,
      `its ${to.size} entries have another root than it says`,
    );
  }
  for (const [tile, hashes] of edge.partialTiles()) await folder.putTile(tile, hashes);
  return { size: to.size, head, edge };
}

/** @throws AnchorContradictsError */
export function compareWithAnchor({ size, root }: { size: number; root: Hex }, found: Uint8Array): void {
  if (!bytesEqual(fromHex(root, 32), found)) throw new AnchorContradictsError(size, root, toHex(found));
}

/** A bundle whose entries were verified. `bytes` has as many entries as were asked for, and no more. */
type VerifiedBundle = { bytes: Buffer; leaves: Uint8Array[]; head: string };

/** The bundle with a number, with the width that it has in a log of `size` entries. */
function bundleAt(index: number, size: number) {
  return { level: "entries", index, width: Math.min(TILE_WIDTH, size - index * TILE_WIDTH) } as const;
}

/** A full bundle from the folder that continues the verified entries; undefined when there is none. */
async function ownBundle(
  parameters: GrowLogParameters,
  index: number,
  head: string,
): Promise<VerifiedBundle | undefined> {
  const { own, to } = parameters;
  try {
    const bytes = await readLogTile(own, bundleAt(index, to.size));
    return await verifyBundle(parameters, index, head, bytes);
  } catch {
    // If anything is wrong with this bundle, it is fetched from the source.
    return undefined;
  }
}

/** Verifies the new entries of a bundle. Its known entries must be the same as here. */
async function verifyBundle(
  { from, to, source, own }: GrowLogParameters,
  index: number,
  head: string,
  bytes: Buffer,
): Promise<VerifiedBundle> {
  const start = index * TILE_WIDTH;
  const known = Math.max(0, from.size - start);
  const { width } = bundleAt(index, to.size);
  let length = 0;
  const lines = measured();
  function* measured() {
    for (const line of bundleLines(bytes, start, width)) {
      length += 2 + line.bytes.length;
      yield line;
    }
  }
  try {
    if (known > 0) {
      const ours = await readLogTile(own, { level: "entries", index, width: known });
      let number = start;
      for (const line of bundleLines(ours, start, known)) {
        // A bundle that ends too early throws here.
        const theirs = lines.next().value as ReadLine;
        number++;
        if (!bytesEqual(theirs.bytes, line.bytes))
          throw new LedgerLineError(number, "it is another entry than the one that is kept here");
      }
    }
    const chain = new LedgerChain({
      parentHash: head,
      firstIndex: start + known,
      sha256: sha256ByNode,
    });
    const leaves: Uint8Array[] = [];
    await verifyLines([lines], { chain, tree: { append: (leaf) => leaves.push(leaf) } });
    return { bytes: bytes.subarray(0, length), leaves, head: chain.head };
  } catch (error) {
    if (error instanceof LedgerLineError)
      throw new SourceContradictsError(source.where, error.message, error);
    throw error;
  }
}
