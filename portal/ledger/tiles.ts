import { nodeHash } from "tallystick-protocol/merkle/hash";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { TILE_WIDTH, type Tile } from "tallystick-protocol/merkle/tilePath";

/** Reads a tile of hashes: `width` times 32 bytes (C2SP tlog-tiles). */
export type ReadTile = (tile: Tile) => Promise<Uint8Array>;

/** Levels of the tree that one tile spans. */
const HEIGHT = 8;

/**
 * Computes the root of the tree of `size` entries from the tiles of a log. The log must have at least this many
 * entries. Up to 16 million entries, `read` is called for at most three
 * different tiles, but for the same tile several times.
 *
 * @throws RangeError when a tile has the wrong length
 */
export async function rootFromTiles(size: number, read: ReadTile): Promise<Uint8Array> {
  const roots: Uint8Array[] = [];
  let offset = 0;
  // The tree consists of complete subtrees, one for each bit of its size that is 1, the largest first.
  for (let height = 52; height >= 0; height--) {
    const leaves = 2 ** height;
    if (size - offset < leaves) continue;
    roots.push(await subtreeRoot(height, offset / leaves, size, read));
    offset += leaves;
  }
  return MerkleFrontier.restore(size, roots).root();
}

async function subtreeRoot(height: number, index: number, size: number, read: ReadTile): Promise<Uint8Array> {
  const level = Math.floor(height / HEIGHT);
  const count = 2 ** (height - HEIGHT * level);
  const first = index * count;
  const tile = Math.floor(first / TILE_WIDTH);
  const atLevel = Math.floor(size / 2 ** (HEIGHT * level));
  const width = Math.min(TILE_WIDTH, atLevel - tile * TILE_WIDTH);
  const bytes = await read({ level, index: tile, width });
  if (bytes.length !== 32 * width)
    throw new RangeError(`Tile ${level}/${tile} has ${bytes.length} bytes, not ${32 * width}.`);
  const from = first - tile * TILE_WIDTH;
  let hashes: Uint8Array[] = Array.from({ length: count }, (_, n) =>
    bytes.slice(32 * (from + n), 32 * (from + n + 1)),
  );
  while (hashes.length > 1)
    hashes = Array.from({ length: hashes.length / 2 }, (_, n) =>
      nodeHash(hashes[2 * n] as Uint8Array, hashes[2 * n + 1] as Uint8Array),
    );
  return hashes[0] as Uint8Array;
}
