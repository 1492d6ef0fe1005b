import { expect } from "chai";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { toHireJson } from "tallystick-protocol/escrow/hireJson";
import { SURE_MS } from "tallystick-sdk/escrow/keeperInstructions";
import { createWatchedDeposits } from "tallystick-sdk/escrow/watchedDeposits";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { rejection } from "./support/tamper.ts";

const address = (byte: string) => `0x${byte.repeat(20)}` as const;
const hash = (byte: string) => `0x${byte.repeat(32)}` as const;
const hire: Hire = {
  ...{ hireId: hash("33"), buyer: address("b1"), seller: address("5e"), payee: ZERO_ADDRESS, amount: 7n },
  ...{ fee: 0n, feeRecipient: ZERO_ADDRESS, deadline: 2n ** 40n, arbiter: ZERO_ADDRESS },
};
const KEY = `watch/${hash("1d")}`;

describe("the deposits that a keeper watches", () => {
  let store: ReturnType<typeof memoryStore>;
  let time: number;
  /** A keeper that starts on this disk. */
  const open = async () => {
    const deposits = createWatchedDeposits({
      ...{ calls: { idOf: () => hash("1d") }, store, now: () => time, onEnd: async () => {}, log: () => {} },
    });
    return { deposits, watched: await deposits.all() };
  };
  beforeEach(() => {
    [store, time] = [memoryStore(), 1_800_000_000_000];
  });

  it("are not known before they are on the disk, so that a failure of the disk loses none", async () => {
    const { deposits } = await open();
    const { put } = store;
    store.put = () => Promise.reject(new Error("ENOSPC"));
    expect((await rejection(deposits.add(hire, false))).message).to.equal("ENOSPC");
    expect(deposits.isKnown(hire)).to.equal(false);
    store.put = put;
    await deposits.add(hire, false);
    expect([deposits.isKnown(hire), await store.get(KEY)]).to.deep.equal([true, toHireJson(hire)]);
  });

  it("are forgotten when they have been settled for two minutes, and stay known", async () => {
    const { deposits, watched } = await open();
    await deposits.add(hire, false);
    await deposits.seeSettled(KEY);
    const since = time;
    for (const passed of [1, SURE_MS - 1]) {
      time = since + passed;
      await deposits.seeSettled(KEY);
      expect(watched.get(KEY)?.settledAt, String(passed)).to.equal(since);
      expect(await store.get(KEY)).to.deep.equal({ ...toHireJson(hire), settledAt: since });
    }
    expect((await open()).watched.get(KEY)).to.deep.equal({ hire, settledAt: since });
    time = since + SURE_MS;
    await deposits.seeSettled(KEY);
    expect([watched.size, await store.keys("watch")]).to.deep.equal([0, []]);
    expect(deposits.isKnown(hire), "a block that lists it again adds nothing").to.equal(true);
  });

  it("are watched again, also after a restart, if the chain shows that they are held after all", async () => {
    const { deposits } = await open();
    await deposits.add(hire, true);
    await deposits.seeHeld(KEY);
    time += SURE_MS;
    const next = await open();
    expect(next.watched.get(KEY)).to.deep.equal({ hire });
    await next.deposits.seeSettled(KEY);
    expect(next.deposits.isKnown(hire)).to.equal(true);
    expect(await store.keys("watch"), "settled for less than two minutes").to.deep.equal([KEY]);
  });
});
