import { expect } from "chai";
import type { Hex } from "tallystick-protocol/hex";
import { BURIED_UNDER, blockOnChain } from "../../../indexer/src/segments/blockOnChain.ts";

/** The header of a block on a fork: forks share the blocks below 100. */
function headerOf(fork: string, block: number) {
  const hashOf = (n: number): Hex => `0x${(n < 100 ? "00" : fork) + n.toString(16).padStart(62, "0")}`;
  return { number: BigInt(block), hash: hashOf(block), parentHash: hashOf(block - 1) };
}

describe("a handler's block", () => {
  const never = new AbortController().signal;
  const at = { block: 100, hash: headerOf("aa", 100).hash };
  /** @param forkAt the fork of the node that answers for a block; undefined if the block does not exist yet */
  const ask = (forkAt: (block: number) => string | undefined, signal = never, isFinal = false) => {
    const read = async (block: number) => {
      const fork = forkAt(block);
      if (fork === undefined) throw new Error("There is no such block.");
      return headerOf(fork, block);
    };
    return blockOnChain(at, read, signal, async () => isFinal);
  };

  it("is on the chain until another block has its number", async () => {
    expect(await ask(() => "aa").isCanonical()).to.equal(true);
    expect(await ask(() => "bb").isCanonical()).to.equal(false);
    expect(
      await ask(() => undefined)
        .isCanonical()
        .catch(String),
    ).to.contain("no such block");
  });

  it("is on the chain in the history, also while the chain's node follows a fork", async () => {
    expect(await ask(() => "bb", never, true).isCanonical()).to.equal(true);
  });

  it("is gone for good when enough blocks follow another block", async () => {
    const upTo = (head: number) => (block: number) => (block <= head ? "bb" : undefined);
    expect(await ask(upTo(100 + BURIED_UNDER)).isBuried()).to.equal(true);
    expect(
      await ask(upTo(99 + BURIED_UNDER))
        .isBuried()
        .catch(() => false),
    ).to.equal(false);
    expect(await ask(() => "aa").isBuried()).to.equal(false);
  });

  it("is not gone when only some of the answers come from a node with another block", async () => {
    for (let other = 100; other <= 100 + BURIED_UNDER; other++) {
      expect(await ask((block) => (block === other ? "bb" : "aa")).isBuried(), `bb at ${other}`).to.equal(
        false,
      );
      expect(await ask((block) => (block <= other ? "bb" : "aa")).isBuried(), `bb up to ${other}`).to.equal(
        other === 100 + BURIED_UNDER,
      );
    }
  });

  it("is not gone because of answers that are no headers, or those of other blocks", async () => {
    const good = headerOf("bb", 100);
    for (const odd of [
      {},
      headerOf("aa", 99),
      headerOf("bb", 101 + BURIED_UNDER),
      { ...good, number: undefined },
      { ...good, number: null },
      { ...good, number: 100 },
      { ...good, hash: undefined },
      { ...good, parentHash: null },
      { ...good, hash: "0x" },
    ]) {
      const { isCanonical, isBuried } = blockOnChain(
        at,
        async () => odd as never,
        never,
        async () => false,
      );
      for (const looked of [isCanonical(), isBuried()])
        expect(String(await looked.catch((error) => error))).to.contain("is not its header");
    }
  });

  it("is not asked for any longer when the process shuts down", async () => {
    const stop = new AbortController();
    const asked: number[] = [];
    const { isBuried } = ask((block) => {
      asked.push(block);
      stop.abort(new Error("shutting down"));
      return "bb";
    }, stop.signal);
    expect(String(await isBuried().catch((error) => error))).to.contain("shutting down");
    expect(asked).to.deep.equal([100 + BURIED_UNDER]);
  });
});
