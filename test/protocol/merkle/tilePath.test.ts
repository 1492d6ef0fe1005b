import { expect } from "chai";
import * as fc from "fast-check";
import { formatTilePath, parseTilePath, TILE_WIDTH, type Tile } from "tallystick-protocol/merkle/tilePath";

describe("the path of a tile", () => {
  const anyTile: fc.Arbitrary<Tile> = fc.record({
    level: fc.oneof(fc.constant("entries" as const), fc.integer({ min: 0, max: 63 })),
    index: fc.oneof(fc.nat(2_000), fc.maxSafeNat()),
    width: fc.integer({ min: 1, max: TILE_WIDTH }),
  });

  it("gives the same tile after it is written and read", () => {
    fc.assert(
      fc.property(anyTile, (tile) => {
        expect(parseTilePath(formatTilePath(tile))).to.deep.equal(tile);
      }),
    );
    expect(formatTilePath({ level: 0, index: 1_234_067, width: 1 })).to.equal("0/x001/x234/067.p/1");
  });

  it("has only one valid spelling", () => {
    const others = ["0/x000/001", "0/x000/x001/234", "00/001", "0/1", "0/0001", "0/001/", "0/x001", "/001"];
    const partial = [
      "0/001.p/256",
      "0/001.p/257",
      "0/001.p/0",
      "0/001.p/01",
      "entries/001.p/256",
      "0/001.p/",
    ];
    const beyond = ["64/000", "99/000", "100/000", "entry/000", "0/x009/x007/x199/x254/x740/992"];
    for (const path of [...others, ...partial, ...beyond])
      expect(parseTilePath(path), path).to.equal(undefined);
    expect(parseTilePath("63/000.p/255")).to.deep.equal({ level: 63, index: 0, width: 255 });
    expect(parseTilePath("0/x009/x007/x199/x254/x740/991")?.index).to.equal(Number.MAX_SAFE_INTEGER);
  });
});
