import { expect } from "chai";
import { HeldRows } from "../../../indexer/src/segments/heldRows.ts";

/** As many lines as a part of a segment has at most, and the same size in few long lines. */
const SHORT = Array.from({ length: 25_000 }, () => "{}");
const LONG = Array.from({ length: 4 }, () => "x".repeat(9 << 20));

describe("the rows that Ponder holds in memory", () => {
  /** Applies lines in a transaction for each name. Gives the number of the lines before which the rows were freed. */
  async function freedAt(names: readonly string[], lines: readonly string[]): Promise<number[]> {
    const rows = new HeldRows();
    const freed: number[] = [];
    for (const [n, name] of names.entries()) {
      await rows.makeRoom(lines, { name: async () => name, free: async () => void freed.push(n) });
    }
    return freed;
  }

  it("are freed after lines of four parts, and again after four more", async () => {
    const one = Array.from({ length: 10 }, () => "one");
    for (const lines of [SHORT, LONG]) expect(await freedAt(one, lines)).to.deep.equal([4, 8]);
  });

  it("are freed when many small anchors have as many lines together", async () => {
    const few = SHORT.slice(0, 260);
    const freed = await freedAt(
      Array.from({ length: 1_000 }, () => "one"),
      few,
    );
    expect(freed).to.have.length(2);
    expect(freed[0]).to.be.within(380, 400);
  });

  it("are not freed when Ponder wrote them itself at the end of a transaction", async () => {
    const names = ["one", "two", "three"].flatMap((it) => [it, it, it]);
    expect(await freedAt(names, SHORT)).to.deep.equal([]);
  });
});
