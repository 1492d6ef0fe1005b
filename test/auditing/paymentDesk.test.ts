import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { storeBudget } from "tallystick-sdk/budget/storeBudget";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { createPaymentDesk } from "../../services/auditing/paymentDesk.ts";
import { PERIOD_SECONDS, type PoolBudget, periodBudget } from "../../services/auditing/periodBudget.ts";
import { newWallet, type SdkChain, startSdkChain, type Wallet } from "../sdk/support/sdkChain.ts";
import { endAtEveryWrite, type MortalProcess } from "../support/endAtEveryWrite.ts";
import { accountsOf, transfersTo } from "./support/paymentScene.ts";

const LIMIT = 1_000_000n;
const PURSE = 5_000_000n;
const quiet = () => {};
const forever = new AbortController().signal;

describe("the payments of an auditors' pool", () => {
  let chain: SdkChain;
  before(async () => {
    chain = await startSdkChain();
  });
  after(() => chain?.close());

  type Scene = { store: KeyValueStore; pool: Wallet; auditors: [Wallet, Wallet] };
  const open = async (): Promise<Scene> => {
    const pool = newWallet();
    await chain.mint(pool, PURSE);
    return { store: memoryStore(), pool, auditors: [newWallet(), newWallet()] };
  };
  const budgetOf = (store: KeyValueStore, limit = LIMIT, keptBack = 0n) => {
    const budget = storeBudget({ store, name: "pool", limit });
    return { ...budget, leftForParts: async () => (await budget.remaining()) - keptBack };
  };
  const deskOf = (
    { store, pool }: Pick<Scene, "store" | "pool">,
    {
      process,
      confirmations = 1,
      limit,
      keptBack,
      budget,
      send = chain.sender.send,
      validSeconds = 600,
    }: {
      process?: MortalProcess;
      confirmations?: number;
      limit?: bigint;
      keptBack?: bigint;
      budget?: PoolBudget;
      send?: typeof chain.sender.send;
      validSeconds?: number;
    } = {},
  ) => {
    const kept = process ? process.store(store) : store;
    return createPaymentDesk({
      pool: pool.account,
      network: chain.network,
      sender: { ...chain.sender, send: process ? process.cut(send) : send },
      store: kept,
      budget: budget ?? budgetOf(kept, limit, keptBack),
      least: 1_000n,
      confirmations,
      validSeconds,
      log: quiet,
    });
  };
  /** One round of the desk, like a round of the operator. */
  const round = async (desk: ReturnType<typeof deskOf>, scene: Scene, accrued: [bigint, bigint]) => {
    await desk.follow(forever);
    const [one, other] = scene.auditors;
    const accounts = await accountsOf(chain, scene.pool, [
      [one, accrued[0]],
      [other, accrued[1]],
    ]);
    return await desk.pay(accounts, forever);
  };
  const transfers = (scene: Scene) =>
    Promise.all(scene.auditors.map((auditor) => transfersTo(chain, scene.pool, auditor)));
  const owed: [bigint, bigint] = [15_000n, 40_000n];

  it("reach the other auditors although a file about one auditor is damaged, which gets nothing", async () => {
    for (const folder of ["payment", "paid"]) {
      const scene = await open();
      const { store } = scene;
      const damaged = `${folder}/${scene.auditors[0].address}`;
      await store.put(damaged, {});
      const get = async <T>(key: string): Promise<T | undefined> => {
        if (key === damaged) throw new TallystickError({ code: "unreadable_value", message: key });
        return await store.get<T>(key);
      };
      const desk = deskOf({ ...scene, store: { ...store, get } });
      for (let n = 0; n < 2; n++) await round(desk, scene, owed);
      expect(await transfers(scene), folder).to.deep.equal([[], [40_000n]]);
      expect(await store.get(damaged)).to.deep.equal({});
    }
  });

  it("reach every auditor exactly once, even if the process ends at any write", async () => {
    const writes = await endAtEveryWrite<Scene>({
      open,
      run: async (scene, process) => {
        const desk = deskOf(scene, { process });
        await round(desk, scene, owed);
        await round(desk, scene, owed);
        await round(desk, scene, [20_000n, 40_000n]);
        await desk.follow(forever);
      },
      resume: async (scene) => {
        const desk = deskOf(scene);
        for (let n = 0; n < 3; n++) await round(desk, scene, [20_000n, 40_000n]);
      },
      check: async (scene, at) => {
        const made = await transfers(scene);
        const sums = made.map((list) => list.reduce((sum, it) => sum + it, 0n));
        expect(sums, at).to.deep.equal([20_000n, 40_000n]);
        expect(made[1], at).to.have.length(1);
        expect(await scene.store.keys("payment"), at).to.deep.equal([]);
        expect(LIMIT - (await budgetOf(scene.store).remaining()), `${at}: booked`).to.equal(60_000n);
      },
    });
    expect(writes).to.be.greaterThan(8);
  });

  it("are sent again when it is unknown whether they were sent, and are accepted once", async () => {
    for (const isMined of [true, false]) {
      const scene = await open();
      let isLost = true;
      const send: typeof chain.sender.send = async (call) => {
        if (!isLost) return await chain.sender.send(call);
        isLost = false;
        if (isMined) await chain.sender.send(call);
        throw new Error("the RPC did not answer");
      };
      const desk = deskOf(scene, { send });
      for (let n = 0; n < 3; n++) await round(desk, scene, owed);
      expect(await transfers(scene), String(isMined)).to.deep.equal([[15_000n], [40_000n]]);
    }
  });

  it("are made only once by two independent processes, or by a process that lost its notes", async () => {
    const scene = await open();
    const other = { ...scene, store: memoryStore() };
    const accounts = await accountsOf(chain, scene.pool, [[scene.auditors[0], 15_000n]]);
    const desks = [deskOf(scene), deskOf(other)];
    await Promise.all(desks.map((desk) => desk.pay(accounts, forever)));
    // After a restart of the process, the node still gives the earlier amounts.
    await deskOf({ ...scene, store: memoryStore() }).pay(accounts, forever);
    for (const desk of desks) await desk.follow(forever);
    expect(await transfersTo(chain, scene.pool, scene.auditors[0])).to.deep.equal([15_000n]);
  });

  it("are not made again when the node knows less than before, or when a payment is pending", async () => {
    const scene = await open();
    const desk = deskOf(scene, { confirmations: 3 });
    await round(desk, scene, owed);
    // The payment is not final yet. So further debts wait, and the amount that the node forgot is not paid again.
    const [auditor] = scene.auditors;
    await desk.pay([{ auditor: auditor.address, accrued: 90_000n, paid: 0n }], forever);
    expect(await transfersTo(chain, scene.pool, auditor)).to.deep.equal([15_000n]);
    await chain.client.mine({ blocks: 3 });
    expect((await desk.follow(forever)).settled).to.equal(55_000n);
    await desk.pay([{ auditor: auditor.address, accrued: 90_000n, paid: 0n }], forever);
    await desk.pay([{ auditor: auditor.address, accrued: 90_000n, paid: 14_999n }], forever);
    expect(await transfersTo(chain, scene.pool, auditor)).to.deep.equal([15_000n]);
    await desk.pay([{ auditor: auditor.address, accrued: 90_000n, paid: 15_000n }], forever);
    expect(await transfersTo(chain, scene.pool, auditor)).to.deep.equal([15_000n, 75_000n]);
  });

  it("are signed again under the same nonce when nobody sent them in time", async () => {
    const scene = await open();
    const [auditor] = scene.auditors;
    const lost = deskOf(scene, {
      send: async () => {
        throw new Error("away");
      },
      validSeconds: 60,
    });
    const accounts = await accountsOf(chain, scene.pool, [[auditor, 15_000n]]);
    await lost.pay(accounts, forever);
    const [key = ""] = await scene.store.keys("payment");
    const before = await scene.store.get<{ nonce: string; validBefore: number }>(key);
    await chain.passTo((await chain.now()) + 61);
    const desk = deskOf(scene, { validSeconds: 60 });
    await desk.follow(forever);
    const after = await scene.store.get<{ nonce: string; validBefore: number }>(key);
    expect(after?.nonce).to.equal(before?.nonce);
    expect(after?.validBefore).to.be.above(before?.validBefore ?? 0);
    expect((await desk.follow(forever)).settled).to.equal(15_000n);
    expect(await transfersTo(chain, scene.pool, auditor)).to.deep.equal([15_000n]);
  });

  it("are not sent again while the chain shows them and they are not final, however late it is", async () => {
    const scene = await open();
    let sent = 0;
    const send: typeof chain.sender.send = async (call) => {
      sent++;
      return await chain.sender.send(call);
    };
    const deskAfter = () => deskOf(scene, { confirmations: 3, validSeconds: 60, send });
    const accounts = await accountsOf(chain, scene.pool, [[scene.auditors[0], 15_000n]]);
    await deskAfter().pay(accounts, forever);
    // The next process does not know what the first process sent.
    expect(await deskAfter().follow(forever)).to.include({ settled: 0n, waiting: 1 });
    await chain.passTo((await chain.now()) + 61);
    expect(await deskAfter().follow(forever)).to.include({ settled: 0n, waiting: 1 });
    await chain.client.mine({ blocks: 3 });
    expect(await deskAfter().follow(forever)).to.include({ settled: 15_000n });
    expect(sent).to.equal(1);
  });

  it("are not booked a second time by a process that has no notes and whose node is behind", async () => {
    const scene = await open();
    const accounts = await accountsOf(chain, scene.pool, [[scene.auditors[0], 15_000n]]);
    await deskOf(scene).pay(accounts, forever);
    const lost = { ...scene, store: memoryStore() };
    expect(await deskOf(lost).pay(accounts, forever)).to.include({ waiting: 0, refused: 0 });
    expect((await deskOf(lost).follow(forever)).settled).to.equal(0n);
    expect(await budgetOf(lost.store).remaining()).to.equal(LIMIT);
  });

  it("stay within the budget to the last unit, and wait while they are below the least amount", async () => {
    const scene = await open();
    const desk = deskOf(scene, { limit: 1_999n });
    expect(await round(desk, scene, owed)).to.deep.include({ waiting: 1, refused: 1 });
    expect(await transfers(scene)).to.deep.equal([[], [1_000n]]);
    // 999 units are left, and the least amount is 1,000.
    expect(await budgetOf(scene.store, 1_999n).remaining()).to.equal(999n);
    const exact = await open();
    expect(await round(deskOf(exact, { limit: 55_000n }), exact, owed)).to.deep.include({ refused: 0 });
    const small = await open();
    await round(deskOf(small), small, [999n, 1_000n]);
    expect(await transfers(small)).to.deep.equal([[], [1_000n]]);
  });

  it("pay a part of a debt above the budget, beside the debts that fit, and the rest in later periods", async () => {
    const scene = await open();
    const debts: [bigint, bigint] = [90_000n, 10_000n];
    const first = deskOf(scene, { limit: 40_000n });
    expect(await round(first, scene, debts)).to.include({ waiting: 2, refused: 0 });
    expect(await round(first, scene, debts)).to.include({ waiting: 0, refused: 1 });
    expect(await transfers(scene)).to.deep.equal([[30_000n], [10_000n]]);
    expect(await budgetOf(scene.store, 40_000n).remaining()).to.equal(0n);
    const second = deskOf(scene, { limit: 80_000n });
    await round(second, scene, debts);
    const third = deskOf(scene, { limit: 120_000n });
    await round(third, scene, debts);
    await third.follow(forever);
    expect(await transfers(scene)).to.deep.equal([[30_000n, 40_000n, 20_000n], [10_000n]]);
  });

  it("leave a small debt what it needs, beside a debt of nearly the whole budget", async () => {
    for (const [keptBack, part] of [
      [25_000n, 15_000n],
      [0n, 30_000n],
    ] as const) {
      const scene = await open();
      const desk = deskOf(scene, { limit: 40_000n, keptBack });
      expect(await round(desk, scene, [38_000n, 10_000n])).to.include({ waiting: 2, refused: 0 });
      expect(await transfers(scene)).to.deep.equal([[part], [10_000n]]);
    }
  });

  /** Plays three periods with a large debt, and new auditors in each round. Returns what both got in each period. */
  const playPeriods = async (roundsOf: readonly (readonly bigint[])[]) => {
    const scene = await open();
    const clock = { now: 0 };
    const budget = periodBudget({ store: scene.store, limit: 40_000n, now: () => clock.now });
    const desk = deskOf(scene, { budget });
    const accrued: [Wallet, bigint][] = [[newWallet(), 400_000n]];
    const accounts = () =>
      Promise.all(
        accrued.map(async ([{ address: auditor }, sum]) => {
          const known = await scene.store.get<{ paid: string }>(`paid/${auditor}`);
          return { auditor, accrued: sum, paid: BigInt(known?.paid ?? 0) };
        }),
      );
    let before = { large: 0n, small: 0n };
    const gains: (typeof before)[] = [];
    for (let period = 0; period < 3; period++) {
      for (const [n, debts] of roundsOf.entries()) {
        clock.now = 1_000 * PERIOD_SECONDS * (period + (n + 0.5) / roundsOf.length);
        accrued.push(...debts.map((debt): [Wallet, bigint] => [newWallet(), debt]));
        await desk.pay(await accounts(), forever);
        await desk.follow(forever);
      }
      const [large = 0n, ...small] = (await accounts()).map(({ paid }) => paid);
      const now = { large, small: small.reduce((sum, it) => sum + it, 0n) };
      gains.push({ large: now.large - before.large, small: now.small - before.small });
      before = now;
    }
    return gains;
  };

  it("reach a large debt in each period, although new auditors earn more than the budget in each", async () => {
    const atOnce = [Array<bigint>(6).fill(8_000n), [], [], [], []];
    const oneByOne = Array<bigint[]>(5).fill([12_000n]);
    for (const roundsOf of [atOnce, oneByOne])
      for (const { large, small } of await playPeriods(roundsOf)) {
        expect(Number(large)).to.be.at.least(4_000);
        expect(Number(small)).to.be.at.least(4_000);
        expect(Number(large + small)).to.be.within(39_001, 40_000);
      }
  });

  it("leave the auditors that earn later what the budget keeps back from a part of a debt", async () => {
    const scene = await open();
    const desk = deskOf(scene, { limit: 40_000n, keptBack: 25_000n });
    await round(desk, scene, [90_000n, 0n]);
    expect(await transfers(scene)).to.deep.equal([[15_000n], []]);
    expect(await round(desk, scene, [90_000n, 12_500n])).to.include({ waiting: 1, refused: 1 });
    expect(await transfers(scene)).to.deep.equal([[15_000n], [12_500n]]);
  });

  it("share what is left, if several debts are above the budget, to the last unit", async () => {
    const scene = await open();
    const debts: [bigint, bigint] = [90_000n, 90_000n];
    await round(deskOf(scene, { limit: 40_000n }), scene, debts);
    await round(deskOf(scene, { limit: 71_001n }), scene, debts);
    expect(await transfers(scene)).to.deep.equal([
      [20_000n, 15_501n],
      [20_000n, 15_500n],
    ]);
    // If the shares are below the least amount, the largest debt gets it.
    const few = await open();
    await round(deskOf(few, { limit: 1_500n }), few, [90_000n, 90_001n]);
    expect(await transfers(few)).to.deep.equal([[], [1_000n]]);
  });

  it("leave no share of the budget to an auditor that gets nothing in this round", async () => {
    const debts: [bigint, bigint] = [15_000n, 90_000n];
    const damaged = await open();
    const key = `paid/${damaged.auditors[0].address}`;
    const get = async <T>(asked: string): Promise<T | undefined> => {
      if (asked === key) throw new TallystickError({ code: "unreadable_value", message: key });
      return await damaged.store.get<T>(asked);
    };
    const store = { ...damaged.store, get };
    expect(await round(deskOf({ ...damaged, store }, { limit: 40_000n }), damaged, debts)).to.include({
      waiting: 1,
      refused: 0,
    });
    expect(await transfers(damaged)).to.deep.equal([[], [40_000n]]);

    const behind = await open();
    await behind.store.put(`paid/${behind.auditors[0].address}`, { paid: "1" });
    await round(deskOf(behind, { limit: 40_000n }), behind, debts);
    expect(await transfers(behind)).to.deep.equal([[], [40_000n]]);
  });

  it("of parts reach ten of many large debts at once, and the others later", async () => {
    const { store, pool } = await open();
    const auditors = Array.from({ length: 20 }, newWallet);
    const paid = new Map<Wallet, bigint>();
    for (const period of [1n, 2n]) {
      const desk = deskOf({ store, pool }, { limit: period * 40_000n });
      const accounts = await accountsOf(
        chain,
        pool,
        auditors.map((it) => [it, 90_000n]),
      );
      expect((await desk.pay(accounts, forever)).waiting).to.equal(10);
      await desk.follow(forever);
    }
    for (const auditor of auditors)
      for (const part of await transfersTo(chain, pool, auditor))
        paid.set(auditor, (paid.get(auditor) ?? 0n) + part);
    expect([...paid.values()]).to.deep.equal(Array(20).fill(4_000n));
  });

  it("of a part reach the auditor once, and are booked once, even if the process ends at any write", async () => {
    await endAtEveryWrite<Scene>({
      open,
      run: async (scene, process) => {
        await round(deskOf(scene, { process, limit: 40_000n }), scene, [90_000n, 0n]);
      },
      resume: async (scene) => {
        const desk = deskOf(scene, { limit: 40_000n });
        for (let n = 0; n < 2; n++) await round(desk, scene, [95_000n, 0n]);
        await desk.follow(forever);
      },
      check: async (scene, at) => {
        expect(await transfers(scene), at).to.deep.equal([[40_000n], []]);
        expect(await budgetOf(scene.store, 40_000n).remaining(), at).to.equal(0n);
      },
    });
  });
});
