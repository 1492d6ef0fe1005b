import { expect } from "chai";
import { parseUsdc } from "tallystick-protocol/amount";
import { toHex } from "tallystick-protocol/hex";
import { base, baseSepolia } from "tallystick-sdk/chain/paymentNetwork";
import { createBuyer } from "tallystick-sdk/createBuyer";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import type { LocalAccount } from "viem";
import { MEAN, mean, NODE } from "./support/market.ts";
import { between, rejection } from "./support/tamper.ts";
import { newPurse, useMarket } from "./support/useMarket.ts";

const PRICE = parseUsdc("0.05");
const ORDER = {
  capability: MEAN,
  params: { data: [1, 2, 6] },
  maxPriceUsdc: "0.10",
  maxLatencyMs: 60_000,
  deadlineMs: 100_000,
};
const LISTING = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 };
const HOUR_MS = 3_600_000;

describe("the same call again", () => {
  const { chain, market } = useMarket();
  let purse: Awaited<ReturnType<typeof newPurse>>;
  let time: number;
  beforeEach(async () => {
    time = Date.now();
    // The seller checks the times of requests by its own clock, so it has the buyer's clock.
    await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean }, now: () => time });
    purse = await newPurse(chain);
  });

  /** A process of the wallet's owner. Its clock is that of the test. */
  const processWith = (journal: KeyValueStore = memoryStore(), account: LocalAccount = purse.account) =>
    createBuyer({
      account,
      baseUrl: NODE,
      network: chain.network,
      client: chain.client as never,
      search: market.search,
      devMode: true,
      fetch: market.fetch,
      journal,
      now: () => time,
      chainNow: Date.now,
    });

  it("is the same hire for an hour, without any key, in every process on one store", async () => {
    const store = memoryStore();
    // A minute before a full hour, so that the repeated call comes in the next hour.
    time = Math.floor(time / HOUR_MS) * HOUR_MS + HOUR_MS - 60_000;
    const buyer = processWith(store);
    const [one, two] = await Promise.all([buyer.hire(ORDER), buyer.hire(ORDER)]);
    expect(one).not.to.have.property("isRepeated");
    expect(two).to.include({ hireId: one.hireId, isRepeated: true });
    time += HOUR_MS - 1;
    const later = await processWith(store).hire({ ...ORDER, deadlineMs: 60_000, telemetry: false });
    expect(later).to.deep.include({ hireId: one.hireId, result: { result: 3 }, isRepeated: true });
    expect(await purse.paid()).to.equal(PRICE);
    expect((await buyer.find(await buyer.keyOf(ORDER)))?.hire).to.include({ hireId: one.hireId });
  });

  it("is the same hire also if the clock goes back over the hour meanwhile, and if the hour ends while it begins", async () => {
    const store = memoryStore();
    time = Math.floor(time / HOUR_MS) * HOUR_MS + HOUR_MS;
    const { hireId } = await processWith(store).hire(ORDER);
    time -= 2_000;
    expect(await processWith(store).hire(ORDER)).to.include({ hireId, isRepeated: true });
    expect(await purse.paid()).to.equal(PRICE);

    const order = { ...ORDER, params: { data: [4] } };
    const buyer = processWith(store);
    const [reached, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { putNew } = store;
    store.putNew = async (key, value) => {
      if (key.startsWith("call/")) {
        reached.resolve();
        await goesOn.promise;
      }
      return await putNew(key, value);
    };
    const key = await buyer.keyOf(order);
    const first = buyer.hire(order);
    // The first call has its key now, and is not stored yet.
    await reached.promise;
    time += 3_000;
    expect(await buyer.keyOf(order)).to.equal(key);
    const second = buyer.hire(order);
    goesOn.resolve();
    expect((await second).hireId).to.equal((await first).hireId);
    expect(await purse.paid()).to.equal(2n * PRICE);
  });

  it("is another hire for another wallet that shares the journal", async () => {
    const store = memoryStore();
    const [one, other] = [purse, await newPurse(chain)];
    const hires = [await processWith(store, one.account).hire(ORDER)];
    hires.push(await processWith(store, other.account).hire(ORDER));
    expect(hires[1]?.hireId).not.to.equal(hires[0]?.hireId);
    expect([await one.paid(), await other.paid()]).to.deep.equal([PRICE, PRICE]);
  });

  it("is another hire on another chain, also if both share the journal", async () => {
    const journal = memoryStore();
    const keys = [base, baseSepolia].map((network) =>
      createBuyer({ account: purse.account, baseUrl: NODE, network, fetch: market.fetch, journal }).keyOf(
        ORDER,
      ),
    );
    const [one, other] = await Promise.all(keys);
    expect(one).not.to.equal(other);
  });

  it("is another hire after an hour, with other params, or with the key `new`", async () => {
    const buyer = processWith();
    const hires = [await buyer.hire(ORDER), await buyer.hire({ ...ORDER, params: { data: [1, 2] } })];
    for (let n = 0; n < 2; n++) hires.push(await buyer.hire({ ...ORDER, idempotencyKey: "new" }));
    time += HOUR_MS;
    hires.push(await buyer.hire(ORDER));
    expect(new Set(hires.map(({ hireId }) => hireId)).size).to.equal(5);
    expect(await purse.paid()).to.equal(5n * PRICE);
  });

  it("is the same hire even if the wallet signs the same text differently each time", async () => {
    const whimsical = (): LocalAccount => ({
      ...purse.account,
      signMessage: async (asked) =>
        String(asked.message).startsWith("Tallystick hire, idempotency key")
          ? toHex(crypto.getRandomValues(new Uint8Array(65)))
          : await purse.account.signMessage(asked),
    });
    const writes = { count: 0, most: Number.POSITIVE_INFINITY };
    const mortal = (store: KeyValueStore): KeyValueStore => {
      const write =
        <Args extends unknown[], T>(work: (...args: Args) => Promise<T>) =>
        async (...args: Args): Promise<T> => {
          if (writes.count++ >= writes.most) throw new Error("the process has ended");
          return await work(...args);
        };
      return { ...store, put: write(store.put), putNew: write(store.putNew), delete: write(store.delete) };
    };
    await processWith(mortal(memoryStore()), whimsical()).hire(ORDER);
    const all = writes.count;
    for (let most = 0; most < all; most++) {
      purse = await newPurse(chain);
      Object.assign(writes, { count: 0, most });
      const store = memoryStore();
      const ended = processWith(mortal(store), whimsical());
      await ended.hire(ORDER).catch(() => {});
      await ended.idle();
      // After this time no other process can still work on the hire.
      time += 120_000;
      const outcome = await processWith(store, whimsical())
        .hire(ORDER)
        .catch((error) => error);
      time -= 120_000;
      if (outcome instanceof Error) expect(outcome, String(most)).to.have.property("hireId");
      else expect(outcome.result, String(most)).to.deep.equal({ result: 3 });
      expect((await purse.paid()) <= PRICE, `ended after ${most} writes`).to.equal(true);
    }
  });

  it("asks the next seller if a seller refuses the nonce but names the job of another hire", async () => {
    const second = await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
    const other = { code: "duplicate_nonce", job_id: "job_of_somebody_else" };
    between(market, { host: "seller0.test" }, () => Response.json(other, { status: 409 }));
    expect((await processWith().hire(ORDER)).listing.agent_id).to.equal(second.address);
    expect(await purse.paid()).to.equal(PRICE);
  });

  it("gets an error for an invalid key that begins like `new`", async () => {
    const error = await rejection(processWith().hire({ ...ORDER, idempotencyKey: "new hire" }));
    expect(error).to.include({ field: "idempotencyKey" });
  });
});
