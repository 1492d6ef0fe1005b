import { expect } from "chai";
import type { ApplyContext } from "tallystick-derive/applyContext";
import { drawQueues, enqueue, type QueueKind, queuedHires } from "tallystick-derive/audits/queues";
import { sha256HexByNoble } from "tallystick-derive/sha256Hex";
import { contextAt } from "../contextAt.ts";

const ALL = 1_000_000;

/** The next event's context of the same log, at this block and after so many ticks. */
const at = (context: ApplyContext | null, block: number, ticks = 0): ApplyContext =>
  contextAt(block, null, { state: { ticks }, ...(context && { store: context.store as never }) });

function join(context: ApplyContext, hires: string[], ppm = ALL, kind: QueueKind = "sample"): void {
  for (const hire of hires) enqueue(context, kind, { hire, operator: "op", ppm });
}

/** What a tick takes: `+hire` if it is drawn, else `-hire`. */
function drawn(context: ApplyContext, hash: string | undefined = "0x01"): string[] {
  const taken: string[] = [];
  drawQueues(context, hash, (kind, hire, isDrawn) => taken.push(`${kind[0]}${isDrawn ? "+" : "-"}${hire}`));
  return taken;
}

describe("a queue of audits", () => {
  it("gives each hire to one tick, in order", () => {
    const first = at(null, 10);
    join(first, ["a", "b"]);
    const tick = at(first, 11);
    expect(drawn(tick)).to.deep.equal(["s+a", "s+b"]);
    expect(drawn(tick)).to.deep.equal([]);
    const next = at(tick, 12, 1);
    expect(drawn(next)).to.deep.equal([]);
    join(next, ["c"]);
    expect(drawn(at(next, 13, 1))).to.deep.equal(["s+c"]);
    expect([...queuedHires(next.store, "sample", { operator: "op", ppm: ALL })]).to.deep.equal([
      "a",
      "b",
      "c",
    ]);
    expect([...queuedHires(next.store, "recheck", { operator: "op", ppm: ALL })]).to.deep.equal([]);
  });

  it("keeps the hires of the tick's own block for the next tick", () => {
    const first = at(null, 10);
    join(first, ["a", "b"]);
    const second = at(first, 11);
    join(second, ["c", "d"]);
    expect(second.store.get("auditQueue", `sample/op/${ALL}`)).to.include({
      length: 4,
      before: 2,
      block: 11,
    });
    expect(drawn(at(second, 11))).to.deep.equal(["s+a", "s+b"]);
    expect(drawn(at(second, 12, 1))).to.deep.equal(["s+c", "s+d"]);
    expect(drawn(at(second, 13, 2))).to.deep.equal([]);
    const alone = at(null, 10);
    join(alone, ["a"]);
    expect(drawn(alone)).to.deep.equal([]);
    expect(drawn(at(alone, 11, 1))).to.deep.equal(["s+a"]);
  });

  it("keeps everything at a tick without a hash", () => {
    const first = at(null, 10);
    join(first, ["a"]);
    const none: string[] = [];
    drawQueues(at(first, 11), undefined, (_, hire) => none.push(hire));
    expect(none).to.deep.equal([]);
    expect(drawn(at(first, 12, 1))).to.deep.equal(["s+a"]);
  });

  it("is looked at once in a tick, however many hires join it", () => {
    const first = at(null, 10, 4);
    join(first, ["a", "b", "c"]);
    expect(first.store.get("list", "auditQueues/4")?.length).to.equal(1);
    const same = at(first, 10, 4);
    drawQueues(same, "0x01", () => undefined);
    drawQueues(same, "0x01", () => undefined);
    expect(first.store.get("list", "auditQueues/5")?.length).to.equal(1);
    join(at(first, 11, 5), ["d"]);
    expect(first.store.get("list", "auditQueues/5")?.length).to.equal(1);
    expect(first.store.get("auditQueue", `sample/op/${ALL}`)?.touched).to.equal(5);
  });

  it("has its own places for each kind, operator and rate", () => {
    const first = at(null, 10);
    join(first, ["a"]);
    join(first, ["b"], 500_000);
    join(first, ["c"], 0);
    join(first, ["d"], 0, "recheck");
    join(first, ["e"], ALL, "recheck");
    const taken = drawn(at(first, 11));
    expect(taken.filter((it) => !it.endsWith("b")).sort()).to.deep.equal(["r+e", "r-d", "s+a"]);
  });

  it("gives the undrawn too among passed audits, but not in a sample", () => {
    // A number that is 0 mod 10⁶ draws every second of a half: the places 1 and 3.
    const sha256Hex = () => "0000000000000000";
    const hires = ["a", "b", "c", "d"];
    for (const [kind, expected] of [
      ["sample", ["s+b", "s+d"]],
      ["recheck", ["r-a", "r+b", "r-c", "r+d"]],
    ] as const) {
      const first = at(null, 10);
      join(first, hires, 500_000, kind);
      expect(drawn({ ...at(first, 11), sha256Hex: sha256Hex as never })).to.deep.equal(expected);
    }
    // A later tick counts the places from the first hire that still waits.
    const first = at(null, 10);
    join(first, ["x"], 500_000, "recheck");
    drawn({ ...at(first, 11), sha256Hex: sha256Hex as never });
    const later = at(first, 12, 1);
    join(later, hires, 500_000, "recheck");
    expect(drawn({ ...at(later, 13, 1), sha256Hex: sha256Hex as never })).to.deep.equal([
      ...["r-a", "r+b", "r-c", "r+d"],
    ]);
  });

  it("is drawn by the hash of kind, block, operator and rate", () => {
    const first = at(null, 10);
    join(first, ["a"], 7, "recheck");
    const words: string[] = [];
    const sha256Hex = (text: string, encoding: "utf8") => {
      words.push(text);
      return sha256HexByNoble(text, encoding);
    };
    drawn({ ...at(first, 11), sha256Hex: sha256Hex as never }, "0xabc");
    expect(words).to.deep.equal(["tallystick/audit/recheck/v1 0xabc op 7"]);
  });
});
