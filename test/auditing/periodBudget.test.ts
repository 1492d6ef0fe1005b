import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import { BudgetError } from "tallystick-sdk/errors";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { PERIOD_SECONDS, periodBudget } from "../../services/auditing/periodBudget.ts";
import { endAtEveryWrite } from "../support/endAtEveryWrite.ts";

const LIMIT = 100n;
const PERIOD_MS = PERIOD_SECONDS * 1_000;

describe("the pool's budget of a period", () => {
  let time: number;
  beforeEach(() => {
    time = 700 * PERIOD_MS;
  });
  const budgetOf = (store: KeyValueStore) => periodBudget({ store, limit: LIMIT, now: () => time });
  const refusal = async (work: Promise<void>): Promise<unknown> =>
    await work.then(
      () => expect.fail("the amount was not refused"),
      (error: unknown) => error,
    );

  it("allows its limit to the last unit, and the next period has a limit of its own", async () => {
    const budget = budgetOf(memoryStore());
    await budget.reserve("one", 60n);
    await budget.reserve("other", 40n);
    expect(await refusal(budget.reserve("third", 1n))).to.be.instanceOf(BudgetError);
    time += PERIOD_MS - 1;
    expect(await budget.remaining()).to.equal(0n);
    time += 1;
    expect(await budget.remaining()).to.equal(LIMIT);
  });

  it("lets parts of debts take a tenth of its limit in each tenth of the period, and all that is left in the last one", async () => {
    const budget = budgetOf(memoryStore());
    expect(await budget.leftForParts()).to.equal(10n);
    await budget.reserve("part", 10n);
    expect(await budget.leftForParts()).to.equal(0n);
    await budget.reserve("whole", 15n);
    time += PERIOD_MS / 10 - 1;
    expect(await budget.leftForParts(), "never less than nothing").to.equal(0n);
    time += 1 + PERIOD_MS / 10;
    expect(await budget.leftForParts()).to.equal(5n);
    time += (7 * PERIOD_MS) / 10;
    expect(await budget.leftForParts()).to.equal(75n);
    time += PERIOD_MS / 10;
    expect(await budget.leftForParts(), "the next period").to.equal(10n);
  });

  it("does not refuse in the next period what it refused in this one", async () => {
    const store = memoryStore();
    await budgetOf(store).reserve("one", 60n);
    await refusal(budgetOf(store).reserve("payment", 50n));
    expect(await store.keys("reserved")).to.deep.equal(["reserved/one"]);
    time += PERIOD_MS;
    await budgetOf(store).reserve("payment", 50n);
    expect(await budgetOf(store).remaining()).to.equal(50n);
  });

  it("books an amount in the period that it was reserved in, even if another process books it", async () => {
    const store = memoryStore();
    await budgetOf(store).reserve("spent", 60n);
    await budgetOf(store).reserve("back", 30n);
    time += PERIOD_MS;
    await budgetOf(store).spend("spent");
    await budgetOf(store).giveBack("back");
    expect(await budgetOf(store).remaining()).to.equal(LIMIT);
    time -= PERIOD_MS;
    expect(await budgetOf(store).remaining()).to.equal(40n);
    expect(await store.keys("reserved")).to.deep.equal([]);
  });

  it("takes a damaged note for one of the present period, and never pays more than its limit in a period", async () => {
    const store = memoryStore();
    await budgetOf(store).reserve("one", 60n);
    await budgetOf(store).reserve("other", 30n);
    const get = async <T>(key: string): Promise<T | undefined> => {
      if (key === "reserved/one" && (await store.keys("reserved")).includes(key))
        throw new TallystickError({ code: "unreadable_value", message: key });
      return await store.get<T>(key);
    };
    const damaged = budgetOf({ ...store, get });
    // The amount of this period is found.
    await damaged.reserve("one", 70n);
    expect(await damaged.remaining()).to.equal(0n);
    time += PERIOD_MS;
    // The amount of an earlier period stays reserved there.
    await damaged.giveBack("one");
    await damaged.spend("other");
    await damaged.reserve("one", LIMIT);
    expect(await damaged.remaining()).to.equal(0n);
    time -= PERIOD_MS;
    expect(await damaged.remaining()).to.equal(0n);
  });

  it("books an amount once, even if the process ends at any write and the period ends meanwhile", async () => {
    const begun = time;
    /** A payment as the desk makes it: decided once, followed to its end, noted as paid. */
    const pay = async (store: KeyValueStore) => {
      if ((await store.get("paid/one")) !== undefined) return await store.delete("payment/one");
      const budget = budgetOf(store);
      if ((await store.get("payment/one")) === undefined) {
        await budget.reserve("payment", 60n);
        await store.put("payment/one", true);
      }
      await budget.spend("payment");
      await store.put("paid/one", true);
      await store.delete("payment/one");
    };
    const writes = await endAtEveryWrite<KeyValueStore>({
      open: async () => {
        time = begun;
        return memoryStore();
      },
      run: (store, process) => pay(process.store(store)),
      resume: async (store) => {
        time += PERIOD_MS;
        await pay(store);
      },
      check: async (store, at) => {
        const second = await budgetOf(store).remaining();
        time = begun;
        const first = await budgetOf(store).remaining();
        expect(2n * LIMIT - first - second, at).to.equal(60n);
        expect(await store.keys("reserved"), at).to.deep.equal([]);
      },
    });
    expect(writes).to.be.greaterThan(5);
  });
});
