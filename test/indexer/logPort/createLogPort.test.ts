import { isDeepStrictEqual } from "node:util";
import { expect } from "chai";
import * as fc from "fast-check";
import type { Address } from "tallystick-protocol/address";
import { createLogPort } from "../../../indexer/logPort/createLogPort.ts";
import { LogSourceError } from "../../../indexer/logPort/errors.ts";
import type { Call, HistorySource, LogKind } from "../../../indexer/logPort/logPort.ts";
import { createPortalSource } from "../../../indexer/logPort/portal/createPortalSource.ts";
import { createRpcSource, type RpcSourceOptions } from "../../../indexer/logPort/rpc/createRpcSource.ts";
import { FakeChain, TOKEN, type Written, wallet, ZERO } from "./support/fakeChain.ts";
import { type PortalMisbehaviour, type PortalServer, startPortalServer } from "./support/portalServer.ts";
import { type Misbehaviour, type RpcServer, startRpcServer } from "./support/rpcServer.ts";

const CALL: Call = { signal: new AbortController().signal, deadlineMs: 120_000 };
const KINDS: LogKind[] = ["transfersTo", "transfersFrom", "authorizationsBy"];
const [ALICE, BOB] = [wallet(1), wallet(2)];
const pay = (from: Address, to: Address, value = 1n): Written => ({ from, to, value });

describe("a log port of several sources", () => {
  let rpcServer: RpcServer;
  let portalServer: PortalServer;

  before(async () => {
    [rpcServer, portalServer] = await Promise.all([startRpcServer(), startPortalServer()]);
  });
  after(() => Promise.all([rpcServer.close(), portalServer.close()]));

  const retries = { attempts: 4, sleep: async () => {} };
  type More = Partial<RpcSourceOptions> & { agree?: boolean; now?: () => number; also?: HistorySource[] };
  const open = ({ agree = false, now = () => 0, also = [], ...more }: More = {}) => {
    const fallbacks: string[] = [];
    const port = createLogPort({
      rpc: createRpcSource({
        url: rpcServer.url,
        token: TOKEN,
        firstBlock: 0,
        maxBlocks: 16,
        ...retries,
        ...more,
      }),
      history: [createPortalSource({ url: portalServer.url, token: TOKEN, ...retries }), ...also],
      agree,
      now,
      onFallback: ({ code }, next) => void fallbacks.push(`${code} → ${next.slice(0, 3)}`),
    });
    return { port, fallbacks };
  };
  const failure = async (work: Promise<unknown>) => {
    const error = await work.then(
      () => expect.fail("answered"),
      (error) => error,
    );
    return error as LogSourceError & { other?: string };
  };

  const story = () =>
    new FakeChain([
      [pay(ZERO, ALICE, 1_000n)],
      ...Array.from({ length: 79 }, (_, n): Written[] => [pay(ALICE, BOB, BigInt(n)), pay(BOB, wallet(n))]),
    ]);
  const whole = { from: 0, to: 80 };

  describe("with a portal and an RPC", () => {
    const chain = story();
    beforeEach(() => {
      rpcServer.reset(chain, { finality: 10 });
      portalServer.reset(chain, 60);
    });

    it("reads final history from the first source and the rest from the RPC", async () => {
      const { port } = open();
      expect(await port.transfersTo([BOB], whole, CALL)).to.deep.equal(
        chain.find({ kind: "transfersTo", wallets: [BOB] }, whole),
      );
      expect(portalServer.requests.map(({ toBlock }) => toBlock)).to.include(60);
      const asked = rpcServer.requests
        .flat()
        .flatMap(({ method, params }) => (method === "eth_getLogs" ? params : []));
      const wallets = (asked as { topics: unknown[]; fromBlock?: string }[]).filter(
        ({ topics }) => topics.length > 1,
      );
      expect(Math.min(...wallets.map(({ fromBlock }) => Number(fromBlock ?? 1e9)))).to.equal(61);
    });

    it("asks for the missing logs of each wallet after the history", async () => {
      const { port } = open();
      for (const limit of [1, 60, 61, 75, 200]) {
        const call = { ...CALL, limit };
        const query = { kind: "transfersTo", wallets: [BOB] } as const;
        expect(await port.transfersTo([BOB], whole, call), `${limit}`).to.deep.equal(
          chain.find(query, whole, limit),
        );
      }
    });

    it("falls back to the next source, and reports it", async () => {
      portalServer.behave = (query) => (query === null ? undefined : { status: 403 });
      const { port, fallbacks } = open();
      expect(await port.transfersTo([BOB], whole, CALL)).to.have.length(80);
      expect(fallbacks).to.deep.equal(["source_refused → rpc"]);
    });

    it("falls back when the other source does not answer at all, or is of another chain", async () => {
      portalServer.behave = () => ({ status: 503 });
      const away = open();
      expect(await away.port.transfersTo([BOB], whole, CALL)).to.have.length(80);
      expect(away.fallbacks).to.deep.equal(["source_unavailable → rpc"]);
      portalServer.reset(
        new FakeChain([[pay(ZERO, BOB)], ...Array.from({ length: 79 }, () => [])], "other"),
        60,
      );
      const foreign = open();
      expect(await foreign.port.transfersTo([BOB], whole, CALL)).to.have.length(80);
      expect(foreign.fallbacks).to.deep.equal(["source_orphaned_block → rpc"]);
    });

    it("does not wait for a source that hangs, and asks this source last for half a minute", async () => {
      const hung = Promise.withResolvers<void>();
      portalServer.behave = () => {
        hung.resolve();
        return { hang: true };
      };
      let now = 0;
      const { port, fallbacks } = open({ now: () => now });
      const asked = () => portalServer.credentials.length;
      // The portal gets half of the time. This half ends when the portal hangs, so that the RPC has enough time on a busy
      // machine.
      const { setTimeout } = globalThis;
      const hurried = (work: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
        if (ms !== CALL.deadlineMs / 2) return setTimeout(work, ms, ...args);
        void hung.promise.then(() => work());
        return setTimeout(() => {}, ms);
      };
      globalThis.setTimeout = Object.assign(hurried, setTimeout) as typeof setTimeout;
      const told = await port.transfersTo([BOB], whole, CALL).finally(() => {
        globalThis.setTimeout = setTimeout;
      });
      expect(told).to.have.length(80);
      expect(fallbacks).to.deep.equal(["source_deadline → rpc"]);
      portalServer.behave = () => undefined;
      const before = asked();
      now += 29_000;
      expect(await port.transfersTo([BOB], whole, CALL)).to.deep.equal(told);
      expect(asked(), "requests to the portal").to.equal(before);
      rpcServer.refuse = ({ method, params }) =>
        method === "eth_getLogs" && "fromBlock" in (params[0] as object)
          ? { code: 4444, message: "pruned history unavailable" }
          : undefined;
      expect(await port.transfersTo([BOB], { from: 0, to: 60 }, CALL)).to.deep.equal(
        told.filter(({ block }) => block <= 60),
      );
      expect(asked(), "the RPC cannot answer").to.be.above(before);
      expect(fallbacks.slice(1)).to.deep.equal(["source_history_missing → por"]);
    });

    it("asks a source first again after half a minute", async () => {
      portalServer.behave = () => ({ status: 503 });
      let now = 0;
      const { port, fallbacks } = open({ now: () => now });
      await port.transfersTo([BOB], whole, CALL);
      now += 31_000;
      portalServer.behave = () => undefined;
      await port.transfersTo([BOB], whole, CALL);
      expect(portalServer.requests.map(({ toBlock }) => toBlock)).to.include(60);
      expect(fallbacks).to.have.length(1);
    });

    it("reads all that the first source has, also if another source is far behind", async () => {
      const behind: HistorySource = {
        name: "behind",
        finalizedHead: async () => ({ block: 5, hash: chain.at(5).hash }),
        history: () => expect.fail("nobody needs it"),
      };
      const { port } = open({ also: [behind] });
      expect(await port.transfersTo([BOB], whole, CALL)).to.have.length(80);
      expect(portalServer.requests.map(({ toBlock }) => toBlock)).to.include(60);
    });

    it("does not believe a source whose blocks have impossible times", async () => {
      const wrong: { [what: string]: (time: number) => number } = {
        milliseconds: (time) => time * 1_000,
        "times that the blocks do not have": (time) => time - 1,
        "times that run back": (time) => 3_000_000_000 - time,
      };
      for (const [what, change] of Object.entries(wrong)) {
        portalServer.behave = () => ({
          edit: (lines) =>
            lines.map((line) => line.replace(/(?<="timestamp":)\d+/, (it) => String(change(Number(it))))),
        });
        const { port, fallbacks } = open();
        expect(await port.transfersTo([BOB], whole, CALL), what).to.deep.equal(
          chain.find({ kind: "transfersTo", wallets: [BOB] }, whole),
        );
        expect(fallbacks, what).to.deep.equal(["source_bad_answer → rpc"]);
      }
    });

    it("names both sources and the first log in which they differ", async () => {
      const { port } = open({ agree: true });
      expect(await port.transfersTo([BOB], whole, CALL)).to.have.length(80);
      portalServer.behave = () => ({
        edit: (lines) =>
          lines.map((line) =>
            line.includes('"number":33,') ? line.replace(/"data":"0x0/, '"data":"0x1') : line,
          ),
      });
      const differs = await failure(port.transfersTo([BOB], whole, CALL));
      expect(differs.code).to.equal("sources_disagree");
      expect(differs.message).to.match(/^portal:.* and rpc:.* differ: first at log 0 of block 33$/);
      portalServer.behave = () => ({
        edit: (lines) => lines.filter((line) => !line.includes('"number":33,')),
      });
      const lacks = await failure(port.transfersTo([BOB], whole, CALL));
      expect(lacks.message).to.contain("log 0 of block 33");
      expect(lacks.details).to.have.property(lacks.source, null);
    });

    it("needs two sources to require agreement", () => {
      const rpc = createRpcSource({ url: rpcServer.url, token: TOKEN, firstBlock: 0 });
      expect(() => createLogPort({ rpc, agree: true })).to.throw("history: must name a source to agree with");
    });
  });

  // What the port promises: the same logs as a plain filter over the chain, or an error, and never a gap.
  const someWallet = fc.integer({ min: 0, max: 5 }).map(wallet);
  const written: fc.Arbitrary<Written> = fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ from: someWallet, to: someWallet, value: fc.bigInt(0n, 2n ** 256n - 1n) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ authorizer: someWallet, nonce: fc.constant(`0x${"7".repeat(64)}` as const) }),
    },
  );
  const someBlocks = fc.array(fc.array(written, { maxLength: 4 }), { minLength: 15, maxLength: 50 });
  const step = fc.nat({ max: 60 });
  /** A fault of the RPC. The test adds later what the fault needs from the chain. */
  const rpcFault = fc.oneof(
    fc.record({ status: fc.constantFrom(429, 500, 503, 200, 413) }),
    fc.record({ cutAt: fc.nat({ max: 3_000 }) }),
    fc.constant({ destroy: true }),
    fc.record({ node: fc.record({ head: step }) }),
    fc.record({ node: fc.record({ keepsFrom: step }) }),
    fc.record({ fork: step }),
    fc.record({
      refuse: fc.constantFrom("block range is too wide", "query returned more than 1 results", "oops"),
    }),
    fc.record({ drops: step }),
  );
  const portalFault = fc.oneof(
    fc.record({ status: fc.constantFrom(429, 500, 529, 204, 200) }),
    fc.record({ cutAt: fc.nat({ max: 3_000 }), clean: fc.boolean() }),
    fc.record({ blocks: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ final: step }),
    fc.record({ fork: step }),
  );
  /** A fault comes once in this many requests, as if one of several servers behind an address has it. */
  const every = fc.integer({ min: 2, max: 5 });
  const isAt =
    (n: number) =>
    ([from, each]: [number, number, unknown]) =>
      n >= from && (n - from) % each === 0;
  type AnyFault = Misbehaviour & { fork?: number; refuse?: string; drops?: number };

  it("gives the same logs as a plain filter over the chain, or fails with an error, whatever its servers do", async () => {
    let answered = 0;
    const property = fc.asyncProperty(
      fc.record({
        blocks: someBlocks,
        finality: fc.nat({ max: 6 }),
        portalLags: fc.nat({ max: 20 }),
        kind: fc.constantFrom(...KINDS),
        wallets: fc.array(someWallet, { minLength: 1, maxLength: 5 }),
        ends: fc.tuple(fc.nat({ max: 12 }), fc.nat({ max: 12 })),
        limit: fc.option(fc.integer({ min: 1, max: 8 })),
        batch: fc.constantFrom(1, 3, 20),
        rpcFaults: fc.array(fc.tuple(fc.nat({ max: 8 }), every, rpcFault), { maxLength: 2 }),
        portalFaults: fc.array(fc.tuple(fc.nat({ max: 3 }), every, portalFault), { maxLength: 2 }),
        withPortal: fc.boolean(),
      }),
      async ({
        blocks,
        finality,
        portalLags,
        kind,
        wallets,
        ends,
        limit,
        batch,
        rpcFaults,
        portalFaults,
        withPortal,
      }) => {
        const chain = new FakeChain([[pay(ZERO, wallet(0), 1n)], ...blocks]);
        const final = Math.max(0, chain.head - finality);
        const forkAt = (at: number) => {
          // The fork keeps the final blocks, because no reorg is deeper. The hashes show a node that has other final
          // blocks.
          const after = Math.max(final, Math.min(at, chain.head));
          return chain.fork(
            after,
            Array.from({ length: chain.head - after }, () => [pay(ALICE, BOB, 5n)]),
          );
        };
        const misbehave = ({ fork, refuse, drops, ...how }: AnyFault): Misbehaviour => {
          if (fork !== undefined) return { node: { chain: forkAt(fork) } };
          if (refuse !== undefined) {
            return {
              fault: ({ method }) =>
                method === "eth_getLogs" ? { code: -32000, message: refuse } : undefined,
            };
          }
          // An answer in which one reply is missing.
          if (drops !== undefined)
            return { status: 200, text: JSON.stringify([{ jsonrpc: "2.0", id: drops, result: [] }]) };
          return how;
        };
        rpcServer.reset(chain, { finality });
        rpcServer.behave = (messages, n) => {
          const fault = rpcFaults.find(isAt(n))?.[2] as AnyFault | undefined;
          if (fault === undefined) return undefined;
          // If calls are sent one by one, an answer cannot show that several nodes are behind one address. So these
          // faults are not tested with single calls.
          const isAlone = messages.length === 1 && batch === 1;
          return isAlone && (fault.node !== undefined || fault.fork !== undefined)
            ? { status: 503 }
            : misbehave(fault);
        };
        portalServer.reset(chain, Math.max(0, final - portalLags));
        portalServer.behave = (query, n) => {
          const fault = portalFaults.find(isAt(n))?.[2] as
            | (PortalMisbehaviour & { fork?: number })
            | undefined;
          if (query === null || fault === undefined) return undefined;
          return fault.fork === undefined
            ? fault
            : { chain: chain.fork(Math.min(fault.fork, chain.head), []) };
        };
        const { port } = open({ batch });
        const { port: alone } = {
          port: createRpcSource({
            url: rpcServer.url,
            token: TOKEN,
            firstBlock: 0,
            maxBlocks: 7,
            batch,
            ...retries,
          }),
        };
        const [before, behind] = ends;
        const range = { from: Math.min(before, chain.head), to: Math.max(0, chain.head - behind) };
        const call = limit === null ? CALL : { ...CALL, limit };
        // Above finality a node may have another chain for a while. Then it has all of that chain, with its hashes.
        const forks = rpcFaults.flatMap(([, , { fork }]: [unknown, unknown, AnyFault]) =>
          fork === undefined ? [] : [forkAt(fork)],
        );
        const expected = [chain, ...forks].map((it) =>
          it.find({ kind, wallets: [...new Set(wallets)] }, range, limit ?? Infinity),
        );
        let given: unknown;
        try {
          given = await (withPortal ? port : alone)[kind](wallets, range, call);
        } catch (error) {
          if (!(error instanceof LogSourceError)) throw error;
          return;
        }
        answered++;
        const same = expected.find((it) => isDeepStrictEqual(it, given)) ?? expected[0];
        expect(given).to.deep.equal(same);
      },
    );
    const runs = Number(process.env.LOG_PORT_RUNS ?? 60);
    await fc.assert(property, { numRuns: runs, seed: 20_261_122, endOnFailure: true });
    // The faults are few enough that most of the runs end with an answer.
    expect(answered).to.be.above(runs / 2);
  });
});
