import { expect } from "chai";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { type Hire, releaseTypedData } from "tallystick-protocol/escrow/hire";
import { toHireJson } from "tallystick-protocol/escrow/hireJson";
import type { Hex } from "tallystick-protocol/hex";
import { createCarrier } from "tallystick-sdk/escrow/carryOut";
import type { EscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { openGasAccounts } from "tallystick-sdk/escrow/gasAccounts";
import type { KeeperBatches } from "tallystick-sdk/escrow/keeperBatches";
import { openInstructionBook } from "tallystick-sdk/escrow/keeperInstructions";
import { createTimeouts } from "tallystick-sdk/escrow/keeperTimeouts";
import { AT_ONCE, createTurns } from "tallystick-sdk/escrow/keeperTurns";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { newWallet } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";

const DEPLOYMENT = { chainId: 31_337, escrow: `0x${"e5".repeat(20)}` } as const;
const word = (number: number): Hex => `0x${number.toString(16).padStart(64, "0")}`;
const address = (number: number) => `0x${number.toString(16).padStart(40, "0")}` as const;

describe("a keeper with more items than it can read in the time of a round", () => {
  const buyer = newWallet();
  const hireOf = (number: number, changes: Partial<Hire> = {}): Hire => ({
    ...{ hireId: word(number), buyer: buyer.address, seller: address(2), payee: ZERO_ADDRESS },
    ...{ amount: 10_000n, fee: 0n, feeRecipient: ZERO_ADDRESS, deadline: 1_000n, arbiter: ZERO_ADDRESS },
    ...changes,
  });
  const hires = (count: number) => Array.from({ length: count }, (_, at) => hireOf(at + 1));

  /** The escrows that a batch has ended. */
  let ended: Set<Hex>;
  let sizes: number[];
  /** How many more escrows are read until the time of the round is over. */
  let readsLeft: number;
  let round: AbortController;
  /** An escrow that no read answers, and the escrows whose items the contract always refuses. */
  let unreadable: Hex | undefined;
  let refused: Set<Hex>;
  let tries: number;
  beforeEach(() => {
    [ended, refused, sizes, unreadable, tries] = [new Set(), new Set(), [], undefined, 0];
  });

  const read = (id: Hex): void => {
    if (--readsLeft <= 0) round.abort();
    if (id === unreadable) throw new Error("no answer");
  };
  const calls = {
    ...{ deployment: DEPLOYMENT, idOf: ({ hireId }: Hire) => hireId },
    head: async () => ({ time: 2_000n, number: 100n }),
    deposits: async () => [],
    state: async (it: Hire | Hex) => {
      const id = typeof it === "string" ? it : it.hireId;
      read(id);
      return { status: ended.has(id) ? "timedOut" : "held", delivered: false, amount: 10_000n };
    },
    tryItem: async () => {
      tries++;
      return { done: true, error: undefined, gasUsed: 50_000n };
    },
    gasOfBatch: async () => 50_000n,
  } as unknown as EscrowCalls;
  const batches: KeeperBatches = {
    ...{ open: async () => {}, isOnItsWay: () => false },
    send: async (items) => {
      sizes.push(items.length);
      const ids = items.map(({ key }) => key.split("/")[1] as Hex);
      for (const id of ids) if (!refused.has(id)) ended.add(id);
      const failed = ids.flatMap((id, index) =>
        refused.has(id) ? [{ index, error: "TransferFailed", reason: "0x" as const }] : [],
      );
      return { transactionHash: word(7), blockNumber: 7n, gasUsed: 100_000n, tried: items.length, failed };
    },
  };
  const limits = { maxBatch: 50, gasPerWallet: 1_000_000 };

  /** Runs the part of a round for the deposits that are late. */
  async function openTimeouts(watched: readonly Hire[]) {
    const store = memoryStore();
    for (const hire of watched) await store.put(`watch/${hire.hireId}`, toHireJson(hire));
    const clocks = { now: () => 0, startBlock: 0n, minAmount: 1n, onEnd: async () => {}, log: () => {} };
    const hooks = { releasing: async () => new Set<string>(), onEnd: async () => {} };
    const timeouts = createTimeouts({ calls, store, batches, maxBatch: 50, ...hooks, ...clocks });
    return (): Promise<void> => timeouts.round(round.signal, () => {});
  }

  /** Runs the part of a round for the releases that buyers' keys, or else contract wallets, have signed. */
  async function openReleases(released: readonly Hire[], byKey: boolean) {
    const store = memoryStore();
    const accounts = await openGasAccounts(store, () => 0);
    const book = await openInstructionBook({ calls, store, accounts, log: () => {} });
    const given = { isPaid: () => false, now: () => 0, log: () => {}, ...limits };
    const carrier = createCarrier({ calls, book, accounts, batches, ...given });
    for (const hire of released) {
      const typed = releaseTypedData(hire.hireId, DEPLOYMENT);
      const signature = byKey ? await buyer.account.signTypedData(typed) : "0x01";
      await carrier.take("release", hire, hire.buyer, signature);
    }
    tries = 0;
    return (): Promise<void> => carrier.carryOut("release", round.signal, () => {});
  }

  const parts = {
    timeouts: () => openTimeouts(hires(100)),
    "releases of keys": () => openReleases(hires(100), true),
    "releases of contract wallets": () =>
      openReleases(
        hires(100).map((hire, at) => ({ ...hire, buyer: address(at + 1_000) })),
        false,
      ),
  };
  /** A round that ends after some reads. */
  const runFor = async (reads: number, work: () => Promise<void>): Promise<void> => {
    [readsLeft, round] = [reads, new AbortController()];
    await work();
  };

  for (const [part, open] of Object.entries(parts)) {
    it(`sends something in each round, until everything is sent: ${part}`, async () => {
      const work = await open();
      for (let rounds = 1; ended.size < 100; rounds++) {
        const before = ended.size;
        await runFor(40, work);
        expect(ended.size, `round ${rounds}`).to.be.greaterThan(before);
      }
      expect(sizes.reduce((sum, size) => sum + size)).to.equal(100);
    });

    it(`fills its batches if there is time: ${part}`, async () => {
      const work = await open();
      await runFor(1_000, work);
      expect(sizes).to.deep.equal([16, 50, 34]);
    });

    it(`sends the others if one escrow cannot be read: ${part}`, async () => {
      const work = await open();
      unreadable = word(3);
      const error = await rejection(runFor(1_000, work));
      expect(error.message).to.equal("no answer");
      expect([ended.size, ended.has(word(3))]).to.deep.equal([99, false]);
      unreadable = undefined;
      await runFor(1_000, work);
      expect(ended.size).to.equal(100);
    });
  }

  it("sends back nothing a second time that is on its way", async () => {
    const store = memoryStore();
    for (const hire of hires(3)) await store.put(`watch/${hire.hireId}`, toHireJson(hire));
    const clocks = { now: () => 0, startBlock: 0n, minAmount: 1n, onEnd: async () => {}, log: () => {} };
    const onItsWay: KeeperBatches = { ...batches, isOnItsWay: (key) => key === `watch/${word(2)}` };
    const releasing = async () => new Set<string>();
    const timeouts = createTimeouts({
      ...{ calls, store, batches: onItsWay, maxBatch: 50, releasing, ...clocks },
    });
    await runFor(1_000, () => timeouts.round(round.signal, () => {}));
    expect([...ended]).to.deep.equal([word(1), word(3)]);
  });

  it("collects timeouts for five minutes after it has sent some, unless they fill a batch", async () => {
    const store = memoryStore();
    const crowd = Array.from({ length: 50 }, (_, at) => hireOf(at + 10, { deadline: 1_601n }));
    const some = [1_000n, 1_010n, 1_020n, 1_305n].map((deadline, at) => hireOf(at + 1, { deadline }));
    for (const hire of [...some, ...crowd]) await store.put(`watch/${hire.hireId}`, toHireJson(hire));
    let time = 0n;
    const ofThisTime: EscrowCalls = { ...calls, head: async () => ({ time, number: 100n }) };
    const clocks = { now: () => 0, startBlock: 0n, minAmount: 1n, onEnd: async () => {}, log: () => {} };
    const releasing = async () => new Set<string>();
    const given = { store, batches, maxBatch: 50, releasing, ...clocks };
    const timeouts = createTimeouts({ calls: ofThisTime, ...given });
    const endedAt = async (seconds: bigint): Promise<number> => {
      time = seconds;
      await runFor(1_000, () => timeouts.round(round.signal, () => {}));
      return ended.size;
    };
    for (const [seconds, count] of [
      [1_000n, 1],
      [1_010n, 1],
      [1_299n, 1],
      [1_300n, 3],
      [1_305n, 3],
      [1_599n, 3],
      [1_600n, 4],
      [1_601n, 54],
    ] as const)
      expect(await endedAt(seconds), `at ${seconds}`).to.equal(count);
    expect(sizes.slice(0, 3)).to.deep.equal([1, 2, 1]);
  });

  it("asks the chain no more in a round in which it does not answer at all", async () => {
    const work = await openTimeouts(hires(100));
    const { state } = calls;
    let reads = 0;
    calls.state = async () => {
      reads++;
      throw new Error("no answer");
    };
    const error = await rejection(runFor(1_000, work)).finally(() => {
      calls.state = state;
    });
    expect([error.message, reads]).to.deep.equal(["no answer", 16]);
    await runFor(1_000, work);
    expect(ended.size).to.equal(100);
  });

  it("looks at the others too if the first ones fail in every round", async () => {
    const work = await openTimeouts(hires(100));
    refused = new Set(hires(64).map(({ hireId }) => hireId));
    for (let rounds = 0; rounds < 10; rounds++) await runFor(20, work);
    expect(ended.size).to.equal(36);
  });

  it("reads the blocks again whose deposits it had no time to add", async () => {
    const store = memoryStore();
    const found = hires(40).map((hire) => ({ ...hire, deadline: 10_000n }));
    const ofLongChain: EscrowCalls = {
      ...calls,
      head: async () => ({ time: 2_000n, number: 10_000n }),
      deposits: async (from, to) => (from <= 5n && to >= 5n ? found : []),
    };
    const clocks = { now: () => 0, startBlock: 0n, minAmount: 1n, onEnd: async () => {}, log: () => {} };
    const releasing = async () => new Set<string>();
    const given = { store, batches, maxBatch: 50, releasing, ...clocks };
    const timeouts = createTimeouts({ calls: ofLongChain, ...given });
    for (let rounds = 1; (await store.keys("watch")).length < 40; rounds++) {
      expect(rounds).to.be.lessThan(20);
      await runFor(20, () => timeouts.round(round.signal, () => {}));
    }
  });

  it("begins with what the last round had no time to send", async () => {
    const work = createTurns<{ key: string }>();
    const items = Array.from({ length: 3 * AT_ONCE }, (_, at) => ({ key: String(at) }));
    const seen: { looks: string[][]; sent: string[] } = { looks: [], sent: [] };
    /** A round that ends after so many looks. */
    const roundOf = async (looks: number): Promise<void> => {
      const time = new AbortController();
      let count = 0;
      await work(items, {
        ...{ signal: time.signal, most: items.length },
        look: async (chunk) => {
          seen.looks.push(chunk.map(({ key }) => key));
          if (++count === looks) time.abort();
          return chunk;
        },
        send: async (ready) => void seen.sent.push(...ready.map(({ key }) => key)),
      });
    };
    await roundOf(2);
    const [first, second] = seen.looks;
    expect(seen.sent, "the round ended before the second batch").to.deep.equal(first);
    await roundOf(1);
    expect(seen.looks[2]).to.deep.equal(second);
  });

  it("tries a contract wallet's signature only once in a round", async () => {
    const work = await parts["releases of contract wallets"]();
    await runFor(1_000, work);
    expect(tries).to.equal(100);
  });
});
