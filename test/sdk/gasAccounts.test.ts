import { expect } from "chai";
import {
  advancesOf,
  HIRE_GAS,
  openGasAccounts,
  STRANGER_WINDOW_MS,
  WINDOW_MS,
} from "tallystick-sdk/escrow/gasAccounts";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";

const MAX_GAS = 200_000;

describe("the gas that a keeper spends on an account", () => {
  let at: number;
  let store: ReturnType<typeof memoryStore>;
  const open = () => openGasAccounts(store, () => at, { expectsFees: true });
  beforeEach(() => {
    at = 1_800_000_000_000;
    store = memoryStore();
  });

  it("is never above the limit, even while several transactions are pending", async () => {
    const accounts = await open();
    const first = accounts.reserve("a", 150_000, MAX_GAS);
    expect(accounts.reserve("a", 50_001, MAX_GAS)).to.equal(undefined);
    expect(accounts.reserve("b", 150_000, MAX_GAS)).not.to.equal(undefined);
    first?.giveBack();
    first?.giveBack();
    expect(accounts.roomOf("a", MAX_GAS)).to.equal(MAX_GAS);
    await accounts.reserve("a", 150_000, MAX_GAS)?.lose(120_000);
    expect(accounts.roomOf("a", MAX_GAS)).to.equal(80_000);
  });

  it("is forgotten after a day, and may be more after a hire that paid a fee", async () => {
    const accounts = await open();
    await accounts.reserve("a", MAX_GAS, MAX_GAS)?.lose(MAX_GAS);
    await accounts.earn("a");
    expect(accounts.roomOf("a", MAX_GAS)).to.equal(HIRE_GAS);
    at += WINDOW_MS - 1;
    expect(accounts.roomOf("a", MAX_GAS)).to.equal(HIRE_GAS);
    at += 1;
    expect(accounts.roomOf("a", MAX_GAS)).to.equal(MAX_GAS);
  });

  it("is remembered for a month, and longer each time, if the buyer's deposits never bring a fee", async () => {
    const buyer = advancesOf(`0x${"b1".repeat(20)}`);
    for (const windowMs of [STRANGER_WINDOW_MS, 2 * STRANGER_WINDOW_MS]) {
      const accounts = await open();
      await accounts.reserve(buyer, MAX_GAS, MAX_GAS)?.lose(MAX_GAS);
      at += windowMs - 1;
      expect((await open()).roomOf(buyer, MAX_GAS)).to.equal(0);
      at += 1;
      expect((await open()).roomOf(buyer, MAX_GAS)).to.equal(MAX_GAS);
    }
    const accounts = await open();
    await accounts.reserve(buyer, MAX_GAS, MAX_GAS)?.lose(MAX_GAS);
    await accounts.earn(buyer);
    at += WINDOW_MS;
    expect(accounts.roomOf(buyer, MAX_GAS), "the first fee").to.equal(MAX_GAS);
    await accounts.reserve(buyer, MAX_GAS, MAX_GAS)?.lose(MAX_GAS);
    at += WINDOW_MS;
    expect(accounts.roomOf(buyer, MAX_GAS), "a buyer that has paid").to.equal(MAX_GAS);
    // A keeper that expects no fees forgets the gas after a day.
    const free = await openGasAccounts(memoryStore(), () => at);
    await free.reserve(buyer, MAX_GAS, MAX_GAS)?.lose(MAX_GAS);
    at += WINDOW_MS;
    expect(free.roomOf(buyer, MAX_GAS)).to.equal(MAX_GAS);
  });

  it("is remembered by the next process, and for longer after each failed instruction", async () => {
    for (const windowMs of [STRANGER_WINDOW_MS, 2 * STRANGER_WINDOW_MS, 4 * STRANGER_WINDOW_MS]) {
      await (await open()).reserve("a", MAX_GAS, MAX_GAS)?.lose(MAX_GAS, true);
      at += windowMs - 1;
      const next = await open();
      expect(next.roomOf("a", MAX_GAS)).to.equal(0);
      expect(next.secondsToWait("a")).to.equal(1);
      at += 1;
      expect((await open()).roomOf("a", MAX_GAS)).to.equal(MAX_GAS);
    }
  });

  it("is forgotten within days for an account that has paid before", async () => {
    const accounts = await open();
    await accounts.earn("a");
    at += WINDOW_MS;
    for (const days of [1, 2, 4]) {
      await accounts.reserve("a", MAX_GAS, MAX_GAS)?.lose(MAX_GAS, true);
      at += days * WINDOW_MS - 1;
      expect(accounts.roomOf("a", MAX_GAS)).to.equal(0);
      at += 1;
      expect(accounts.roomOf("a", MAX_GAS)).to.equal(MAX_GAS);
    }
    await accounts.earn("a");
    at += WINDOW_MS;
    await accounts.reserve("a", MAX_GAS, MAX_GAS)?.lose(MAX_GAS, true);
    at += WINDOW_MS;
    expect(accounts.roomOf("a", MAX_GAS), "a paid fee ends the doubling").to.equal(MAX_GAS);
  });

  it("is not stored for an account when there is nothing to remember", async () => {
    const accounts = await open();
    await accounts.earn("a");
    await accounts.reserve("b", 1, MAX_GAS)?.lose(1, true);
    at += STRANGER_WINDOW_MS;
    await open();
    expect(await store.keys("gas")).to.deep.equal(["gas/b"]);
    at += 64 * STRANGER_WINDOW_MS;
    await open();
    expect(await store.keys("gas")).to.deep.equal([]);
  });
});
