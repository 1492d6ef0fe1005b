import { TILE_WIDTH, type Tile } from "tallystick-protocol/merkle/tilePath";

/**
 * The tiles and bundles that a log of `to` entries has and a log of `from` entries lacks, including partial
 * ones.
 */
export function* newTiles(from: number, to: number): Generator<Tile> {
  for (const { level, before, now } of levels(from, to)) {
    if (now === before) continue;
    for (let index = Math.floor(before / TILE_WIDTH); index * TILE_WIDTH < now; index++)
      yield { level, index, width: Math.min(TILE_WIDTH, now - index * TILE_WIDTH) };
  }
}

/** The tiles that are full in a log of `to` entries but not in a log of `from` entries. */
export function* fullTiles(from: number, to: number): Generator<Tile> {
  for (const { level, before, now } of levels(from, to)) {
    for (let index = Math.floor(before / TILE_WIDTH); (index + 1) * TILE_WIDTH <= now; index++)
      yield { level, index, width: TILE_WIDTH };
  }
}

/** The number of entries or hashes of each level, for both sizes of the log. */
function* levels(from: number, to: number): Generator<{ level: Tile["level"]; before: number; now: number }> {
  yield { level: "entries", before: from, now: to };
  let [before, now] = [from, to];
  for (let level = 0; now > 0; level++) {
    yield { level, before, now };
    before = Math.floor(before / TILE_WIDTH);
    now = Math.floor(now / TILE_WIDTH);
  }
}
