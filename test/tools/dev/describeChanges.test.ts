import { stripVTControlCharacters } from "node:util";
import { expect } from "chai";
import type { Snapshot } from "tallystick-derive/snapshot";
import { describeChanges } from "../../../tools/dev/describeChanges.ts";
import { snapshotChanges } from "../../../tools/dev/snapshotChanges.ts";

const snapshot = (digest: string, agents: object, clusters: object = {}) =>
  ({ asOf: { block: 7, time: 700 }, digest, agents, clusters }) as unknown as Snapshot;

describe("the differences between two derivations", () => {
  const before = snapshot("0xaa", { b: { stars: 4, texts: ["x"] }, a: { stars: 5 } }, { c: { size: 2 } });
  const after = snapshot("0xbb", { b: { stars: 4, texts: ["x", "y"] }, d: { stars: null, hires: 0 } });

  it("contain each changed value, also of new and removed agents and clusters", () => {
    expect(snapshotChanges(before, after)).to.deep.equal({
      asOf: { block: 7, time: 700 },
      digest: { before: "0xaa", after: "0xbb" },
      changes: [
        { of: "agent", id: "a", field: "stars", before: 5, after: null },
        { of: "agent", id: "b", field: "texts", before: ["x"], after: ["x", "y"] },
        { of: "agent", id: "d", field: "hires", before: null, after: 0 },
        { of: "cluster", id: "c", field: "size", before: 2, after: null },
      ],
    });
    expect(snapshotChanges(before, before).changes).to.deep.equal([]);
  });

  it("are shown as a table of limited length, and as a summary in one line", () => {
    const text = stripVTControlCharacters(describeChanges(snapshotChanges(before, after), 2));
    expect(text)
      .to.match(/a +│ stars +│ 5 +│ – /)
      .and.match(/b +│ texts +│ \["x"\] +│ \["x","y"\] /);
    expect(text).to.not.contain("hires");
    expect(text).to.contain("… and 2 more (--show)");
    expect(text).to.contain("4 values changed · block 7 · digest 0xaa → 0xbb");
    const same = stripVTControlCharacters(describeChanges(snapshotChanges(before, before), 2));
    expect(same).to.equal("nothing changed · block 7 · the digest is the same");
  });
});
