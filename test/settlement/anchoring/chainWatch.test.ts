import { expect } from "chai";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { ChainWatch } from "../../../services/settlement/anchoring/chainWatch.ts";
import type { LedgerOnChain } from "../../../services/settlement/anchoring/readLedgerOnChain.ts";
import { codeOf, openGate } from "../support/openGate.ts";

const WRITER = `0x${"aa".repeat(20)}` as const;
const OTHER = `0x${"12".repeat(32)}` as Hex;

describe("the watch over the chain", () => {
  const tree = new MerkleTree();
  for (let n = 0; n < 9; n++) tree.append(leafHash(Uint8Array.of(n)));

  function watch({ forgives = true } = {}) {
    const { gate, said } = openGate();
    const it = new ChainWatch({ tree, writer: WRITER, gate, forgives });
    const see = (
      block: number,
      size: number,
      root = size <= 9 ? toHex(tree.root(size)) : OTHER,
      more = {},
    ) => {
      const head = { size: BigInt(size), root, time: 1n, seq: 1n };
      const answer: LedgerOnChain = {
        block: { number: BigInt(block), time: 1n },
        ledger: { writer: WRITER, head, isEquivocated: false, announced: null, formerSize: null, ...more },
        confirmed: undefined,
      };
      return [codeOf(() => it.seen(answer)), gate.refusal?.code ?? "open"];
    };
    return { it, gate, said, see };
  }

  it("allows no writes until the chain has answered once, and later silence changes nothing", () => {
    const { gate, see, it: chain } = watch();
    expect(gate.refusal?.code).to.equal("chain_unknown");
    expect(codeOf(() => gate.requireWrites())).to.equal("chain_unknown");
    expect(codeOf(() => gate.requireSignatures())).to.equal("chain_unknown");
    expect(see(5, 3)).to.deep.equal(["none", "open"]);
    chain.seen({ block: { number: 6n, time: 1n }, ledger: undefined, confirmed: undefined });
    expect(gate.refusal).to.equal(undefined);
  });

  it("accepts any head that the ledger contains, also a smaller one than before", () => {
    const { see } = watch();
    for (const [block, size] of [
      [5, 9],
      [4, 2],
      [6, 0],
      [7, 9],
    ] as const) {
      expect(see(block, size)).to.deep.equal(["none", "open"]);
    }
  });

  it("stops writes for a head that the ledger does not contain, for another writer, and for a marked ledger", () => {
    expect(watch().see(5, 10)).to.deep.equal(["chain_ahead", "chain_ahead"]);
    expect(watch().see(5, 4, OTHER)).to.deep.equal(["root_contradicts", "root_contradicts"]);
    const another = { writer: `0x${"bb".repeat(20)}` };
    expect(watch().see(5, 4, undefined, another)).to.deep.equal(["writer_differs", "writer_differs"]);
    expect(watch().see(5, 4, undefined, { isEquivocated: true })).to.deep.equal([
      "ledger_equivocated",
      "ledger_equivocated",
    ]);
  });

  it("allows writes again only by a later block, because a node that is behind has not seen the contradiction", () => {
    const { see, said } = watch();
    see(5, 3);
    expect(see(8, 12)).to.deep.equal(["chain_ahead", "chain_ahead"]);
    expect(see(7, 3)).to.deep.equal(["chain_ahead", "chain_ahead"]);
    expect(see(8, 3)).to.deep.equal(["chain_ahead", "chain_ahead"]);
    // A reorg removed the contradiction.
    expect(see(9, 3)).to.deep.equal(["none", "open"]);
    expect(said).to.deep.equal([
      "Writes and checkpoints are refused. chain_ahead",
      "Writes and checkpoints are accepted again.",
    ]);
  });

  it("does not stop writes because of a node that is behind, or follows another branch", () => {
    const { see } = watch();
    see(8, 3);
    expect(see(7, 12)).to.deep.equal(["stale_chain", "open"]);
    expect(see(9, 9)).to.deep.equal(["none", "open"]);
  });

  it("stops writes permanently if the writer's signature still exists after a reorg", () => {
    const { see } = watch({ forgives: false });
    see(5, 3);
    see(8, 12);
    expect(see(9, 3)).to.deep.equal(["chain_ahead", "chain_ahead"]);
  });

  it("distinguishes a replaced writer from one that never wrote here, and in both cases accepts writes again after a later block", () => {
    const next = { writer: `0x${"bb".repeat(20)}` };
    for (const forgives of [true, false]) {
      const { see } = watch({ forgives });
      expect(see(5, 4, undefined, next)).to.deep.equal(["writer_differs", "writer_differs"]);
      // This service's writer has accepted on the chain, so the service goes on by itself.
      expect(see(6, 4)).to.deep.equal(["none", "open"]);
      const followed = { ...next, formerSize: 4n };
      expect(see(7, 4, undefined, followed)).to.deep.equal(["writer_changed", "writer_changed"]);
      expect(see(7, 4)).to.deep.equal(["writer_changed", "writer_changed"]);
      expect(see(8, 4)).to.deep.equal(["none", "open"]);
    }
  });

  it("does not allow writes after a change of the writer if a contradiction is permanent", () => {
    const { see } = watch({ forgives: false });
    see(5, 12);
    expect(see(6, 4, undefined, { writer: `0x${"bb".repeat(20)}` })[0]).to.equal("writer_differs");
    expect(see(7, 4)[0]).to.equal("chain_ahead");
  });

  it("stops only writes while the guardian has announced another writer", () => {
    const { see, gate } = watch();
    const announced = { next: `0x${"bb".repeat(20)}`, readyAt: 1_767_225_600n, halted: true };
    expect(see(5, 4, undefined, { announced })).to.deep.equal(["none", "guardian_announced"]);
    expect(codeOf(() => gate.requireWrites())).to.equal("guardian_announced");
    expect(codeOf(() => gate.requireSignatures())).to.equal("none");
    // An announcement of the writer itself stops nothing. A withdrawn announcement stops nothing.
    expect(see(6, 4, undefined, { announced: { ...announced, halted: false } })[1]).to.equal("open");
    see(7, 4, undefined, { announced });
    expect(see(8, 4)).to.deep.equal(["none", "open"]);
  });
});
