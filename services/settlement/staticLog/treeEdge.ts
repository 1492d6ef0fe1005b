import { EMPTY_ROOT, nodeHash } from "tallystick-protocol/merkle/hash";
import { TILE_WIDTH, type Tile } from "tallystick-protocol/merkle/tilePath";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";

/** Bytes of a hash in a tile. */
const HASH = 32;

/** Reads a tile of hashes, at least as wide as asked for. */
export type ReadTile = (tile: Tile) => Promise<Uint8Array | undefined>;

/**
 * The right edge of a log's tree: the hashes of the last, unfinished tile of each level. They are enough to
 * add leaves and to compute the root and the new tiles. The memory does not grow with the log.
 */
export class TreeEdge {
  /** The hashes of the unfinished tile of each level, the lowest first; fewer than 256 each. */
  readonly #levels: Uint8Array[][] = [];
  #size = 0;

  /**
   * The edge of a log's first `size` entries, read from its tiles. The root shows whether the tiles are
   * right.
   */
  static async read(size: number, readTile: ReadTile): Promise<TreeEdge> {
    const edge = new TreeEdge();
    edge.#size = size;
    for (let level = 0, count = size; count > 0; level++, count = Math.floor(count / TILE_WIDTH)) {
      const width = count % TILE_WIDTH;
      const tile = { level, index: Math.floor(count / TILE_WIDTH), width };
      const bytes = width === 0 ? new Uint8Array() : await readTile(tile);
      if (bytes === undefined) throw new RangeError(`the log has no ${size} entries`);
      edge.#levels.push(hashesOf(bytes, width));
    }
    return edge;
  }

  /** Number of leaves. */
  get size(): number {
    return this.#size;
  }

  /** Adds a leaf by its hash. `onTile` is called with every tile that becomes full. */
  append(leafHash: Uint8Array, onTile?: (tile: Tile, bytes: Uint8Array) => void): void {
    this.#size++;
    let hash = leafHash;
    for (let level = 0, index = this.#size; ; level++) {
      const hashes = this.#levels[level] ?? [];
      this.#levels[level] = hashes;
      hashes.push(hash);
      if (hashes.length < TILE_WIDTH) return;
      index = index / TILE_WIDTH;
      onTile?.({ level, index: index - 1, width: TILE_WIDTH }, Buffer.concat(hashes));
      hash = subtreeRoot(hashes);
      this.#levels[level] = [];
    }
  }

  /** The unfinished tiles of hashes, and their bytes. */
  *partialTiles(): Generator<[Tile, Uint8Array]> {
    for (const [level, hashes] of this.#levels.entries()) {
      const index = Math.floor(this.#size / TILE_WIDTH ** (level + 1));
      if (hashes.length > 0) yield [{ level, index, width: hashes.length }, Buffer.concat(hashes)];
    }
  }

  /** The root over all leaves (RFC 6962); the root of the empty tree if there are none. */
  root(): Uint8Array {
    const parts = this.#levels.toReversed().flatMap(completeSubtrees);
    let hash = parts.pop();
    if (hash === undefined) return EMPTY_ROOT;
    while (parts.length > 0) hash = nodeHash(parts.pop() as Uint8Array, hash, sha256ByNode);
    return hash;
  }

  /** A copy. The two grow independently. */
  clone(): TreeEdge {
    const copy = new TreeEdge();
    copy.#size = this.#size;
    copy.#levels.push(...this.#levels.map((hashes) => [...hashes]));
    return copy;
  }
}

/** The first `count` hashes of a tile. */
export function hashesOf(bytes: Uint8Array, count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, at) => bytes.slice(HASH * at, HASH * (at + 1)));
}

/** The root over hashes; their number is a power of two. */
export function subtreeRoot(hashes: readonly Uint8Array[]): Uint8Array {
  let row = hashes;
  while (row.length > 1) {
    const above: Uint8Array[] = [];
    for (let at = 0; at < row.length; at += 2)
      above.push(nodeHash(row[at] as Uint8Array, row[at + 1] as Uint8Array, sha256ByNode));
    row = above;
  }
  return row[0] as Uint8Array;
}

/** The roots of the complete subtrees that make up a tile, the largest first. */
function completeSubtrees(hashes: readonly Uint8Array[]): Uint8Array[] {
  const roots: Uint8Array[] = [];
  for (let at = 0, width = TILE_WIDTH; at < hashes.length; width /= 2) {
    if (at + width > hashes.length) continue;
    roots.push(subtreeRoot(hashes.slice(at, at + width)));
    at += width;
  }
  return roots;
}
