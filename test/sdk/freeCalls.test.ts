import { expect } from "chai";
import { createFreeCalls, type HasHired } from "tallystick-sdk/seller/freeCalls";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { rejection } from "./support/tamper.ts";

const DAY_MS = 86_400_000;
const MEAN = "compute.statistics.mean";
const buyer = (n: number) => `0x${String(n).padStart(40, "0")}` as const;

describe("the free first calls of a seller", () => {
  let time: number;
  let store: KeyValueStore;
  beforeEach(() => {
    time = 20_000 * DAY_MS;
    store = memoryStore();
  });
  const open = (perDay = 1_000, hasHired?: HasHired) =>
    createFreeCalls({ store, perDay, hasHired, now: () => time });

  it("are one for each buyer and capability, in every process", async () => {
    expect(await open().take(buyer(1), MEAN)).to.equal(true);
    expect(await open().take(buyer(1), MEAN)).to.equal(false);
    expect(await open().take(buyer(1), "custom.a.b")).to.equal(true);
    expect(await open().take(buyer(2), MEAN)).to.equal(true);
    const both = await Promise.all([open().take(buyer(3), MEAN), open().take(buyer(3), MEAN)]);
    expect(both.filter(Boolean)).to.have.length(1);
  });

  it("have a limit for each UTC day, which all processes share and can use completely", async () => {
    time += DAY_MS - 1;
    const takes = Array.from({ length: 6 }, (_, n) => open(3).take(buyer(n), MEAN));
    expect((await Promise.all(takes)).filter(Boolean)).to.have.length(3);
    expect(await open(3).take(buyer(7), MEAN)).to.equal(false);
    time += 1;
    expect(await open(3).take(buyer(7), MEAN)).to.equal(true);
  });

  it("of a day are not used up by copies of one request that come together", async () => {
    const copies = Array.from({ length: 9 }, () => open(3).take(buyer(1), MEAN));
    expect((await Promise.all(copies)).filter(Boolean)).to.have.length(1);
    for (const n of [2, 3]) expect(await open(3).take(buyer(n), MEAN), String(n)).to.equal(true);
    expect(await open(3).take(buyer(4), MEAN)).to.equal(false);
  });

  it("stay the buyer's if the disk cannot store that one of the day is used", async () => {
    const { putNew } = store;
    store.putNew = async (key, value) => {
      if (key.startsWith("free/")) throw new Error("the disk is full");
      return await putNew(key, value);
    };
    expect(await rejection(open().take(buyer(1), MEAN))).to.include({ message: "the disk is full" });
    store.putNew = putNew;
    expect(await open().take(buyer(1), MEAN)).to.equal(true);
  });

  it("leave no files of a day that is more than a week ago, and still know their buyers", async () => {
    const today = 20_000;
    for (let n = 0; n < 3; n++) await open(3).take(buyer(n), MEAN);
    time += 7 * DAY_MS;
    await open().take(buyer(4), MEAN);
    expect(await store.keys("free")).to.include.members([`free/${today}`, `free/${today}-3`]);
    time += DAY_MS;
    await open().take(buyer(5), MEAN);
    expect(await store.keys("free")).to.have.members(
      [today + 7, today + 8].flatMap((day) => [`free/${day}`, `free/${day}-1`]),
    );
    expect(await open().take(buyer(1), MEAN)).to.equal(false);
  });

  it("are refused to a buyer that has hired before or may have, and a refusal does not count for the day's limit", async () => {
    const yes: HasHired = async () => true;
    const away: HasHired = async () => {
      throw new Error("away");
    };
    for (const hasHired of [yes, away]) expect(await open(1, hasHired).take(buyer(1), MEAN)).to.equal(false);
    expect(await open(1, async () => false).take(buyer(1), MEAN)).to.equal(true);
  });

  it("are given back if the work failed, but not to a buyer whose paid call has ended since", async () => {
    const calls = open();
    await calls.take(buyer(1), MEAN);
    await calls.giveBack(buyer(1), MEAN);
    expect(await calls.take(buyer(1), MEAN)).to.equal(true);
    await calls.see(buyer(1), MEAN);
    await calls.giveBack(buyer(1), MEAN);
    expect(await calls.take(buyer(1), MEAN)).to.equal(false);
    await calls.see(buyer(2), MEAN);
    expect(await calls.take(buyer(2), MEAN)).to.equal(false);
  });
});
