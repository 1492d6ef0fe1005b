import { expect } from "chai";
import type { Hex } from "tallystick-protocol/hex";
import { refusalOf } from "../../../indexer/logPort/rpc/refusals.ts";
import { FakeChain, wallet, ZERO } from "./support/fakeChain.ts";
import type { Fault } from "./support/rpcServer.ts";
import { ALICE, BOB, CALL, CAROL, failure, pay, rangeOf, serveStory } from "./support/rpcStory.ts";

describe("the RPC source of token logs when a node refuses", () => {
  const { chain, open, outcomes, server, waits, whole } = serveStory();

  const dialects: { [who: string]: (blocks: number, logs: number) => Fault | undefined } = {
    Alchemy: (_, logs) =>
      logs > 6
        ? { code: -32602, message: "Log response size exceeded. this block range should work: [0x0, 0x3]" }
        : undefined,
    "Alchemy's free plan": (blocks) =>
      blocks > 10
        ? { code: -32600, message: "You can make eth_getLogs requests with up to a 10 block range." }
        : undefined,
    "Infura by results": (_, logs) =>
      logs > 6 ? { code: -32005, message: "query returned more than 6 results" } : undefined,
    "Infura by blocks": (blocks) =>
      blocks > 5 ? { code: -32602, message: `range ${blocks} exceeds limit of 5` } : undefined,
    QuickNode: (blocks) =>
      blocks > 5 ? { code: -32614, message: "eth_getLogs is limited to a 5 range" } : undefined,
    publicnode: (blocks) =>
      blocks > 7 ? { code: -32701, message: "exceed maximum block range: 7" } : undefined,
    Ankr: (blocks) => (blocks > 3 ? { code: -32600, message: "block range is too wide" } : undefined),
    "Base's own": (_, logs) =>
      logs > 6 ? { code: -32020, message: "backend response too large" } : undefined,
    "reth by blocks": (blocks) =>
      blocks > 5 ? { code: -32602, message: "query exceeds max block range 5" } : undefined,
    "reth by results": (_, logs) =>
      logs > 6
        ? { code: -32602, message: "query exceeds max results 6, retry with the range 1-2" }
        : undefined,
    Erigon: (blocks) =>
      blocks > 5
        ? { code: -32000, message: "query block range exceeds server limit, narrow your filter: 5" }
        : undefined,
    "one whose words we do not know": (blocks) =>
      blocks > 4 ? { code: -32000, message: "nope" } : undefined,
  };
  for (const [who, refuse] of Object.entries(dialects)) {
    it(`still reads everything, with the limits of ${who}`, async () => {
      server.refuse = (message) => {
        if (message.method !== "eth_getLogs" || message.params[0] === undefined) return undefined;
        const { blocks, to } = rangeOf(message);
        const query = { kind: "transfersTo", wallets: [ALICE, BOB, CAROL] } as const;
        return refuse(blocks, chain.find(query, { from: to - blocks + 1, to }).length);
      };
      const wallets = [ALICE, BOB, CAROL];
      expect(await open().transfersTo(wallets, whole, CALL)).to.deep.equal(
        chain.find({ kind: "transfersTo", wallets }, whole),
      );
      expect(outcomes("refused")).to.be.above(0);
      // The source learns the limits, so most requests are not refused. After an unknown error, it first tries again.
      if (!who.includes("words")) expect(outcomes("ok")).to.be.above(outcomes("refused"));
    });
  }

  it("asks for fewer wallets if the node limits topics", async () => {
    server.refuse = (message) =>
      message.method === "eth_getLogs" && rangeOf(message).wallets > 40
        ? { code: -32602, message: "exceed max addresses or topics per search position" }
        : undefined;
    const wallets = Array.from({ length: 150 }, (_, n) => wallet(150 + n));
    expect(await open().transfersTo(wallets, whole, CALL)).to.deep.equal(
      chain.find({ kind: "transfersTo", wallets }, whole),
    );
  });

  it("learns a limit on wallets from words that it does not know, and keeps its range of blocks", async () => {
    server.refuse = (message) =>
      message.method === "eth_getLogs" && rangeOf(message).wallets > 40
        ? { code: -32000, message: "nope" }
        : undefined;
    const wallets = Array.from({ length: 150 }, (_, n) => wallet(150 + n));
    const expected = chain.find({ kind: "transfersTo", wallets }, whole);
    const source = open();
    expect(await source.transfersTo(wallets, whole, CALL)).to.deep.equal(expected);
    const [refused, answered] = [outcomes("refused"), outcomes("ok")];
    expect(await source.transfersTo(wallets, whole, CALL)).to.deep.equal(expected);
    expect(outcomes("refused"), "nothing is refused a second time").to.equal(refused);
    expect(outcomes("ok") - answered, "seven windows of five requests").to.be.at.most(60);
  });

  for (const [most, message] of [
    [10, "maximum 10 calls in 1 batch"],
    [3, "Batch of more than 3 requests are not allowed on free plan"],
    [1, "Invalid Request"],
  ] as const) {
    it(`sends batches of ${most} calls if the provider takes no more`, async () => {
      const refused = { jsonrpc: "2.0", id: null, error: { code: -32600, message } };
      server.behave = (messages) =>
        messages.length > most ? { status: 400, text: JSON.stringify(refused) } : undefined;
      const source = open();
      const numbers = Array.from({ length: 40 }, (_, n) => n + 1);
      expect((await source.headers(numbers, CALL)).map(({ block }) => block)).to.deep.equal(numbers);
      expect(await source.transfersTo([BOB], whole, CALL)).to.deep.equal(
        chain.find({ kind: "transfersTo", wallets: [BOB] }, whole),
      );
      const { block, hash } = chain.at(chain.head);
      const wallets = Array.from({ length: 25 }, (_, n) => wallet(n));
      const fresh = open();
      expect(await fresh.balances(wallets, { block, hash }, CALL)).to.deep.equal(
        wallets.map((it) => chain.balanceOf(it, block)),
      );
      const paid = chain.find({ kind: "transfersTo", wallets: [BOB] }, whole)[0];
      const found = await fresh.transactionLogs(paid?.tx as Hex, chain.head, CALL);
      expect(found?.block).to.equal(paid?.block);
      expect(waits, "a smaller batch is no new attempt").to.deep.equal([]);
    });
  }
  it("does not believe one node of several that a transaction does not exist", async () => {
    const tx = chain.find({ kind: "transfersTo", wallets: [BOB] }, { from: 50, to: chain.head })[0]
      ?.tx as Hex;
    const source = open({ batch: 1 });
    await source.transfersTo([BOB], whole, CALL);
    let asked = 0;
    server.behave = ([message]) =>
      message?.method === "eth_getTransactionReceipt" && message.params[0] === tx && asked++ === 0
        ? { node: { head: 20 } }
        : undefined;
    expect((await source.transactionLogs(tx, chain.head, CALL))?.tx).to.equal(tx);
  });
  it("asks for a smaller range if an answer is too long", async () => {
    const wallets = [ALICE, BOB, CAROL];
    for (const finality of [0, 100]) {
      server.reset(chain, { finality });
      const before = outcomes("refused");
      const source = open({ maxBytes: finality === 0 ? 6_000 : 20_000 });
      expect(await source.transfersTo(wallets, whole, CALL)).to.deep.equal(
        chain.find({ kind: "transfersTo", wallets }, whole),
      );
      expect(outcomes("refused")).to.be.above(before);
    }
  });

  it("does not trust an answer with exactly the number of logs at which a server cuts without a notice", async () => {
    const many = new FakeChain(
      Array.from({ length: 90 }, () => Array.from({ length: 50 }, () => pay(ZERO, BOB))),
    );
    server.reset(many);
    server.behave = () => ({ edit: (_, it) => (Array.isArray(it) ? it.slice(0, 1_000) : it) });
    const range = { from: 0, to: 90 };
    const read = await open({ maxBlocks: 10_000 }).transfersTo([BOB], range, CALL);
    expect(read).to.deep.equal(many.find({ kind: "transfersTo", wallets: [BOB] }, range));
  });

  it("ends when one block of one wallet is refused", async () => {
    server.refuse = ({ method, params }) =>
      method === "eth_getLogs" && Number((params[0] as { toBlock: string }).toBlock) >= 60
        ? { code: -32602, message: "query exceeds max results 0" }
        : undefined;
    const error = await failure(open().transfersTo([ALICE], whole, CALL));
    expect(error.code).to.equal("source_refused");
    expect(error.message).to.contain("max results 0");
  });

  it("understands the errors of providers", () => {
    const meant: [string, number, string][] = [
      ["rate", -32005, "daily request count exceeded, request rate limited"],
      ["rate", 429, "Your app has exceeded its compute units per second capacity."],
      ["history", 4444, "pruned history unavailable"],
      ["history", -32000, "Receipt not available for From block 14319330."],
      ["behind", -32602, "block range extends beyond current head block"],
      ["unknownBlock", -32000, "unknown block"],
      ["size", -32005, "query timeout exceeded. Consider reducing your block range."],
      ["range", 35, "ranges over 10000 blocks are not supported on freetier"],
      ["range", -32602, "eth_getLogs is limited to 0 - 50 blocks range"],
      ["other", -32603, "internal error"],
      ["other", -32603, "failed to get a response from upstream"],
    ];
    for (const [refusal, code, message] of meant)
      expect(refusalOf({ code, message }), message).to.equal(refusal);
  });
});
