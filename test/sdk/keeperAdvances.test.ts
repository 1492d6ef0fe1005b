import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { createEscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { openGasAccounts } from "tallystick-sdk/escrow/gasAccounts";
import { type AdvancesParameters, createAdvances } from "tallystick-sdk/escrow/keeperAdvances";
import { openOwnDeposits } from "tallystick-sdk/escrow/ownDeposits";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { rejection } from "./support/tamper.ts";

const address = (byte: string) => `0x${byte.repeat(20)}` as Address;
const hash = (byte: string) => `0x${byte.repeat(32)}` as const;
const [UNLUCKY, LUCKY] = [address("01"), address("02")];

describe("the gas that a keeper pays before its fee, while its provider fails", () => {
  const sent: string[] = [];
  /** A provider that fails when it is asked for the code of one account. */
  const client = {
    getCode: async ({ address: of }: { address: Address }) => {
      if (of === UNLUCKY) throw new Error("too many requests");
      return undefined;
    },
  };
  const calls = {
    ...createEscrowCalls({
      sender: { client } as never,
      deployment: { chainId: 31_337, escrow: address("e5") },
    }),
    tryItem: async () => ({ done: true, gasUsed: 100_000n, error: undefined }),
  };
  const advances = createAdvances({
    ...{ calls, gasPerBuyer: 1_000_000, gasPerWallet: 200_000, batchMs: 5_000 },
    accounts: { reserve: () => ({ giveBack: () => {}, lose: async () => {} }) },
    own: { has: () => false, forget: async () => {} },
    batches: {
      isOnItsWay: () => false,
      send: async ([{ key }]: [{ key: string }]) => {
        sent.push(key);
        return { failed: [], gasUsed: 100_000n, transactionHash: hash("ab") };
      },
    },
  } as unknown as AdvancesParameters);
  const hireOf = (seller: Address): Hire => ({
    ...{ hireId: hash("11"), buyer: address("b1"), seller, payee: seller, amount: 1n, fee: 0n },
    ...{ feeRecipient: address("00"), deadline: 2_000_000_000n, arbiter: address("00") },
  });
  const deliver = (seller: Address) => advances.markDelivered(hireOf(seller), hash("22"), "0x");

  it("is not paid for an item that cannot be checked; other items are sent now, and this item later", async () => {
    const [failed, done] = await Promise.all([rejection(deliver(UNLUCKY)), deliver(LUCKY)]);
    expect(failed).to.include({ name: "ChainError", code: "chain_unreachable" });
    expect(failed.message).to.contain(UNLUCKY);
    expect(done).to.equal(hash("ab"));
    expect(sent).to.have.length(1);
    client.getCode = async () => undefined;
    expect(await deliver(UNLUCKY)).to.equal(hash("ab"));
  });
});

describe("the gas account of a buyer at a keeper", () => {
  /** The trials of calls fail so often, as at a node that does not know the newest deposits. */
  let behind: number;
  /** Resolves when the batches that wait are mined. */
  let mined: Promise<void>;
  /** Resolves when a batch is sent. */
  let sent: PromiseWithResolvers<void>;
  /** What fails in the batches. */
  let failed: { index: number; error: string }[];
  /** The code of every account. */
  let code: string | undefined;
  /** The gas of a batch. */
  let gasUsed: bigint;
  let store: KeyValueStore;
  beforeEach(() => {
    [behind, mined, failed, store, code] = [0, Promise.resolve(), [], memoryStore(), undefined];
    gasUsed = 100_000n;
    sent = Promise.withResolvers();
  });

  /** A keeper's process. All of them have the same store. */
  const open = async (batchMs: number) => {
    const client = { getCode: async () => code };
    const calls = {
      ...createEscrowCalls({
        sender: { client } as never,
        deployment: { chainId: 31_337, escrow: address("e5") },
      }),
      state: async () => ({ status: "held" }),
      findEvent: async () => hash("ea"),
      tryItem: async () =>
        behind-- > 0
          ? { done: false, gasUsed: 1n, error: "WrongStatus" }
          : { done: true, gasUsed: 100_000n, error: undefined },
    };
    return createAdvances({
      ...{ calls, gasPerBuyer: 200_000, gasPerWallet: 200_000, batchMs },
      accounts: await openGasAccounts(store),
      own: await openOwnDeposits(store, Date.now),
      batches: {
        isOnItsWay: () => false,
        send: async () => {
          sent.resolve();
          await mined;
          return { failed, tried: 1, gasUsed, transactionHash: hash("ab") };
        },
      },
    } as unknown as AdvancesParameters);
  };
  const hireOf = (byte: string): Hire => ({
    ...{ hireId: hash(byte), buyer: address("b1"), seller: LUCKY, payee: LUCKY, amount: 1n, fee: 0n },
    ...{ feeRecipient: address("00"), deadline: 2_000_000_000n, arbiter: address("00") },
  });
  const authorization = { validAfter: 0n, validBefore: 2_000_000_000n, signature: "0x12" } as const;
  const [own, others] = [hireOf("11"), hireOf("12")];

  it("always has room for the mark of delivery of a hire that the keeper deposited, and for nothing more", async () => {
    const advances = await open(5_000);
    const mark = (hire: Hire) => advances.markDelivered(hire, hash("22"), "0x12");
    await advances.deposit(own, authorization);
    expect(await rejection(advances.deposit(others, authorization))).to.include({ code: "gas_limit" });
    expect(await rejection(mark(others))).to.include({ code: "gas_limit" });
    expect(await mark(own)).to.equal(hash("ab"));
    expect(await rejection(mark(own)), "only once").to.include({ code: "gas_limit" });
  });

  it("has this room also if the deposit was mined after the request for it had ended", async () => {
    const late = Promise.withResolvers<void>();
    mined = late.promise;
    const advances = await open(5);
    const isNotMined = await rejection(advances.deposit(own, authorization));
    expect(isNotMined).to.include({ name: "ChainError" });
    // A second request waits for the same batch.
    const again = advances.deposit(own, authorization).catch(() => {});
    late.resolve();
    await again;
    for (let turns = 0; turns < 20; turns++) await new Promise((resolve) => setImmediate(resolve));
    const marked = await advances.markDelivered(own, hash("22"), "0x12");
    expect(marked).to.equal(hash("ab"));
  });

  it("has this room also after a restart, and once", async () => {
    await (await open(5_000)).deposit(own, authorization);
    const next = await open(5_000);
    expect(await next.markDelivered(own, hash("22"), "0x12")).to.equal(hash("ab"));
    const last = await open(5_000);
    expect(await rejection(last.markDelivered(own, hash("22"), "0x12"))).to.include({ code: "gas_limit" });
  });

  it("has this room also if the keeper was killed before it knew that its deposit was mined", async () => {
    mined = new Promise(() => {});
    const killed = await open(5_000);
    killed.deposit(own, authorization).catch(() => {});
    await sent.promise;
    mined = Promise.resolve();
    await (await openGasAccounts(store)).reserve(own.buyer, 200_000, 200_000)?.lose(200_000);
    const next = await open(5_000);
    expect(await next.markDelivered(own, hash("22"), "0x12")).to.equal(hash("ab"));
  });

  it("of a contract wallet blames the wallet for a signature that failed, or that came too late and burned gas", async () => {
    // The trial used 100,000 gas, and what is around the call uses at most 50,000 more.
    for (const [error, gas, isToBlame] of [
      ["WrongStatus", 150_000n, false],
      ["WrongStatus", 150_001n, true],
      ["InvalidSignature", 100_000n, true],
    ] as const) {
      gasUsed = gas;
      [code, failed, store] = ["0x60", [{ index: 0, error }], memoryStore()];
      const refused = await rejection((await open(5_000)).markDelivered(own, hash("22"), "0x12"));
      expect(refused).to.include({ code: "call_refused", reason: error });
      const account = await store.get(`gas/${own.seller}.words`);
      expect(account, `${error} ${gas}`).to.include({ lost: Number(gas), failed: isToBlame });
    }
  });

  it("has no such room for a deposit that failed on the chain", async () => {
    failed = [{ index: 0, error: "TransferFailed" }];
    const advances = await open(5_000);
    const refused = await rejection(advances.deposit(own, authorization));
    expect(refused).to.include({ code: "call_refused", reason: "TransferFailed" });
    expect(await store.keys("deposited")).to.deep.equal([]);
    failed = [];
    expect(await rejection(advances.markDelivered(own, hash("22"), "0x12"))).to.include({
      code: "gas_limit",
    });
  });

  it("does not pay for a deposit that was made before: a refused deposit is not tried again", async () => {
    const advances = await open(60_000);
    behind = 1;
    expect(await advances.deposit(own, authorization), "the first deposit").to.equal(hash("ea"));
    expect(await store.keys("deposited")).to.deep.equal([]);
  });

  it("pays for a mark of delivery that a node without the newest deposits refuses at first", async () => {
    const advances = await open(60_000);
    behind = 1;
    expect(await advances.markDelivered(own, hash("22"), "0x12")).to.equal(hash("ab"));
  });
});
