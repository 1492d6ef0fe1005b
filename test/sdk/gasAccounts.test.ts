import { expect } from "chai";
import { HIRE_GAS, openGasAccounts, STRANGER_WINDOW_MS, WINDOW_MS } from "tallystick-sdk/escrow/gasAccounts";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";

const MOST = 200_000;

describe("the gas that a keeper spends on an account", () => {
  let at: number;
  let store: ReturnType<typeof memoryStore>;
  const open = () => openGasAccounts(store, () => at);
  beforeEach(() => {
    at = 1_800_000_000_000;
    store = memoryStore();
  });

  it("is never more than it may lose, whatever is under way at once", async () => {
    const accounts = await open();
    const first = accounts.reserve("a", 150_000, MOST);
    expect(accounts.reserve("a", 50_001, MOST)).to.equal(undefined);
    expect(accounts.reserve("b", 150_000, MOST)).not.to.equal(undefined);
    first?.giveBack();
    first?.giveBack();
    expect(accounts.roomOf("a", MOST)).to.equal(MOST);
    await accounts.reserve("a", 150_000, MOST)?.lose(120_000);
    expect(accounts.roomOf("a", MOST)).to.equal(80_000);
  });

  it("is forgotten after a day, and grows with the hires that paid", async () => {
    const accounts = await open();
    await accounts.reserve("a", MOST, MOST)?.lose(MOST);
    await accounts.earn("a");
    expect(accounts.roomOf("a", MOST)).to.equal(HIRE_GAS);
    at += WINDOW_MS - 1;
    expect(accounts.roomOf("a", MOST)).to.equal(HIRE_GAS);
    at += 1;
    expect(accounts.roomOf("a", MOST)).to.equal(MOST);
  });

  it("is remembered by the next process, and longer each time a word fails", async () => {
    for (const windowMs of [STRANGER_WINDOW_MS, 2 * STRANGER_WINDOW_MS, 4 * STRANGER_WINDOW_MS]) {
      await (await open()).reserve("a", MOST, MOST)?.lose(MOST, true);
      at += windowMs - 1;
      const next = await open();
      expect(next.roomOf("a", MOST)).to.equal(0);
      expect(next.secondsToWait("a")).to.equal(1);
      at += 1;
      expect((await open()).roomOf("a", MOST)).to.equal(MOST);
    }
  });

  it("is a matter of days for who has paid before", async () => {
    const accounts = await open();
    await accounts.earn("a");
    at += WINDOW_MS;
    for (const days of [1, 2, 4]) {
      await accounts.reserve("a", MOST, MOST)?.lose(MOST, true);
      at += days * WINDOW_MS - 1;
      expect(accounts.roomOf("a", MOST)).to.equal(0);
      at += 1;
      expect(accounts.roomOf("a", MOST)).to.equal(MOST);
    }
    await accounts.earn("a");
    at += WINDOW_MS;
    await accounts.reserve("a", MOST, MOST)?.lose(MOST, true);
    at += WINDOW_MS;
    expect(accounts.roomOf("a", MOST), "what was paid ends the doubling").to.equal(MOST);
  });

  it("keeps no account that says nothing any more", async () => {
    const accounts = await open();
    await accounts.earn("a");
    await accounts.reserve("b", 1, MOST)?.lose(1, true);
    at += STRANGER_WINDOW_MS;
    await open();
    expect(await store.keys("gas")).to.deep.equal(["gas/b"]);
    at += 64 * STRANGER_WINDOW_MS;
    await open();
    expect(await store.keys("gas")).to.deep.equal([]);
  });
});
