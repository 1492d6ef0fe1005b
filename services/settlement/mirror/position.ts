import { TallystickError } from "tallystick-protocol/errors";
import { bytesEqual } from "tallystick-protocol/hex";
import { GENESIS_HASH, parseEntryLine } from "tallystick-protocol/ledger/entry";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { TILE_WIDTH } from "tallystick-protocol/merkle/tilePath";
import type { Checkpoint } from "tallystick-protocol/note/checkpoint";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import type { ReadLine } from "../ledger/verifyLines.ts";
import { bundleLines, type LogSource, readLogTile } from "../staticLog/logSource.ts";
import { hashesOf, TreeEdge } from "../staticLog/treeEdge.ts";

/**
 * The verified position of a log: the hash of the last entry, and the edge of the tree. The next entries
 * continue these.
 */
export type Position = { size: number; head: string; edge: TreeEdge };

/** The position before the first entry. */
export function beginning(): Position {
  return { size: 0, head: GENESIS_HASH, edge: new TreeEdge() };
}

/**
 * The position of a log that was verified earlier, up to a checkpoint. It reads the last tile of each level
 * and the last bundle, so the cost does not grow with the log.
 *
 * @throws TallystickError `mirror_damaged` when they are missing, or do not give the checkpoint's root
 */
export async function readPosition(log: LogSource, { size, root }: Checkpoint): Promise<Position> {
  if (size === 0) return beginning();
  try {
    const edge = await TreeEdge.read(size, (tile) => readLogTile(log, tile));
    if (!bytesEqual(edge.root(), root)) throw new Error("its tiles do not have the checkpoint's root");
    const last = await lastLine(log, size);
    if (!bytesEqual(leafHash(last.bytes, sha256ByNode), await lastLeaf(log, size)))
      throw new Error(`entry ${size} is not the one of its tree`);
    return { size, head: parseEntryLine(last.text).currentHash, edge };
  } catch (cause) {
    throw new TallystickError({
      code: "mirror_damaged",
      message: `The copy in ${log.where} is damaged: ${(cause as Error).message}.`,
      hint: "tallystick ledger fsck FOLDER names what is wrong. tallystick ledger mirror --recheck reads everything again and fetches what is damaged.",
      cause,
    });
  }
}

async function lastLine(log: LogSource, size: number): Promise<ReadLine> {
  const index = Math.floor((size - 1) / TILE_WIDTH);
  const width = size - index * TILE_WIDTH;
  const bundle = await readLogTile(log, { level: "entries", index, width });
  return [...bundleLines(bundle, index * TILE_WIDTH, width)].at(-1) as ReadLine;
}

async function lastLeaf(log: LogSource, size: number): Promise<Uint8Array> {
  const index = Math.floor((size - 1) / TILE_WIDTH);
  const width = size - index * TILE_WIDTH;
  return hashesOf(await readLogTile(log, { level: 0, index, width }), width).at(-1) as Uint8Array;
}
