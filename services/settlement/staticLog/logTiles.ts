import { TILE_WIDTH, type Tile } from "tallystick-protocol/merkle/tilePath";

/** The tiles and bundles that a log of `to` entries has and one of `from` had not, partial ones too. */
export function* newTiles(from: number, to: number): Generator<Tile> {
  for (const { level, before, now } of levels(from, to)) {
    if (now === before) continue;
    for (let index = Math.floor(before / TILE_WIDTH); index * TILE_WIDTH < now; index++)
      yield { level, index, width: Math.min(TILE_WIDTH, now - index * TILE_WIDTH) };
  }
}

/** The tiles that are full in a log of `to` entries and were not in one of `from`. */
export function* fullTiles(from: number, to: number): Generator<Tile> {
  for (const { level, before, now } of levels(from, to)) {
    for (let index = Math.floor(before / TILE_WIDTH); (index + 1) * TILE_WIDTH <= now; index++)
      yield { level, index, width: TILE_WIDTH };
  }
}

/** How many entries or hashes each level has, in a log of either size. */
function* levels(from: number, to: number): Generator<{ level: Tile["level"]; before: number; now: number }> {
  yield { level: "entries", before: from, now: to };
  let [before, now] = [from, to];
  for (let level = 0; now > 0; level++) {
    yield { level, before, now };
    before = Math.floor(before / TILE_WIDTH);
    now = Math.floor(now / TILE_WIDTH);
  }
}
