import { expect } from "chai";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import { type BatchOutcome, type FailedItem, intrinsicGas } from "tallystick-sdk/escrow/batch";
import { createCarrier } from "tallystick-sdk/escrow/carryOut";
import { type EscrowCalls, encodeEscrowCall } from "tallystick-sdk/escrow/escrowCalls";
import { openGasAccounts, signaturesOf } from "tallystick-sdk/escrow/gasAccounts";
import { openInstructionBook } from "tallystick-sdk/escrow/keeperInstructions";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { rejection } from "./support/tamper.ts";

const address = (byte: string) => `0x${byte.repeat(20)}` as const;
const hash = (byte: string) => `0x${byte.repeat(32)}` as const;
const WALLET = address("b1");
const LIMIT = 1_000_000;
/** What the wallet signed first, and what it signed when it had other owners. */
const [OLD, NEW] = ["0x01", "0x02"] as const;
const KEY = `release/${hash("1d")}`;
const hire: Hire = {
  ...{ hireId: hash("33"), buyer: WALLET, seller: address("5e"), payee: ZERO_ADDRESS, amount: 7n },
  ...{ fee: 0n, feeRecipient: ZERO_ADDRESS, deadline: 2n ** 40n, arbiter: ZERO_ADDRESS },
};

/** Another hire of the same wallet. */
const other: Hire = { ...hire, hireId: hash("44") };

describe("a keeper that gets a newer signature of an instruction", () => {
  const signal = new AbortController().signal;
  let store: ReturnType<typeof memoryStore>;
  /** What the contract would say to a signature now. */
  let tryItem: (
    call: Hex,
    gas: bigint,
  ) => Promise<{ done: boolean; error: string | undefined; gasUsed?: bigint }>;
  let send: (calls: Hex[]) => Promise<BatchOutcome>;
  let onTheirWay: string[];
  /** What the chain says that the good items of a batch used. */
  let gasOfBatch: () => Promise<bigint>;
  /** The gas of each item of the batches that were sent. */
  let gasOfItems: bigint[];
  beforeEach(() => {
    store = memoryStore();
    gasOfItems = [];
    tryItem = async () => ({ done: true, error: undefined });
    onTheirWay = [];
    gasOfBatch = () => expect.fail("no item is done");
  });
  const callOf = (signature: Hex) => encodeEscrowCall("release", [hire, signature]);
  const outcome = (...failed: FailedItem[]): BatchOutcome => ({
    ...{ transactionHash: hash("77"), blockNumber: 5n, gasUsed: 100_000n, tried: 1, failed },
  });

  const open = async () => {
    const accounts = await openGasAccounts(store, () => 0);
    const calls = {
      ...{
        deployment: { chainId: 31_337, escrow: address("e5") },
        idOf: (of: Hire) => hash(of === other ? "2d" : "1d"),
      },
      gasOfBatch: () => gasOfBatch(),
      state: async () => ({ status: "held" }),
      tryItem: async (call: Hex, gas: bigint) => ({ gasUsed: 50_000n, ...(await tryItem(call, gas)) }),
    } as unknown as EscrowCalls;
    const book = await openInstructionBook({ calls, store, accounts, log: () => {} });
    const carrier = createCarrier({
      ...{ calls, book, accounts, maxBatch: 10, gasPerWallet: LIMIT, isPaid: () => false },
      ...{ now: () => 0, log: () => {} },
      batches: {
        open: async () => {},
        isOnItsWay: (key) => onTheirWay.includes(key),
        send: async (items, gasEach) => {
          gasOfItems.push(gasEach);
          onTheirWay = items.map(({ key }) => key);
          try {
            return await send(items.map(({ call }) => call));
          } finally {
            onTheirWay = [];
          }
        },
      },
    });
    return {
      ...{ book, room: () => accounts.roomOf(signaturesOf(WALLET), LIMIT) },
      take: (signature: Hex, of = hire) => carrier.take("release", of, WALLET, signature),
      round: (done = (_: number) => {}) => carrier.carryOut("release", signal, done),
    };
  };
  const signatureOnDisk = async () => (await open()).book.find(KEY)?.signature;

  /** Starts a round, and returns when its batch is under way. */
  async function roundUntilSent(round: () => Promise<void>) {
    const [sent, answer] = [Promise.withResolvers<Hex[]>(), Promise.withResolvers<BatchOutcome>()];
    send = (calls) => {
      sent.resolve(calls);
      return answer.promise;
    };
    const ended = round();
    return { calls: await sent.promise, answer, ended };
  }

  it("sends the next instructions of wallets alone if one of them burned gas and was late among others", async () => {
    const { take, round } = await open();
    await take(OLD);
    await take(OLD, other);
    const sent: number[] = [];
    send = async (calls) => {
      sent.push(calls.length);
      const failed = calls.map((_, index) => ({ index, error: "WrongStatus", reason: "0x" as const }));
      return { ...outcome(...failed), tried: calls.length, gasUsed: 400_000n };
    };
    await round();
    expect(sent).to.deep.equal([2]);
    await round();
    expect(sent, "alone").to.deep.equal([2, 1, 1]);
    await round();
    expect(sent, "each is known now").to.deep.equal([2, 1, 1, 2]);
  });

  for (const error of [undefined, "InvalidSignature", "NotAuthorized", "WrongStatus"]) {
    it(`keeps it if the batch with the older one ends with ${error ?? "a failure without a reason"}`, async () => {
      for (const tries of [0, 1]) {
        store = memoryStore();
        const { book, room, take, round } = await open();
        await take(OLD);
        const one = book.find(KEY) ?? expect.fail("it is not there");
        one.tries = tries;
        const first = await roundUntilSent(round);
        expect(first.calls).to.deep.equal([callOf(OLD)]);
        await take(NEW);
        expect(await signatureOnDisk()).to.equal(NEW);
        await round();
        first.answer.resolve(outcome({ index: 0, error, reason: "0x" }));
        await first.ended;
        expect([book.find(KEY)?.signature, await signatureOnDisk()]).to.deep.equal([NEW, NEW]);
        const left = LIMIT - (100_000 - intrinsicGas([callOf(OLD)], 150_000n));
        expect(room(), "the gas of the old signature is settled").to.equal(left);
        const second = await roundUntilSent(round);
        expect(second.calls).to.deep.equal([callOf(NEW)]);
        second.answer.resolve(outcome());
        await second.ended;
        expect([book.find(KEY)?.settledAt, room()]).to.deep.equal([0, left]);
      }
    });
  }

  it("keeps it if a node without the newest deposits refuses it in a round", async () => {
    const { book, take, round } = await open();
    await take(NEW);
    tryItem = async () => ({ done: false, error: "WrongStatus" });
    send = () => expect.fail("nothing is sent");
    await round();
    expect([book.find(KEY)?.signature, await signatureOnDisk()]).to.deep.equal([NEW, NEW]);
  });

  it("ends what is done at once, and sends what failed beside it only when its gas is settled", async () => {
    const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<bigint>()];
    gasOfBatch = () => {
      asked.resolve();
      return answer.promise;
    };
    const { book, room, take, round } = await open();
    await take(OLD);
    await take(OLD, other);
    const batches: Hex[][] = [];
    send = async (calls) => {
      batches.push(calls);
      const failed = [{ index: 1, error: undefined, reason: "0x" as const }];
      return { ...outcome(...failed), tried: 2, gasUsed: 200_000n };
    };
    let count = 0;
    const first = round((more) => {
      count += more;
    });
    await asked.promise;
    expect([book.find(KEY)?.settledAt, count], "the good one").to.deep.equal([0, 1]);
    await round();
    expect(batches).to.have.length(1);
    answer.resolve(50_000n);
    await first;
    const charge = 150_000 - intrinsicGas(batches[0] ?? [], 150_000n);
    expect(room()).to.equal(LIMIT - charge);
    expect(book.find(`release/${hash("2d")}`)).to.include({ tries: 1, reservation: undefined });
    send = async (calls) => {
      batches.push(calls);
      return outcome();
    };
    await round();
    expect(batches[1], "and then it is tried again").to.deep.equal(batches[0]?.slice(1));
    expect([count, room()]).to.deep.equal([1, LIMIT - charge]);
  });

  it("gives it much gas if it needs much gas left, although it uses little", async () => {
    // As if the token refused the payment: the payee is on its denylist.
    tryItem = async (_, gas) =>
      gas < 213_000n ? { done: false, error: "NotEnoughGas" } : { done: true, error: undefined };
    const { take, round } = await open();
    await take(NEW);
    const { answer, ended } = await roundUntilSent(round);
    answer.resolve(outcome());
    await ended;
    expect(gasOfItems).to.deep.equal([1_000_000n]);
  });

  it("gives it much gas if a tenth more than it used is more than little gas", async () => {
    for (const [gasUsed, gasEach] of [
      [136_364n, 150_000n],
      [136_365n, 1_000_000n],
    ] as const) {
      store = memoryStore();
      gasOfItems = [];
      tryItem = async () => ({ done: true, error: undefined, gasUsed });
      const { take, round } = await open();
      await take(NEW);
      const { answer, ended } = await roundUntilSent(round);
      answer.resolve(outcome());
      await ended;
      expect(gasOfItems, String(gasUsed)).to.deep.equal([gasEach]);
    }
  });

  it("counts the gas of the batch with the older one if it is killed meanwhile", async () => {
    const { take, round } = await open();
    await take(OLD);
    const { answer, ended } = await roundUntilSent(round);
    await take(NEW);
    const next = await open();
    expect(next.book.find(KEY)).to.include({ signature: NEW, owed: 150_000 });
    expect(next.room()).to.equal(LIMIT - 150_000);
    answer.resolve(outcome());
    await ended;
  });

  it("keeps it if the chain refuses the older one while the newer one arrives", async () => {
    const { book, take, round } = await open();
    await take(OLD);
    const [asked, said] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    tryItem = async (call) => {
      if (call === callOf(NEW)) return { done: true, error: undefined };
      asked.resolve();
      await said.promise;
      return { done: false, error: "NotAuthorized" };
    };
    send = () => expect.fail("nothing is sent");
    const ended = round();
    await asked.promise;
    await take(NEW);
    said.resolve();
    await ended;
    expect([book.find(KEY)?.signature, await signatureOnDisk()]).to.deep.equal([NEW, NEW]);
  });

  it("does not send it in a round that has tried only the older one", async () => {
    const { take, round } = await open();
    await take(OLD);
    const { put } = store;
    let isFirst = true;
    store.put = async (key, value) => {
      await put(key, value);
      if (!isFirst) return;
      isFirst = false;
      // This write notes the gas at risk, just before the batch is sent.
      void take(NEW);
      await new Promise(setImmediate);
    };
    send = () => expect.fail("nothing is sent");
    await round();
    const { calls, answer, ended } = await roundUntilSent(round);
    expect(calls).to.deep.equal([callOf(NEW)]);
    answer.resolve(outcome());
    await ended;
  });

  it("has it on the disk although a write about the older one takes longer", async () => {
    const { book, take } = await open();
    await take(OLD);
    const { put } = store;
    const late = Promise.withResolvers<void>();
    let writes = 0;
    store.put = async (key, value) => {
      if (writes++ === 0) await late.promise;
      await put(key, value);
    };
    const first = book.find(KEY) ?? expect.fail("it is gone");
    const noted = book.update(first);
    const taken = take(NEW);
    late.resolve();
    await Promise.all([noted, taken]);
    expect(await signatureOnDisk()).to.equal(NEW);
  });

  it("acknowledges a repetition only when the instruction is on the disk", async () => {
    const { take } = await open();
    const { put } = store;
    store.put = () => Promise.reject(new Error("ENOSPC"));
    expect(await rejection(take(OLD))).to.have.property("message", "ENOSPC");
    expect(await rejection(take(OLD))).to.have.property("message", "ENOSPC");
    let writes = 0;
    store.put = async (key, value) => {
      writes++;
      await put(key, value);
    };
    await take(OLD);
    await Promise.all([take(OLD), take(OLD)]);
    expect([await signatureOnDisk(), writes]).to.deep.equal([OLD, 1]);
  });
});
