import { expect } from "chai";
import { TOKEN } from "./support/fakeChain.ts";
import type { RpcMessage } from "./support/rpcServer.ts";
import { ALICE, BOB, CALL, CAROL, failure, rangeOf, serveStory } from "./support/rpcStory.ts";

const logsCall = (messages: RpcMessage[]) =>
  messages.find(({ method, params }) => method === "eth_getLogs" && "fromBlock" in (params[0] as object));

const isByHash = ([first]: unknown[]) => typeof first === "object" && first !== null && "blockHash" in first;

describe("the RPC source of token logs", () => {
  const { chain, open, server, whole } = serveStory();

  it("gives transfers to, transfers from and used authorizations, in order, with their places", async () => {
    const source = open();
    const both = [ALICE, BOB];
    expect(await source.transfersTo(both, whole, CALL)).to.deep.equal(
      chain.find({ kind: "transfersTo", wallets: both }, whole),
    );
    expect(await source.transfersFrom([CAROL], whole, CALL)).to.deep.equal(
      chain.find({ kind: "transfersFrom", wallets: [CAROL] }, whole),
    );
    const used = await source.authorizationsBy([ALICE, CAROL], { from: 10, to: 40 }, CALL);
    expect(used).to.have.length(10);
    expect(used).to.deep.equal(
      chain.find({ kind: "authorizationsBy", wallets: [ALICE] }, { from: 10, to: 40 }),
    );
    expect(await source.transfersTo([], whole, CALL)).to.deep.equal([]);
    expect(await source.transfersTo([BOB, BOB], { from: 5, to: 4 }, CALL)).to.deep.equal([]);
  });

  it("leaves the time unknown if the node does not give it with its logs", async () => {
    server.reset(chain, { tellsTime: false });
    const [first] = await open().transfersTo([BOB], whole, CALL);
    expect(first?.time).to.equal(null);
  });

  it("treats a time of 0 as unknown, and refuses a time after the last block of the range", async () => {
    const timed = (time: string) => () => ({
      edit: ({ method }: RpcMessage, result: unknown) =>
        method === "eth_getLogs"
          ? (result as object[]).map((log) => ({ ...log, blockTimestamp: time }))
          : result,
    });
    server.behave = timed("0x0");
    const logs = await open().transfersTo([BOB], whole, CALL);
    expect(new Set(logs.map(({ time }) => time))).to.deep.equal(new Set([null]));
    server.behave = timed("0x1234567890");
    const error = await failure(open().transfersTo([BOB], whole, CALL));
    expect(error.message).to.match(/logs\[\d+\]\.time cannot be 78187493520 in block/);
  });

  it("stops asking for a wallet that has enough logs", async () => {
    const source = open({ concurrency: 1 });
    const query = { kind: "transfersTo", wallets: [BOB, CAROL] } as const;
    const first = await source.transfersTo([BOB, CAROL], whole, { ...CALL, limit: 3 });
    expect(first).to.deep.equal(chain.find(query, whole, 3));
    const asked = server.requests
      .map(logsCall)
      .filter((it) => it !== undefined)
      .map(rangeOf)
      .filter(({ wallets }) => wallets > 0)
      .map(({ to }) => to);
    expect(Math.max(...asked)).to.be.below(40);
  });

  it("reads one block by its hash, also an orphaned one, with one request for all kinds", async () => {
    const source = open();
    const { hash } = chain.at(15);
    const at = { block: 15, hash };
    const range = { from: 15, to: 15 };
    expect(await source.transfersTo([CAROL], at, CALL)).to.deep.equal(
      chain.find({ kind: "transfersTo", wallets: [CAROL] }, range),
    );
    const asked = server.requests.length;
    await source.transfersFrom([ALICE, BOB], at, CALL);
    await source.authorizationsBy([ALICE], at, CALL);
    expect(server.requests.length).to.equal(asked);
    expect(asked).to.equal(1);
  });

  it("reads blocks above finality one by one along one chain", async () => {
    server.reset(chain, { finality: 12 });
    const source = open();
    const wallets = [ALICE, BOB, CAROL];
    expect(await source.transfersTo(wallets, whole, CALL)).to.deep.equal(
      chain.find({ kind: "transfersTo", wallets }, whole),
    );
    const byHash = server.requests.flat().filter(({ params }) => isByHash(params));
    expect(byHash).to.have.length(12);
    // The same is true with a number of blocks for finality, as for Ponder.
    server.reset(chain, { finality: 0 });
    await open({ finalityBlocks: 20 }).transfersTo(wallets, whole, CALL);
    expect(server.requests.flat().filter(({ params }) => isByHash(params))).to.have.length(20);
  });

  it("gives headers in order, once each", async () => {
    const headers = await open({ batch: 3 }).headers([9, 3, 4, 4, 50, 8, 7], CALL);
    expect(headers.map(({ block }) => block)).to.deep.equal([3, 4, 7, 8, 9, 50]);
    const { block, hash, parentHash, time } = chain.at(50);
    expect(headers.at(-1)).to.deep.equal({ block, hash, parentHash, time });
  });

  it("gives the logs of a transaction, or null if the transaction is not in the blocks up to a given one", async () => {
    const source = open();
    const found = chain
      .at(17)
      .logs.find(({ address, topics }) => address === TOKEN && topics[1]?.endsWith(BOB.slice(2)));
    const logs = await source.transactionLogs(found!.tx, chain.head, CALL);
    expect(logs?.transfers).to.deep.include(
      chain.find({ kind: "transfersFrom", wallets: [BOB] }, { from: 17, to: 17 })[0],
    );
    expect(logs).to.include({ tx: found!.tx, block: 17, blockHash: chain.at(17).hash });
    expect(await source.transactionLogs(found!.tx, 16, CALL)).to.equal(null);
    expect(await source.transactionLogs(`0x${"12".repeat(32)}`, chain.head, CALL)).to.equal(null);
  });
});
