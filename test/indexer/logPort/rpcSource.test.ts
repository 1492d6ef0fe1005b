import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { Call, SourceRequest } from "../../../indexer/logPort/logPort.ts";
import { createRpcSource, type RpcSourceOptions } from "../../../indexer/logPort/rpc/createRpcSource.ts";
import { refusalOf } from "../../../indexer/logPort/rpc/refusals.ts";
import { FakeChain, OTHER_TOKEN, TOKEN, type Written, wallet, ZERO } from "./support/fakeChain.ts";
import { type Fault, type RpcMessage, type RpcServer, startRpcServer } from "./support/rpcServer.ts";

const [ALICE, BOB, CAROL] = [wallet(1), wallet(2), wallet(3)];
const never = new AbortController().signal;
const CALL: Call = { signal: never, deadlineMs: 120_000 };

const pay = (from: Address, to: Address, value = 1n): Written => ({ from, to, value });
const use = (authorizer: Address, n: number): Written => ({
  authorizer,
  nonce: `0x${n.toString(16).padStart(64, "0")}`,
});

/** A hundred blocks: a mint, transfers among three wallets, and transfers of other wallets and of another token. */
const story = () =>
  new FakeChain([
    [pay(ZERO, ALICE, 1_000n)],
    ...Array.from({ length: 99 }, (_, n): Written[] => [
      pay(wallet(100 + n), wallet(200 + n)),
      ...(n % 3 === 0 ? [use(ALICE, n), pay(ALICE, BOB, 2n)] : []),
      ...(n % 5 === 0 ? [{ ...pay(BOB, CAROL), token: OTHER_TOKEN }, pay(BOB, CAROL)] : []),
      ...(n % 7 === 0 ? [pay(CAROL, CAROL)] : []),
    ]),
  ]);

const logsCall = (messages: RpcMessage[]) =>
  messages.find(({ method, params }) => method === "eth_getLogs" && "fromBlock" in (params[0] as object));
const rangeOf = (message: RpcMessage) => {
  const { fromBlock, toBlock, topics } = message.params[0] as {
    fromBlock: string;
    toBlock: string;
    topics: unknown[];
  };
  const topic = topics
    .slice(1)
    .flat()
    .filter((it) => it !== null);
  return { blocks: Number(toBlock) - Number(fromBlock) + 1, to: Number(toBlock), wallets: topic.length };
};

const isByHash = ([first]: unknown[]) => typeof first === "object" && first !== null && "blockHash" in first;

describe("the RPC source of token logs", () => {
  let server: RpcServer;
  let waits: number[];
  let counted: SourceRequest[];
  const chain = story();

  before(async () => {
    server = await startRpcServer(chain);
  });
  after(() => server.close());
  beforeEach(() => {
    server.reset(chain);
    waits = [];
    counted = [];
  });

  const open = (more: Partial<RpcSourceOptions> = {}) =>
    createRpcSource({
      url: server.url,
      token: TOKEN,
      firstBlock: 0,
      maxBlocks: 16,
      sleep: async (milliseconds) => void waits.push(milliseconds),
      onRequest: (request) => counted.push(request),
      ...more,
    });
  const whole = { from: 0, to: chain.head };
  const outcomes = (outcome: string) => counted.filter((it) => it.outcome === outcome).length;
  const failure = async (work: Promise<unknown>) => {
    const error = await work.then(
      (value) =>
        expect.fail(`answered ${JSON.stringify(value, (_, it) => (typeof it === "bigint" ? `${it}` : it))}`),
      (error) => error,
    );
    return error as Error & { code: string; field?: string };
  };

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

  describe("when a node refuses", () => {
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

  describe("when a server misbehaves for a while", () => {
    const once = (misbehaviour: NonNullable<ReturnType<RpcServer["behave"]>>, at = [1, 3, 4]) => {
      server.behave = (_, n) => (at.includes(n) ? misbehaviour : undefined);
    };
    const reads = async (more: Partial<RpcSourceOptions> = {}) => {
      const wallets = [ALICE, BOB, CAROL];
      expect(await open({ concurrency: 1, ...more }).transfersTo(wallets, whole, CALL)).to.deep.equal(
        chain.find({ kind: "transfersTo", wallets }, whole),
      );
    };

    it("waits as long as a 429 says", async () => {
      once({ status: 429, headers: { "retry-after": "7" } });
      await reads();
      expect(waits).to.deep.equal([7_000, 7_000, 7_000]);
      expect(outcomes("limited")).to.equal(3);
    });
    it("waits until the date in a 503, and at most a minute", async () => {
      const date = new Date(1_700_000_000_000);
      const until = (seconds: number) => new Date(date.getTime() + seconds * 1_000).toUTCString();
      once({ status: 503, headers: { date: date.toUTCString(), "retry-after": until(3) } }, [1]);
      await reads();
      once({ status: 429, headers: { date: date.toUTCString(), "retry-after": until(86_400) } }, [
        server.requests.length + 1,
      ]);
      await reads();
      expect(waits).to.deep.equal([3_000, 60_000]);
    });
    it("repeats a call whose error says that there were too many calls", async () => {
      once({ fault: () => ({ code: 429, message: "compute units per second" }) });
      await reads();
      expect(waits).to.deep.equal([250, 250, 500]);
    });
    it("asks again after 500, 502, and a page in HTML with 200", async () => {
      for (const misbehaviour of [
        { status: 500 },
        { status: 502, text: "{}" },
        { status: 200, text: "<html>" },
      ]) {
        server.reset(chain);
        once(misbehaviour);
        await reads();
      }
      expect(outcomes("failed")).to.equal(9);
    });
    it("asks again after an answer that is cut off, at any byte", async () => {
      for (const cutAt of [0, 1, 100, 700]) {
        server.reset(chain);
        once({ cutAt });
        await reads();
      }
    });
    it("asks again after a broken connection", async () => {
      once({ destroy: true });
      await reads();
    });
    it("asks again after an attempt that takes too long", async () => {
      once({ hang: true }, [1]);
      // On a busy machine other attempts may take too long too.
      await reads({ timeoutMs: 1_000, attempts: 100 });
    });
    it("asks again after a batch with a missing answer or another id", async () => {
      once({ status: 200, text: '[{"jsonrpc":"2.0","id":0,"result":null}]' });
      await reads();
      server.reset(chain);
      once({ status: 200, text: '{"jsonrpc":"2.0","id":7,"result":"0x1"}' });
      await reads();
    });
    it("does not trust a node that lags behind", async () => {
      server.behave = (_, n) => (n > 1 && n % 2 === 0 ? { node: { head: 30 } } : undefined);
      await reads();
      expect(outcomes("stale")).to.be.above(0);
    });
    it("does not trust a node that has dropped old logs", async () => {
      server.behave = (_, n) => (n % 2 === 0 ? { node: { keepsFrom: 50 } } : undefined);
      await reads();
      expect(outcomes("stale")).to.be.above(0);
    });
    it("does not trust an empty answer for a block by its hash if the header contradicts it", async () => {
      const { hash } = chain.at(17);
      server.behave = (_, n) =>
        n === 0 ? { edit: ({ method }, it) => (method === "eth_getLogs" ? [] : it) } : undefined;
      expect(await open().transfersFrom([BOB], { block: 17, hash }, CALL)).to.have.length(1);
    });
    describe("that has the header of a block, and not yet its logs", () => {
      /** Its first answers for logs are empty, also those without a filter. */
      const logsAfter = (empty: number, bloom?: string) => {
        let asked = 0;
        server.behave = () => ({
          edit: ({ method }, it) => {
            if (method === "eth_getLogs") return ++asked > empty ? it : [];
            return bloom === undefined ? it : { ...(it as object), logsBloom: bloom };
          },
        });
      };
      const FULL = `0x${"f".repeat(512)}`;
      const at = { block: 17, hash: chain.at(17).hash };
      const read = () => open().transfersFrom([BOB], at, CALL);

      it("waits for the logs", async () => {
        for (const empty of [1, 2, 3, 4]) {
          waits = [];
          logsAfter(empty);
          expect(await read()).to.have.length(1);
          expect(waits, `after ${empty} empty answers`).to.deep.equal(
            [[], [250], [250], [250, 500]][empty - 1],
          );
        }
      });
      it("fails when they never come, and does not keep the empty block", async () => {
        const source = open();
        logsAfter(Number.POSITIVE_INFINITY);
        expect((await failure(source.blockLogs([at], CALL))).code).to.equal("source_logs_missing");
        expect(waits).to.have.length(5);
        logsAfter(0);
        const [logs] = await source.blockLogs([at], CALL);
        expect(logs?.transfers).to.have.length(3);
      });
      it("believes at once that there are none if the block's other logs explain its bloom", async () => {
        const other = new FakeChain([[{ ...pay(ALICE, BOB), token: OTHER_TOKEN }, { approver: ALICE }]]);
        server.reset(other);
        const blocks = [{ block: 1, hash: other.at(1).hash }];
        expect(await open().blockLogs(blocks, CALL)).to.deep.equal([{ transfers: [], authorizations: [] }]);
        expect(waits).to.deep.equal([]);
        server.behave = () => ({
          edit: ({ method }, it) => (method === "eth_getLogs" ? (it as unknown[]).slice(1) : it),
        });
        expect((await failure(open().blockLogs(blocks, CALL))).code).to.equal("source_logs_missing");
      });
      it("asks again after a pause if the list of all logs may be cut at a round number", async () => {
        const others = Array.from({ length: 1_000 }, () => ({ ...pay(ALICE, BOB), token: OTHER_TOKEN }));
        const crowded = new FakeChain([[...others, { approver: ALICE }]]);
        server.reset(crowded);
        const blocks = [{ block: 1, hash: crowded.at(1).hash }];
        const cutAt = (most: number) => {
          waits = [];
          server.behave = () => ({
            edit: ({ method }, it) => (method === "eth_getLogs" ? (it as unknown[]).slice(0, most) : it),
          });
          return open().blockLogs(blocks, CALL);
        };
        expect(await cutAt(1_000)).to.deep.equal([{ transfers: [], authorizations: [] }]);
        expect(waits).to.deep.equal([250]);
        expect((await failure(cutAt(999))).code).to.equal("source_logs_missing");
      });
      it("asks again after a pause if the bloom is full or missing, or if no logs come without a filter", async () => {
        const empty = new FakeChain(
          Array(12).fill([{ ...pay(ALICE, BOB), token: OTHER_TOKEN }, { approver: ALICE }]),
        );
        const blocks = empty.blocks.slice(1).map(({ block, hash }) => ({ block, hash }));
        const none = blocks.map(() => ({ transfers: [], authorizations: [] }));
        for (const bloom of [FULL, "0x", undefined]) {
          waits = [];
          server.reset(empty);
          logsAfter(0, bloom);
          if (bloom === undefined) {
            server.refuse = ({ method, params: [filter] }) =>
              method === "eth_getLogs" && !("address" in (filter as object))
                ? { code: -32602, message: "Please specify an address in your request" }
                : undefined;
          }
          expect(await open().blockLogs(blocks, CALL)).to.deep.equal(none);
          // One pause for each group of blocks.
          expect(waits, String(bloom)).to.deep.equal([250, 250]);
        }
        // Some providers refuse a question by the status of HTTP alone.
        waits = [];
        server.reset(empty);
        logsAfter(0, undefined);
        server.behave = (messages) =>
          messages.some(
            ({ method, params: [filter] }) => method === "eth_getLogs" && !("address" in Object(filter)),
          )
            ? { status: 403, text: "Forbidden" }
            : undefined;
        expect(await open().blockLogs(blocks, CALL)).to.deep.equal(none);
        expect(waits).to.deep.equal([250, 250]);
        for (const bloom of [FULL, "0x"]) {
          server.reset(chain);
          logsAfter(2, bloom);
          expect(await read()).to.have.length(1);
        }
      });
    });
    describe("behind a gateway that always fails at logs without an address", () => {
      /** Blocks that may have transfers of the token by their bloom, and have none. */
      const others = (blocks: number) =>
        new FakeChain(Array(blocks).fill([{ ...pay(ALICE, BOB), token: OTHER_TOKEN }, { approver: ALICE }]));
      const placesOf = (of: FakeChain) => of.blocks.slice(1).map(({ block, hash }) => ({ block, hash }));
      const none = { transfers: [], authorizations: [] };
      const isAll = ({ method, params: [filter] }: RpcMessage) =>
        method === "eth_getLogs" && !("address" in Object(filter));
      const isReceipts = ({ method }: RpcMessage) => method === "eth_getBlockReceipts";
      const isReceipt = ({ method }: RpcMessage) => method === "eth_getTransactionReceipt";
      const failAt = (...kinds: ((message: RpcMessage) => boolean)[]) => {
        server.behave = (messages) =>
          messages.some((it) => kinds.some((isOf) => isOf(it))) ? { status: 502 } : undefined;
      };
      const asked = (isOf: (message: RpcMessage) => boolean) => server.requests.flat().filter(isOf).length;
      /** The pauses of one question that always fails. */
      const PAUSES = [250, 500, 1_000, 2_000, 4_000];

      for (const [what, fail, refuse] of [
        ["its receipts", [isAll], () => false],
        ["the receipts of its transactions, if the provider has no method for a block", [isAll], isReceipts],
        ["the receipts of its transactions, if the other method fails too", [isAll, isReceipts], () => false],
      ] as [string, ((message: RpcMessage) => boolean)[], (message: RpcMessage) => boolean][]) {
        it(`believes that a block has none by ${what}, and asks for them first from then on`, async () => {
          const chain = others(3);
          server.reset(chain);
          failAt(...fail);
          server.refuse = (message) =>
            refuse(message) ? { code: -32601, message: "the method does not exist" } : undefined;
          const source = open();
          expect(await source.blockLogs(placesOf(chain), CALL)).to.deep.equal([none, none, none]);
          expect(waits).to.deep.equal(fail.flatMap(() => PAUSES));
          expect(asked(isAll)).to.equal(6);
        });
      }
      it("tries the questions in their first order again after many blocks", async () => {
        const chain = others(300);
        server.reset(chain);
        failAt(isAll);
        const source = open();
        await source.blockLogs(placesOf(chain).slice(0, 20), CALL);
        const before = asked(isReceipts);
        server.behave = () => undefined;
        await source.blockLogs(placesOf(chain).slice(20), CALL);
        expect([before, asked(isReceipts)]).to.deep.equal([20, 257]);
      });
      it("finds in the receipts what it did not get by the filter", async () => {
        const { hash } = chain.at(17);
        failAt(isAll);
        const { behave } = server;
        server.behave = (messages, n) =>
          behave(messages, n) ?? { edit: ({ method }, it) => (method === "eth_getLogs" ? [] : it) };
        const [logs] = await open().blockLogs([{ block: 17, hash }], CALL);
        expect(logs?.transfers).to.have.length(3);
      });
      it("waits for receipts that do not explain the bloom yet", async () => {
        const chain = others(1);
        for (const [refused, empty] of [
          [() => false, []],
          [() => false, null],
          [isReceipts, null],
        ] as const) {
          server.reset(chain);
          failAt(isAll);
          server.refuse = (it) => (refused(it) ? { code: -32601, message: "no such method" } : undefined);
          const { behave } = server;
          let looks = 0;
          server.behave = (messages, n) =>
            behave(messages, n) ?? {
              edit: (it, result) => ((isReceipts(it) || isReceipt(it)) && ++looks < 3 ? empty : result),
            };
          expect(await open().blockLogs(placesOf(chain), CALL)).to.deep.equal([none]);
          expect(looks).to.be.above(2);
        }
      });
      for (const [what, isRefused] of [
        ["of the block", () => false],
        ["of its transactions", isReceipts],
      ] as const) {
        it(`waits for all receipts ${what}, although the others explain the bloom`, async () => {
          const bloomFromOthers = [
            { ...pay(ALICE, BOB), token: OTHER_TOKEN },
            { approver: ALICE },
            pay(ALICE, BOB),
          ];
          const chain = new FakeChain([bloomFromOthers]);
          server.reset(chain);
          failAt(isAll);
          server.refuse = (it) => (isRefused(it) ? { code: -32601, message: "no such method" } : undefined);
          const { behave } = server;
          const last = chain.at(1).transactions.at(-1);
          let looks = 0;
          server.behave = (messages, n) =>
            behave(messages, n) ?? {
              edit: (it, result) => {
                if (it.method === "eth_getLogs") return [];
                if (isReceipts(it) && ++looks < 3) return (result as unknown[]).slice(0, -1);
                return isReceipt(it) && it.params[0] === last && ++looks < 3 ? null : result;
              },
            };
          const [logs] = await open().blockLogs(placesOf(chain), CALL);
          expect([logs?.transfers.length, looks]).to.deep.equal([1, 3]);
        });
      }
      it("believes no receipt of another transaction", async () => {
        const chain = others(1);
        server.reset(chain);
        failAt(isAll, isReceipts);
        const { behave } = server;
        server.behave = (messages, n) =>
          behave(messages, n) ?? {
            edit: (it, result) =>
              isReceipt(it) ? { ...(result as object), transactionHash: `0x${"7e".repeat(32)}` } : result,
          };
        expect((await failure(open().blockLogs(placesOf(chain), CALL))).code).to.equal("source_bad_answer");
      });
      it("recognises that the block is gone, if a transaction is in another block now", async () => {
        const old = others(2);
        const forked = old.fork(1, [[{ approver: BOB }], []]);
        server.reset(old);
        failAt(isAll, isReceipts);
        const { behave } = server;
        server.behave = (messages, n) => {
          const failing = behave(messages, n);
          if (failing !== undefined) return failing;
          return messages.some(isReceipt)
            ? { edit: (_, it) => ({ ...(it as object), blockHash: forked.at(2).hash }) }
            : messages.some(({ method }) => method === "eth_getBlockByNumber")
              ? { node: { chain: forked, head: forked.head } }
              : undefined;
        };
        const at = { block: 2, hash: old.at(2).hash };
        expect((await failure(open().blockLogs([at], CALL))).code).to.equal("source_orphaned_block");
      });
      it("fails after a number of attempts, and names each method, if nothing gives a proof", async () => {
        const chain = others(1);
        server.reset(chain);
        failAt(isAll, isReceipts, isReceipt);
        const error = await failure(open({ attempts: 2 }).blockLogs(placesOf(chain), CALL));
        expect(error.code).to.equal("source_proof_missing");
        expect(error.message).to.match(
          /^rpc:127\.0\.0\.1:\d+: it gives no proof of the logs of block 1: eth_getLogs: it answered 502; eth_getBlockReceipts: it answered 502; eth_getTransactionReceipt: it answered 502$/,
        );
        expect(JSON.stringify(error) + error.message).not.to.contain("secret-key");
        // Two attempts at each of the three questions, after the first one.
        expect(server.requests).to.have.length(7);
      });
      it("believes a second empty answer if the bloom says nothing", async () => {
        const chain = others(1);
        server.reset(chain);
        failAt(isAll, isReceipts, isReceipt);
        const { behave } = server;
        server.behave = (messages, n) =>
          behave(messages, n) ?? {
            edit: ({ method }, it) =>
              method === "eth_getBlockByHash" ? { ...(it as object), logsBloom: `0x${"f".repeat(512)}` } : it,
          };
        expect(await open().blockLogs(placesOf(chain), CALL)).to.deep.equal([none]);
      });
    });
    it("reads twice from a provider without batches, and again if the answers differ", async () => {
      const asked = new Set<string>();
      server.behave = (messages) => {
        if (messages.length > 1) {
          return { status: 400, text: '{"jsonrpc":"2.0","error":{"code":-32600,"message":"no batches"}}' };
        }
        // A different node may answer each call. At the first request for logs, the asked node is behind the others.
        const [{ method, params }] = messages as [RpcMessage];
        const filter = JSON.stringify(params);
        const isFirst = method === "eth_getLogs" && !asked.has(filter) && filter.includes(ALICE.slice(2));
        asked.add(filter);
        return isFirst ? { node: { head: 20 } } : undefined;
      };
      await reads({ batch: 1 });
      expect(outcomes("stale")).to.be.above(0);
    });
    it("reads the chain again after a reorg between headers and logs", async () => {
      const forked = chain.fork(95, [[pay(CAROL, BOB)], [], [pay(ALICE, BOB)], [], [], []]);
      const wallets = [ALICE, BOB, CAROL];
      // Headers come from the old chain. Logs by hash come from the new chain, which does not know the old hashes.
      server.reset(forked, { finality: 10 });
      server.behave = (messages) =>
        messages.some(({ method }) => method === "eth_getBlockByNumber") && outcomes("stale") === 0
          ? { node: { chain } }
          : undefined;
      const to = 100;
      const read = await open({ concurrency: 1 }).transfersTo(wallets, { from: 91, to }, CALL);
      expect(read).to.deep.equal(forked.find({ kind: "transfersTo", wallets }, { from: 91, to }));
      expect(outcomes("stale")).to.be.above(0);
    });
  });

  describe("when a server's fault does not end", () => {
    it("fails after a number of attempts, with the host's name and without a key", async () => {
      server.behave = () => ({ status: 503 });
      const error = await failure(open({ attempts: 3 }).transfersTo([ALICE], whole, CALL));
      expect(error.code).to.equal("source_unavailable");
      expect(error.message).to.match(/^rpc:127\.0\.0\.1:\d+: eth_getBlockByNumber: it answered 503/);
      expect(JSON.stringify(error) + error.message + error.stack).not.to.contain("secret-key");
      expect(server.requests).to.have.length(3);
    });
    it("fails at once when the key is wrong", async () => {
      server.behave = () => ({ status: 401 });
      expect((await failure(open().transfersTo([ALICE], whole, CALL))).code).to.equal("source_refused");
      expect(server.requests).to.have.length(1);
    });
    it("ends with its deadline, and with the caller's signal", async () => {
      server.behave = () => ({ hang: true });
      const late = await failure(open().transfersTo([ALICE], whole, { ...CALL, deadlineMs: 30 }));
      expect(late.code).to.equal("source_deadline");
      const controller = new AbortController();
      const ended = failure(open().transfersTo([ALICE], whole, { ...CALL, signal: controller.signal }));
      controller.abort(new Error("the node shuts down"));
      expect((await ended).message).to.equal("the node shuts down");
    });
    it("never trusts a node without the history, or one without the head", async () => {
      server.reset(chain, { keepsFrom: 1 });
      expect((await failure(open().transfersTo([ALICE], { from: 60, to: 70 }, CALL))).code).to.equal(
        "source_history_missing",
      );
      server.reset(chain, { keepsFrom: 50 });
      expect((await failure(open().transfersTo([ALICE], whole, CALL))).code).to.equal(
        "source_history_missing",
      );
      const found = chain.at(2).transactions[0]!;
      expect((await failure(open().transactionLogs(found, 99, CALL))).code).to.equal(
        "source_history_missing",
      );
      server.reset(chain, { head: 50 });
      expect((await failure(open().transfersTo([ALICE], whole, CALL))).code).to.equal("source_behind");
      expect((await failure(open().transactionLogs(found, 99, CALL))).code).to.equal("source_behind");
      expect((await failure(open().headers([3, 99], CALL))).code).to.equal("source_behind");
    });
    it("notices that the history is missing also if the chain begins with empty blocks", async () => {
      const emptied = (_: RpcMessage, it: unknown) => {
        const header = it as { number?: string } | null;
        return Number(header?.number) < 30 ? { ...header, transactions: [] } : it;
      };
      const whole = { from: 30, to: 100 };
      server.reset(chain);
      server.behave = () => ({ edit: emptied });
      expect(await open().transfersTo([BOB], whole, CALL)).to.deep.equal(
        chain.find({ kind: "transfersTo", wallets: [BOB] }, whole),
      );
      server.behave = () => ({ edit: emptied, node: { keepsFrom: 50 } });
      expect((await failure(open().transfersTo([BOB], whole, CALL))).code).to.equal("source_history_missing");
    });
    it("does not believe that a token with a supply has no transfers", async () => {
      server.behave = () => ({ edit: ({ method }, it) => (method === "eth_getLogs" ? [] : it) });
      expect((await failure(open().transfersTo([ALICE], whole, CALL))).code).to.equal(
        "source_history_missing",
      );
      // A token without a supply may have no transfers.
      server.reset(new FakeChain([[], []]));
      expect(await open().transfersTo([ALICE], { from: 0, to: 2 }, CALL)).to.deep.equal([]);
    });
    it("distinguishes an orphaned block from one that does not exist yet", async () => {
      const forked = chain.fork(90, [[], [pay(ALICE, BOB)]]);
      const { hash } = forked.at(92);
      const orphaned = await failure(open().transfersTo([BOB], { block: 92, hash }, CALL));
      expect(orphaned.code).to.equal("source_orphaned_block");
      server.reset(chain, { head: 91 });
      expect((await failure(open().transfersTo([BOB], { block: 92, hash }, CALL))).code).to.equal(
        "source_behind",
      );
    });
    it("refuses a chain above finality that does not begin at the final block", async () => {
      const forked = chain.fork(
        80,
        Array.from({ length: 20 }, () => [pay(ALICE, BOB)]),
      );
      server.reset(chain, { finality: 10 });
      server.behave = (messages) =>
        messages.some(({ params }) => params[0] === "finalized") ? undefined : { node: { chain: forked } };
      const error = await failure(open().transfersTo([BOB], { from: 91, to: 100 }, CALL));
      expect(error.code).to.equal("source_orphaned_block");
    });
    it("refuses headers that are not of one chain", async () => {
      const forked = chain.fork(49, [[], [], []]);
      server.behave = () => ({
        edit: (_, it) =>
          (it as { number: string }).number === "0x33"
            ? { ...(it as object), parentHash: forked.at(50).hash }
            : it,
      });
      expect((await failure(open().headers([50, 51], CALL))).code).to.equal("source_orphaned_block");
    });
  });

  describe("does not accept", () => {
    type Edit = (log: { [field: string]: unknown; topics: string[] }, all: unknown[]) => unknown;
    const wrong: { [what: string]: [field: RegExp, edit: Edit] } = {
      "a log of another address": [/address/, (log) => ({ ...log, address: OTHER_TOKEN })],
      "a log of another event": [
        /topics\[0\]/,
        (log) => ({ ...log, topics: [`0x${"11".repeat(32)}`, ...log.topics.slice(1)] }),
      ],
      "a log of a wallet not asked for": [
        /\.to is a wallet/,
        (log) => ({ ...log, topics: [log.topics[0], log.topics[1], log.topics[1]] }),
      ],
      "a log outside of the range": [/\.block must be/, (log) => ({ ...log, blockNumber: "0x3e" })],
      "a topic that is not an address": [
        /topics\[1\]/,
        (log) => ({ ...log, topics: [log.topics[0], `0x01${log.topics[1]?.slice(4)}`, log.topics[2]] }),
      ],
      "topics that are too few": [/topics must be 3/, (log) => ({ ...log, topics: log.topics.slice(0, 2) })],
      "topics that are no list": [/topics must be a list/, (log) => ({ ...log, topics: "0x" })],
      "a value of another size": [/data must be 32 bytes/, (log) => ({ ...log, data: `${log.data}00` })],
      "a value that is a number": [/data must be 32 bytes/, (log) => ({ ...log, data: 5 })],
      "a block number that is not a quantity": [
        /blockNumber must be a quantity/,
        (log) => ({ ...log, blockNumber: 5 }),
      ],
      "a block number beyond all numbers": [
        /blockNumber must be a quantity/,
        (log) => ({ ...log, blockNumber: `0x${"f".repeat(20)}` }),
      ],
      "a log index that is missing": [/logIndex must be a quantity/, ({ logIndex: _, ...log }) => log],
      "a transaction hash that is short": [
        /transactionHash must be 32 bytes/,
        (log) => ({ ...log, transactionHash: "0x12" }),
      ],
      "a time that is not a time": [/blockTimestamp/, (log) => ({ ...log, blockTimestamp: "now" })],
      "a log that was removed": [/removed/, (log) => ({ ...log, removed: true })],
      "an invalid log": [/must be an object/, () => null],
    };
    for (const [what, [field, edit]] of Object.entries(wrong)) {
      it(what, async () => {
        server.behave = () => ({
          edit: ({ method, params }, it) => {
            const asked = params[0] as { topics?: unknown[] };
            if (method !== "eth_getLogs" || asked.topics?.length === 1) return it;
            return (it as { [field: string]: unknown; topics: string[] }[]).map((log, n, all) =>
              n === 0 ? edit(log, all) : log,
            );
          },
        });
        const error = await failure(open().transfersTo([BOB], { from: 10, to: 30 }, CALL));
        expect(error.code).to.equal("source_bad_answer");
        expect(error.message).to.match(field);
        expect(error.field).to.be.a("string");
      });
    }
    it("a repeated log, an invalid list, or a header of another block", async () => {
      const only = (edit: (it: unknown) => unknown, wanted: string) => {
        server.behave = () => ({
          edit: ({ method, params }, it) =>
            method === wanted && (params[0] as { topics?: unknown[] }).topics?.length !== 1 ? edit(it) : it,
        });
        return failure(open().transfersTo([BOB], { from: 10, to: 30 }, CALL));
      };
      const twice = await only((it) => [...(it as unknown[]), ...(it as unknown[])], "eth_getLogs");
      expect(twice.message).to.match(/comes twice/);
      expect((await only(() => ({}), "eth_getLogs")).message).to.match(/must be a list/);
      const other = await only((it) => ({ ...(it as object), number: "0x5" }), "eth_getBlockByNumber");
      expect(other.code).to.equal("source_bad_answer");
    });
    it("a log of another block in an answer for one block", async () => {
      const { hash } = chain.at(16);
      server.behave = () => ({
        edit: ({ method }, it) =>
          method === "eth_getLogs" ? (it as object[]).map((log) => ({ ...log, blockNumber: "0x3" })) : it,
      });
      expect((await failure(open().transfersTo([CAROL], { block: 16, hash }, CALL))).code).to.equal(
        "source_bad_answer",
      );
    });
    it("a receipt of another transaction", async () => {
      const [tx, other] = [chain.at(16).transactions[0]!, chain.at(17).transactions[0]!];
      server.behave = (messages) =>
        messages[0]?.method === "eth_getTransactionReceipt"
          ? {
              edit: ({ method }, it) =>
                method === "eth_getTransactionReceipt" ? { ...(it as object), transactionHash: other } : it,
            }
          : undefined;
      expect((await failure(open().transactionLogs(tx, 99, CALL))).message).to.match(
        /transactionHash must be/,
      );
    });
  });
});
