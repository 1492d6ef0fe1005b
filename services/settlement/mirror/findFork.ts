import { bytesEqual } from "tallystick-protocol/hex";
import { TILE_WIDTH } from "tallystick-protocol/merkle/tilePath";
import type { Checkpoint } from "tallystick-protocol/note/checkpoint";
import { type LogSource, readLogTile, readTileAt } from "../staticLog/logSource.ts";
import { hashesOf, subtreeRoot, TreeEdge } from "../staticLog/treeEdge.ts";

/**
 * Finds the first entry in which two logs differ, from the tiles of both. A part of the other log counts only if the
 * root of its own checkpoint covers this part. So its signer has signed every difference that is found.
 *
 * @param ours is trusted
 * @returns the position of the first entry that differs, from 0; undefined when no signed difference is shown
 * @throws UnreadableLogError when tiles cannot be read
 */
export async function findFork(
  ours: { log: LogSource; size: number },
  theirs: { log: LogSource; checkpoint: Checkpoint },
): Promise<number | undefined> {
  const { size, root } = theirs.checkpoint;
  const common = Math.min(size, ours.size);
  const edges = new Map<string, Uint8Array[]>();
  const edge = await TreeEdge.read(size, async (tile) => {
    const bytes = await readLogTile(theirs.log, tile);
    edges.set(String(tile.level), hashesOf(bytes, tile.width));
    return bytes;
  });
  if (!bytesEqual(edge.root(), root)) return undefined;
  const levels = [...edges.keys()].map(Number).sort((a, b) => b - a);
  for (const level of levels) {
    const index = Math.floor(size / TILE_WIDTH ** (level + 1));
    const found = await firstDifference(level, index, edges.get(String(level)) as Uint8Array[]);
    if (found !== undefined) return found;
  }
  return undefined;

  /** Compares the hashes of one of their tiles with ours, and goes down to the next level if they differ. */
  async function firstDifference(
    level: number,
    index: number,
    hashes: readonly Uint8Array[],
  ): Promise<number | undefined> {
    const width = TILE_WIDTH ** level;
    for (const [at, hash] of hashes.entries()) {
      const node = index * TILE_WIDTH + at;
      if (node * width >= common) return undefined;
      const isComparable = (node + 1) * width <= ours.size;
      if (isComparable && bytesEqual(hash, await ourHash(level, node))) continue;
      if (level === 0) return node;
      const below = hashesOf(
        await readLogTile(theirs.log, { level: level - 1, index: node, width: TILE_WIDTH }),
        TILE_WIDTH,
      );
      // A tile that is not part of its own tree proves nothing.
      if (!bytesEqual(subtreeRoot(below), hash)) return undefined;
      const found = await firstDifference(level - 1, node, below);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  async function ourHash(level: number, node: number): Promise<Uint8Array> {
    const index = Math.floor(node / TILE_WIDTH);
    const width = (node % TILE_WIDTH) + 1;
    const bytes = (await readTileAt(ours.log, ours.size, { level, index, width })) as Uint8Array;
    return bytes.subarray(-32);
  }
}
