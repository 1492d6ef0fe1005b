import { expect } from "chai";
import { TallystickError } from "tallystick-protocol/errors";
import {
  advancesOf,
  HIRE_GAS,
  openGasAccounts,
  STRANGER_WINDOW_MS,
  signaturesOf,
  WINDOW_MS,
} from "tallystick-sdk/escrow/gasAccounts";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { rejection } from "./support/tamper.ts";

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

  describe("whose file cannot be read", () => {
    const buyer = advancesOf(`0x${"b1".repeat(20)}`);
    const wallet = signaturesOf(`0x${"b1".repeat(20)}`);
    const key = `gas/${buyer}`;
    /** What the file has; undefined if reading it fails. */
    let content: unknown;
    let fault: Error;
    let lines: string[];
    const openDamaged = () => {
      const get = async <T>(asked: string): Promise<T | undefined> => {
        if (asked === key && content === undefined) throw fault;
        return await store.get<T>(asked);
      };
      const log = (sentence: string, details?: { [name: string]: unknown }) =>
        lines.push(`${sentence} ${details?.key}`);
      return openGasAccounts({ ...store, get }, () => at, { expectsFees: true, log });
    };
    beforeEach(() => {
      [content, lines] = [undefined, []];
      fault = new TallystickError({ code: "unreadable_value", message: "damaged" });
    });

    it("is unknown as long as the disk is away", async () => {
      await (await open()).reserve(buyer, MAX_GAS, MAX_GAS)?.lose(9);
      fault = new Error("the disk is away");
      expect(await rejection(openDamaged())).to.equal(fault);
      expect((await open()).roomOf(buyer, MAX_GAS)).to.equal(MAX_GAS - 9);
    });

    it("is none any more, and the file stays as it is; other accounts go on", async () => {
      await store.put(`gas/${wallet}`, { lost: 1, until: "soon" });
      await (await openDamaged()).reserve("a", MAX_GAS, MAX_GAS)?.lose(MAX_GAS);
      for (const it of [undefined, null, 7, {}, { lost: 1 }, { lost: null, until: at }]) {
        content = it;
        await store.put(key, content ?? null);
        lines = [];
        const accounts = await openDamaged();
        expect(accounts.reserve(buyer, 1, MAX_GAS)).to.equal(undefined);
        expect(accounts.reserve(wallet, 1, MAX_GAS)).to.equal(undefined);
        expect(lines.filter((line) => line.endsWith(key))).to.have.length(1);
        expect(accounts.roomOf("a", MAX_GAS)).to.equal(0);
        expect(accounts.roomOf("b", MAX_GAS)).to.equal(MAX_GAS);
        // What must be sent anyway, such as the mark of an own deposit.
        await accounts.reserve(buyer, 9, Number.POSITIVE_INFINITY)?.lose(9);
        expect(accounts.reserve(buyer, 1, MAX_GAS)).to.equal(undefined);
        expect(await store.get(key)).to.deep.equal(content ?? null);
      }
    });

    it("is that of a new wallet after a day, because a wallet without gas can bring no fee", async () => {
      await store.put(`gas/${wallet}`, null);
      await store.put(key, null);
      const accounts = await openDamaged();
      at += WINDOW_MS - 1;
      expect(accounts.reserve(wallet, 1, MAX_GAS)).to.equal(undefined);
      at += 1;
      await accounts.reserve(wallet, MAX_GAS, MAX_GAS)?.lose(MAX_GAS, true);
      expect(accounts.reserve(buyer, 1, MAX_GAS), "a buyer can pay a fee without gas").to.equal(undefined);
      at += STRANGER_WINDOW_MS;
      expect((await open()).roomOf(wallet, MAX_GAS)).to.equal(MAX_GAS);
    });

    it("is a day's again when a day has passed since the buyer paid a fee", async () => {
      await store.put(key, null);
      const accounts = await openDamaged();
      await accounts.earn(buyer);
      expect(accounts.reserve(buyer, 1, MAX_GAS)).to.equal(undefined);
      at += WINDOW_MS;
      await accounts.reserve(buyer, MAX_GAS, MAX_GAS)?.lose(MAX_GAS);
      expect((await open()).roomOf(buyer, MAX_GAS)).to.equal(0);
    });
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
