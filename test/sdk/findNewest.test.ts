import { expect } from "chai";
import { findNewest } from "tallystick-sdk/escrow/findNewest";
import { rejection } from "./support/tamper.ts";

describe("a search in the newest blocks", () => {
  /** An RPC that accepts this many blocks in a request. It has an event in one block. */
  const open = (most: bigint, event: bigint | undefined) => {
    const asked: [from: bigint, to: bigint][] = [];
    const look = async (from: bigint, to: bigint): Promise<string | undefined> => {
      asked.push([from, to]);
      if (to - from + 1n > most) throw new Error("too many blocks");
      return event !== undefined && from <= event && event <= to ? "found" : undefined;
    };
    return { asked, look };
  };
  const of = { head: 20_000n, blocks: 5_000n };

  it("needs one request if the RPC accepts all blocks, and asks for no block before the first one", async () => {
    for (const [event, found] of [
      [15_000n, "found"],
      [20_000n, "found"],
      [14_999n, undefined],
    ] as const) {
      const { asked, look } = open(10_000n, event);
      expect(await findNewest(look, of)).to.equal(found);
      expect(asked).to.deep.equal([[15_000n, 20_000n]]);
    }
    const { asked, look } = open(10_000n, 0n);
    expect(await findNewest(look, { head: 7n, blocks: 5_000n })).to.equal("found");
    expect(asked).to.deep.equal([[0n, 7n]]);
  });

  it("finds a new event also if the RPC accepts only few blocks", async () => {
    for (const most of [2_000n, 1_000n, 500n, 10n, 1n]) {
      const { look } = open(most, 19_998n);
      expect(await findNewest(look, of), String(most)).to.equal("found");
    }
  });

  it("searches every block once if the RPC accepts a tenth of them", async () => {
    const { asked, look } = open(500n, undefined);
    expect(await findNewest(look, of)).to.equal(undefined);
    const searched = asked.filter(([from, to]) => to - from < 500n).toReversed();
    expect(searched[0]?.[0]).to.equal(15_000n);
    for (const [at, [, to]] of searched.entries()) expect(to + 1n).to.equal(searched[at + 1]?.[0] ?? 20_001n);
  });

  it("does not say that there is no event if it could not search everywhere", async () => {
    for (const most of [0n, 10n]) {
      const { asked, look } = open(most, 15_000n);
      expect((await rejection(findNewest(look, of))).message).to.equal("too many blocks");
      expect(asked.length).to.be.at.most(25);
    }
  });
});
