import { expect } from "chai";
import type { RpcSourceOptions } from "../../../indexer/logPort/rpc/createRpcSource.ts";
import type { RpcMessage, RpcServer } from "./support/rpcServer.ts";
import { ALICE, BOB, CALL, CAROL, pay, serveStory } from "./support/rpcStory.ts";

describe("the RPC source of token logs when a server misbehaves for a while", () => {
  const { chain, open, outcomes, server, waits, whole } = serveStory();

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
