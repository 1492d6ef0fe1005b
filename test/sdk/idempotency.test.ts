import { expect } from "chai";
import { parseUsdc } from "tallystick-protocol/amount";
import { jobId } from "tallystick-protocol/hire/hireIds";
import { memoryBudget } from "tallystick-sdk/budget/budget";
import { createBuyer } from "tallystick-sdk/createBuyer";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { lengthenWaits } from "./support/lengthenWaits.ts";
import { type Market, MEAN, mean, NODE, openMarket, PURSE } from "./support/market.ts";
import { newWallet, type SdkChain, startSdkChain, type Wallet } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";

const PRICE = parseUsdc("0.05");
const ORDER = { capability: MEAN, params: { data: [1, 2, 6] }, maxPriceUsdc: "0.10", maxLatencyMs: 60_000 };
const KEY = { ...ORDER, idempotencyKey: "order-17" };
const DAY_MS = 86_400_000;

describe("a hire with an idempotency key", function () {
  this.timeout(180_000);
  let chain: SdkChain;
  let market: Market;
  let wallet: Wallet;
  let ahead: number;
  before(async () => {
    chain = await startSdkChain();
  });
  after(() => chain.close());
  beforeEach(async () => {
    market = await openMarket(chain);
    await market.openSeller({
      listings: [{ capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 }],
      handlers: { [MEAN]: mean },
    });
    wallet = newWallet();
    await chain.mint(wallet, PURSE);
    ahead = 0;
  });
  /** Restores the waits that a test lengthened. */
  let restore = () => {};
  afterEach(async () => {
    restore();
    await market.close();
  });
  /** Lets a buyer look for earlier hires as long as a busy machine needs. Its own limit is a second. */
  const lookLong = () => {
    restore = lengthenWaits(1_000);
  };

  /** A process of the wallet's owner, with a store that may be shared or lost. */
  const processWith = (journal: KeyValueStore = memoryStore(), client: unknown = chain.client) =>
    createBuyer({
      account: wallet.account,
      baseUrl: NODE,
      network: chain.network,
      client: (client ?? undefined) as never,
      search: market.search,
      budget: memoryBudget(1_000_000n),
      devMode: true,
      fetch: market.fetch,
      journal,
      now: () => Date.now() + ahead,
      chainNow: Date.now,
    });
  const paid = async () => PURSE - (await chain.balanceOf(wallet));

  it("is one hire for any number of calls, at the same time or later", async () => {
    const buyer = processWith();
    const [one, two, three] = await Promise.all([buyer.hire(KEY), buyer.hire(KEY), buyer.hire(KEY)]);
    const later = await buyer.hire(KEY);
    for (const hire of [two, three, later]) {
      expect(hire).to.deep.include({ hireId: one.hireId, result: { result: 3 }, amount: PRICE });
    }
    expect(await paid()).to.equal(PRICE);
    const other = await buyer.hire({ ...KEY, idempotencyKey: "order-18" });
    expect(other.hireId).not.to.equal(one.hireId);
    expect(await paid()).to.equal(2n * PRICE);
  });

  it("gives its result to a later process on the same store, for thirty days", async () => {
    const store = memoryStore();
    const first = await processWith(store).hire(KEY);
    ahead = 30 * DAY_MS - 600_000;
    expect(await processWith(store).hire(KEY)).to.deep.include({ hireId: first.hireId, money: "paid" });
    expect(await paid()).to.equal(PRICE);
    ahead = 30 * DAY_MS + 60_000;
    expect(await processWith(store).find("order-17")).to.equal(undefined);
  });

  it("does not share its key with another hire, and refuses a malformed key", async () => {
    const buyer = processWith();
    await buyer.hire(KEY);
    for (const other of [
      { ...KEY, params: { data: [1, 2, 7] } },
      { ...KEY, maxPriceUsdc: "0.11" },
    ]) {
      const error = await buyer.hire(other).catch((it) => it);
      expect(error).to.have.property("code", "idempotency_key_reused");
    }
    for (const idempotencyKey of ["", "two words", "x".repeat(201), "é"]) {
      const error = await buyer.hire({ ...ORDER, idempotencyKey }).catch((it) => it);
      expect(error).to.have.property("field", "idempotencyKey");
    }
    expect(await paid()).to.equal(PRICE);
  });

  it("may be tried again if it failed before the payment was signed", async () => {
    const buyer = processWith();
    const offers = market.offers.splice(0);
    expect(await buyer.hire(KEY).catch((error) => error.code)).to.equal("no_seller");
    expect((await buyer.find("order-17"))?.kept.state).to.equal("open");
    market.offers.push(...offers);
    expect((await buyer.hire(KEY)).money).to.equal("paid");
    expect(await paid()).to.equal(PRICE);
  });

  it("is never paid twice, even if all notes of the first process are lost", async () => {
    lookLong();
    const first = await processWith().hire(KEY);
    const later = processWith();
    // A caller that gets an error often calls again.
    for (const call of ["first", "second", "third"]) {
      const error = await later.hire(KEY).catch((it) => it);
      expect(error, call).to.include({ code: "hired_before", hireId: first.hireId });
    }
    expect((await later.find("order-17"))?.error).to.include({ code: "hired_before" });
    expect(await paid()).to.equal(PRICE);
  });

  /** Adds a second seller. The first seller is away while the first process hires. */
  const hiredOfSecond = async (first: ReturnType<typeof processWith>) => {
    const second = await market.openSeller({
      listings: [{ capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 }],
      handlers: { [MEAN]: mean },
    });
    const host = market.hosts["seller0.test"] as Market["hosts"][string];
    delete market.hosts["seller0.test"];
    const hired = await first.hire(KEY);
    expect(hired.listing.agent_id).to.equal(second.address);
    market.hosts["seller0.test"] = host;
    return { second, hired };
  };

  it("is never paid twice to two sellers, even if its notes are lost and the order of the sellers has changed", async () => {
    lookLong();
    const { second, hired } = await hiredOfSecond(processWith());
    const { hireId, jobId } = hired;
    const expected = { code: "hired_before", hireId, jobId, seller: second.address };
    // In the first case only the chain shows the earlier hire, in the second case only the seller.
    const knows = market.hosts[second.host] as Market["hosts"][string];
    const deaf = { request: () => new Response("gone", { status: 502 }) };
    for (const [client, host] of [
      [chain.client, deaf],
      [null, knows],
    ] as const) {
      market.hosts[second.host] = host;
      const error = await rejection(processWith(memoryStore(), client).hire(KEY));
      expect(error).to.include({ ...expected, money: client ? "paid" : "authorized" });
    }
    market.offers.reverse();
    expect(await rejection(processWith().hire(KEY))).to.include(expected);
    expect(await paid()).to.equal(PRICE);
  });

  it("is found again if only its second call succeeded", async () => {
    lookLong();
    const first = processWith();
    const host = market.hosts["seller0.test"] as Market["hosts"][string];
    market.hosts["seller0.test"] = { request: () => Response.json({ code: "closed" }, { status: 403 }) };
    expect(await rejection(first.hire(KEY))).to.include({ code: "seller_refused", money: "none" });
    market.hosts["seller0.test"] = host;
    const { hireId } = await first.hire(KEY);
    expect(await rejection(processWith().hire(KEY))).to.include({ code: "hired_before", hireId });
    expect(await paid()).to.equal(PRICE);
  });

  it("does not believe a seller that reports an earlier hire without proof, and does not wait for a silent seller", async () => {
    const second = await market.openSeller({
      listings: [{ capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 }],
      handlers: { [MEAN]: mean },
    });
    for (const answer of [
      (id: string) => Response.json({ job_id: id, hire_id: `0x${"00".repeat(32)}`, status: "completed" }),
      (id: string) => Response.json({ job_id: id, status: "working" }),
      () => new Promise<Response>(() => {}),
    ]) {
      market.hosts[second.host] = {
        request: (input, init) => {
          const [, id] = /[/]jobs[/](.+)/.exec(input) ?? [];
          return id ? answer(id) : second.direct.request(input, init);
        },
      };
      const idempotencyKey = `key-${answer}`.replaceAll(/[^a-z]/g, "");
      expect((await processWith().hire({ ...ORDER, idempotencyKey })).money).to.equal("paid");
    }
    expect(await paid()).to.equal(3n * PRICE);
  });

  it("goes to the next seller if a seller says that a new nonce was used, but only if no notes can be lost", async () => {
    const second = await market.openSeller({
      listings: [{ capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 }],
      handlers: { [MEAN]: mean },
    });
    market.hosts["seller0.test"] = {
      request: (_, init) => {
        const { buyer_id, nonce } = JSON.parse(String(init?.body ?? "{}"));
        if (nonce === undefined) return new Response("", { status: 404 });
        return Response.json({ code: "duplicate_nonce", job_id: jobId(buyer_id, nonce) }, { status: 409 });
      },
    };
    const store = memoryStore();
    expect(await rejection(processWith(store).hire(KEY))).to.include({ code: "hired_before" });
    expect(await paid()).to.equal(0n);
    await store.put("journal/began", 0);
    const hired = await processWith(store).hire({ ...ORDER, idempotencyKey: "order-18" });
    expect(hired).to.deep.include({ money: "paid", result: { result: 3 } });
    expect(hired.listing.agent_id).to.equal(second.address);
    expect(await paid()).to.equal(PRICE);
  });

  it("asks no seller about earlier hires if its notes are older than a key can be", async () => {
    const store = memoryStore();
    const asked: string[] = [];
    const host = market.hosts["seller0.test"] as Market["hosts"][string];
    market.hosts["seller0.test"] = {
      request: (input, init) => {
        if (input.includes("/jobs/")) asked.push(input);
        return host.request(input, init);
      },
    };
    await processWith(store).hire(KEY);
    expect(asked).to.have.length(2);
    ahead = 30 * DAY_MS + 1;
    await rejection(processWith(store).hire({ ...KEY, idempotencyKey: "order-18" }));
    expect(asked).to.have.length(2);
  });

  it("uses a key of 32 bytes in hex as the nonce itself, and makes a secret nonce from any other key", async () => {
    const nonces: string[] = [];
    const fetch = market.fetch;
    market.fetch = async (input, init) => {
      const body = JSON.parse(String(init?.body ?? "{}"));
      if (input.endsWith("/hire")) nonces.push(body.nonce);
      return await fetch(input, init);
    };
    const nonce = `0x${"7c".repeat(32)}`;
    await processWith().hire({ ...ORDER, idempotencyKey: nonce });
    await processWith().hire(KEY);
    expect(nonces[0]).to.equal(nonce);
    expect(nonces.at(-1)).to.match(/^0x[0-9a-f]{64}$/);
    expect(nonces.at(-1)).not.to.contain(Buffer.from("order-17").toString("hex"));
  });
});
