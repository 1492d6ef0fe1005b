import { expect } from "chai";
import * as fc from "fast-check";
import type { Address } from "tallystick-protocol/address";
import { walletOf } from "../../../indexer/logPort/checkLogs.ts";
import {
  type CompletenessOptions,
  checkCompleteness,
  type Verified,
} from "../../../indexer/logPort/completeness/checkCompleteness.ts";
import { sampleOf } from "../../../indexer/logPort/completeness/sampleOf.ts";
import { TooManyLogsError } from "../../../indexer/logPort/errors.ts";
import type { Call, LogPort, TokenTransfer } from "../../../indexer/logPort/logPort.ts";
import { createRpcSource } from "../../../indexer/logPort/rpc/createRpcSource.ts";
import { FakeChain, TOKEN, type Written, wallet, ZERO } from "./support/fakeChain.ts";
import { type RpcServer, startRpcServer } from "./support/rpcServer.ts";

const CALL: Call = { signal: new AbortController().signal, deadlineMs: 30_000 };
const WALLETS = Array.from({ length: 120 }, (_, n) => wallet(n + 1));
const ROUNDS = 5;

/** 10,000 transfers among the wallets. Each of them moves money. */
function crowd(): FakeChain {
  const [transfers, inBlock] = [10_000, 40];
  let seed = 7;
  const draw = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  const pick = () => WALLETS[draw(WALLETS.length)] as Address;
  const mints = WALLETS.map((to): Written => ({ from: ZERO, to, value: 10n ** 12n }));
  const blocks = Array.from({ length: transfers / inBlock }, () =>
    Array.from(
      { length: inBlock },
      (): Written => ({ from: pick(), to: pick(), value: BigInt(1 + draw(1_000)) }),
    ),
  );
  return new FakeChain([mints, ...blocks]);
}

describe("the completeness of transfers", () => {
  let server: RpcServer;
  const chain = crowd();

  before(async () => {
    server = await startRpcServer(chain);
  });
  after(() => server.close());
  beforeEach(() => server.reset(chain));

  const rpc = () =>
    createRpcSource({ url: server.url, token: TOKEN, firstBlock: 0, sleep: async () => {}, attempts: 2 });

  /** A source that loses these transfers from all its answers. */
  const losing = (source: LogPort, lost: readonly { block: number; log: number }[]): LogPort => {
    const isKept = ({ block, log }: TokenTransfer) =>
      !lost.some((it) => it.block === block && it.log === log);
    return {
      ...source,
      name: "losing",
      transfersTo: async (...asked) => (await source.transfersTo(...asked)).filter(isKept),
      transfersFrom: async (...asked) => (await source.transfersFrom(...asked)).filter(isKept),
    };
  };
  const options = (more: Partial<CompletenessOptions> = {}): CompletenessOptions => {
    const source = rpc();
    const base = { port: source, balances: source, firstBlock: 0, watched: WALLETS };
    return { ...base, round: 0, rounds: ROUNDS, hubTransfers: 10_000, ...more };
  };

  it("visits every wallet once in a fixed number of rounds, and new wallets do not change the rounds of others", () => {
    fc.assert(
      fc.property(
        fc.nat({ max: 60 }),
        fc.integer({ min: 1, max: 20 }),
        fc.nat({ max: 100 }),
        (count, rounds, first) => {
          const items = Array.from({ length: count }, (_, n) => n);
          const visits = Array.from({ length: rounds }, (_, n) => sampleOf(items, first + n, rounds)).flat();
          expect(visits.sort((a, b) => a - b)).to.deep.equal(items);
          const more = [...items, count, count + 1];
          expect(sampleOf(more, first, rounds).filter((it) => it < count)).to.deep.equal(
            sampleOf(items, first, rounds),
          );
        },
      ),
    );
  });

  it("finds no gap if nothing is missing, and checks each wallet in one rotation", async () => {
    const checked: Address[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      const result = await checkCompleteness(options({ round }), CALL);
      expect(result.gaps).to.deep.equal([]);
      expect(result.at).to.deep.equal({ block: chain.head, hash: chain.at(chain.head).hash });
      checked.push(...result.checked);
    }
    expect(checked.sort()).to.deep.equal([...WALLETS].sort());
  });

  it("finds within one rotation a source that loses one of ten thousand transfers, at both wallets of the transfer", async () => {
    const all = chain.blocks.flatMap(({ logs }) => logs).slice(WALLETS.length);
    expect(all).to.have.length(10_000);
    for (const at of [0, 4_711, 9_999]) {
      const { block, log } = all[at]!;
      const lost = chain
        .find({ kind: "transfersTo", wallets: WALLETS }, { from: block, to: block })
        .find((it) => it.log === log) as TokenTransfer;
      const found = new Map<Address, bigint>();
      const port = losing(rpc(), [lost]);
      for (let round = 0; round < ROUNDS; round++) {
        const { gaps } = await checkCompleteness(options({ port, round }), CALL);
        for (const gap of gaps) {
          expect(gap).to.include({
            source: "losing",
            block: chain.head,
            blockHash: chain.at(chain.head).hash,
            since: 0,
          });
          expect(gap.balanceSource).to.match(/^rpc:/);
          expect(gap.balance).to.equal(chain.balanceOf(gap.wallet));
          found.set(gap.wallet, gap.difference);
        }
      }
      expect(found).to.deep.equal(
        new Map([
          [lost.to, lost.value],
          [lost.from, -lost.value],
        ]),
      );
    }
  });

  it("checks new wallets at once", async () => {
    const fresh = [WALLETS[5]!, WALLETS[12]!];
    const { checked } = await checkCompleteness(options({ fresh }), CALL);
    expect(checked.slice(0, 2)).to.deep.equal(fresh);
    expect(new Set(checked).size).to.equal(checked.length);
    expect(checked).to.have.length(25);
  });

  it("leaves out a wallet that received or sent more transfers than the limit, but not a wallet at the limit", async () => {
    const count = (kind: "transfersTo" | "transfersFrom", wallet: Address) =>
      chain.find({ kind, wallets: [wallet] }, { from: 0, to: chain.head }).length;
    const ahead = (wallet: Address) => count("transfersTo", wallet) - count("transfersFrom", wallet);
    const [receives, sends] = [WALLETS.find((it) => ahead(it) > 0)!, WALLETS.find((it) => ahead(it) < 0)!];
    for (const wallet of [receives, sends]) {
      const watched = [wallet];
      const most = Math.max(count("transfersTo", wallet), count("transfersFrom", wallet));
      const below = await checkCompleteness(options({ watched, hubTransfers: most - 1 }), CALL);
      expect(below).to.deep.include({ hubs: watched, checked: [], gaps: [] });
      const at = await checkCompleteness(options({ watched, hubTransfers: most }), CALL);
      expect(at).to.deep.include({ hubs: [], checked: watched, gaps: [] });
    }
  });

  it("continues after the verified blocks, and finds a transfer that is lost in later blocks", async () => {
    const at = { block: 149, hash: chain.at(149).hash };
    const first = await checkCompleteness(options({ at, rounds: 1 }), CALL);
    expect(first.verified.size).to.equal(WALLETS.length);
    const lost = chain.find(
      { kind: "transfersTo", wallets: WALLETS },
      { from: 200, to: 200 },
    )[3] as TokenTransfer;
    server.reset(chain);
    const port = losing(rpc(), [lost]);
    const second = await checkCompleteness(options({ port, rounds: 1, verified: first.verified }), CALL);
    expect(second.gaps.map(({ wallet, since }) => [wallet, since]).sort()).to.deep.equal(
      [lost.from, lost.to].sort().map((it) => [it, 150]),
    );
    // A wallet with a gap stays at the block up to which it was verified before. Without new blocks, there is nothing
    // to read.
    expect(second.verified.get(lost.to)?.block).to.equal(149);
    const verified = new Map<Address, Verified>(
      [...second.verified].filter(([, { block }]) => block === chain.head),
    );
    server.reset(chain);
    const third = await checkCompleteness(
      options({ rounds: 1, watched: [...verified.keys()], verified, at: second.at }),
      CALL,
    );
    expect(third.checked).to.deep.equal([]);
    expect(server.requests).to.have.length(0);
  });

  it("compares the stored rows with the chain on request", async () => {
    const kept = new Map(
      WALLETS.map((it) => {
        const inflow = chain.find(
          { kind: "transfersTo", wallets: [it] },
          { from: 0, to: chain.head },
        ) as TokenTransfer[];
        return [it, { count: inflow.length, sum: inflow.reduce((sum, { value }) => sum + value, 0n) }];
      }),
    );
    const received = async () => kept;
    expect((await checkCompleteness(options({ received, rounds: 1 }), CALL)).gaps).to.deep.equal([]);
    const [poor] = WALLETS as [Address];
    kept.set(poor, { count: 1, sum: kept.get(poor)!.sum - 5n });
    const { gaps } = await checkCompleteness(options({ received, rounds: 1 }), CALL);
    expect(gaps.map(({ wallet, difference }) => [wallet, difference])).to.deep.equal([[poor, 5n]]);
  });

  it("reads fewer wallets at a time if all of them together have too many transfers", async () => {
    const source = rpc();
    const sizes: number[] = [];
    const port: LogPort = {
      ...source,
      transfersTo: async (wallets, ...asked) => {
        sizes.push(wallets.length);
        if (wallets.length > 40) throw new TooManyLogsError(source.name, 1);
        return source.transfersTo(wallets, ...asked);
      },
    };
    const { checked, gaps } = await checkCompleteness(options({ port, rounds: 1 }), CALL);
    expect([checked.length, gaps.length, sizes]).to.deep.equal([120, 0, [120, 60, 30, 30, 60, 30, 30]]);
    const never = {
      ...source,
      transfersTo: async () => {
        throw new TooManyLogsError(source.name, 1);
      },
    };
    const error = await checkCompleteness(options({ port: never, rounds: 1 }), CALL).catch((it) => it);
    expect(error).to.be.instanceOf(TooManyLogsError);
  });

  it("asks for balances by the hash of the block, and reports when the node has no state there", async () => {
    server.behave = () => ({
      fault: ({ method }) =>
        method === "eth_call" ? { code: -32000, message: "missing trie node abc" } : undefined,
    });
    const error = await checkCompleteness(
      options({ at: { block: 250, hash: chain.at(250).hash } }),
      CALL,
    ).catch((it) => it);
    expect(error).to.include({ code: "source_history_missing" });
    expect(error.message).to.contain("block 250");
    const [asked] = server.requests.flat().filter(({ method }) => method === "eth_call");
    expect(asked?.params[1]).to.deep.equal({ blockHash: chain.at(250).hash, requireCanonical: true });
  });

  it("refuses a number of rounds that would visit no wallet", async () => {
    for (const more of [{ rounds: 0 }, { rounds: 1.5 }, { round: -1 }]) {
      const error = await checkCompleteness(options(more), CALL).catch((it) => it);
      expect(error.code).to.equal("invalid_input");
    }
  });

  it("does not notice a lost transfer from a wallet to itself, which changes no balance", async () => {
    const self = chain
      .find({ kind: "transfersTo", wallets: WALLETS }, { from: 2, to: chain.head })
      .find((it) => walletOf(it, "transfersFrom") === walletOf(it, "transfersTo")) as TokenTransfer;
    const port = losing(rpc(), [self]);
    expect((await checkCompleteness(options({ port, rounds: 1 }), CALL)).gaps).to.deep.equal([]);
  });
});
