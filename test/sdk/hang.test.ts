import { expect } from "chai";
import { parseUsdc } from "tallystick-protocol/amount";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { signRecord } from "tallystick-protocol/records/record";
import { memoryBudget } from "tallystick-sdk/budget/budget";
import type { CreateBuyerParameters } from "tallystick-sdk/createBuyer";
import { DeadlineError } from "tallystick-sdk/deadline";
import { HireFailedError } from "tallystick-sdk/errors";
import { createEscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { walletRelay } from "tallystick-sdk/escrow/escrowRelay";
import type { Fetch } from "tallystick-sdk/requestService";
import { escrowMode } from "tallystick-sdk/seller/escrowMode";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import {
  type Asked,
  HANGS,
  type Hang,
  type HangingServer,
  openHangingServer,
} from "./support/hangingServer.ts";
import { type Market, MEAN, mean, openMarket, PURSE } from "./support/market.ts";
import { newWallet, PROVIDER, type SdkChain, startSdkChain } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";

const MODE = `platform_escrow:${PROVIDER}`;
const PRICE = parseUsdc("0.05");
const LISTING = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 300 };
/** The limit is far shorter than any hang of these tests, and long enough for everything else on a busy machine. */
const ORDER = { capability: MEAN, params: { data: [1, 2, 6] }, maxPriceUsdc: "0.10", maxLatencyMs: 900 };
/** The time in which even a busy machine computes the mean of three numbers. */
const UNHURRIED = { max_latency_ms: 20_000 };
const PATIENT = { ...ORDER, maxLatencyMs: 60_000, deadlineMs: 60_000 };
/** The time for the seller is over before that for the whole call. With this key it is asked for no earlier hire. */
const PAID = { ...PATIENT, deadlineMs: 120_000, idempotencyKey: "new" };

describe("a hire in which one party hangs", () => {
  let chain: SdkChain;
  let market: Market;
  let server: HangingServer;
  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
  });
  after(() => chain.close());
  beforeEach(async () => {
    market = await openMarket(chain);
    server = await openHangingServer();
  });
  afterEach(async () => {
    await server.close();
    await market.close();
  });

  /** The market's apps by their names, and real sockets for all other addresses. */
  const fetch: Fetch = (input, init) =>
    new URL(input).hostname === "127.0.0.1" ? globalThis.fetch(input, init) : market.fetch(input, init);
  const scene = async (
    changes: Partial<CreateBuyerParameters> = {},
    { now, ...listing }: { now?: () => number; first_call_free?: boolean; max_latency_ms?: number } = {},
  ) => {
    const seller = await market.openSeller({
      endpoint: server.url,
      listings: [{ ...LISTING, ...listing }],
      handlers: { [MEAN]: mean },
      ...(now && { now }),
    });
    server.app = seller.app;
    const budget = memoryBudget(1_000_000n);
    const buyer = await market.openBuyer({ budget, fetch, ...changes });
    return { seller, buyer, budget };
  };
  const hangAt =
    (where: Asked, how: Hang, isHeard = true) =>
    (asked: Asked) =>
      asked === where || (where === "payment" && asked === "job") ? { how, isHeard } : undefined;

  /** The error of a hire whose time ends when something hangs, and not before. */
  const lateWhen = async (hire: () => Promise<unknown>, hangs: () => Promise<unknown>) => {
    const { setTimeout } = globalThis;
    const { now } = performance;
    const limits: (() => void)[] = [];
    const noting = (run: () => void, ms = 0, ...rest: never[]) => {
      if (ms > 30_000 && ms <= PATIENT.deadlineMs) limits.push(run);
      return setTimeout(run, ms, ...rest);
    };
    globalThis.setTimeout = Object.assign(noting, setTimeout) as typeof setTimeout;
    try {
      const late = rejection(hire());
      await Promise.race([hangs(), late]);
      performance.now = () => now.call(performance) + PATIENT.deadlineMs;
      for (const end of limits) end();
      return await late;
    } finally {
      globalThis.setTimeout = setTimeout;
      performance.now = now;
    }
  };

  for (const how of HANGS) {
    it(`the seller hangs (${how}) before it is paid: nothing is signed, and the next seller is hired`, async () => {
      const { buyer, budget } = await scene();
      server.hang = hangAt("terms", how);
      const error = await rejection(buyer.hire(ORDER));
      expect(error).to.be.instanceOf(HireFailedError).and.include({ code: "seller_timeout", money: "none" });
      expect(await budget.remaining()).to.equal(1_000_000n);
      const second = await market.openSeller({
        listings: [{ ...LISTING, ...UNHURRIED }],
        handlers: { [MEAN]: mean },
      });
      const hired = await buyer.hire(PATIENT);
      expect(hired.listing.agent_id).to.equal(second.address);
    });

    it(`the seller hangs (${how}) after it got the payment: the error says so, and the result is not lost`, async () => {
      const { buyer, budget, seller } = await scene({}, UNHURRIED);
      server.hang = hangAt("payment", how);
      const error = await lateWhen(() => buyer.hire(PAID), server.hanging);
      expect(error).to.be.instanceOf(HireFailedError);
      expect(error).to.include({ code: "seller_timeout", money: "authorized" });
      expect(await budget.remaining()).to.equal(1_000_000n - PRICE);
      server.hang = () => undefined;
      const [resumed] = await buyer.resume();
      expect(resumed).to.have.nested.property("hire.money", "paid");
      expect(resumed).to.have.nested.property("hire.result").that.deep.equals({ result: 3 });
      expect(await chain.balanceOf(seller.wallet)).to.equal(PRICE);
      expect(await budget.remaining()).to.equal(1_000_000n - PRICE);
    });

    it(`the seller hangs (${how}) and the caller aborts: the call ends at once`, async () => {
      const { buyer } = await scene();
      for (const [where, isSent] of [
        ["terms", false],
        ["payment", true],
      ] as const) {
        server.hang = hangAt(where, how, false);
        const caller = new AbortController();
        // A call without this key would also ask the seller about an earlier hire.
        const order = { ...PATIENT, idempotencyKey: "new", signal: caller.signal };
        const hiring = rejection(buyer.hire(order));
        await server.hanging();
        caller.abort(new Error("enough"));
        const error = await hiring;
        if (isSent) {
          expect(error)
            .to.be.instanceOf(HireFailedError)
            .and.include({ code: "aborted", money: "authorized" });
          expect(error.cause).to.include({ message: "enough" });
        } else expect(error).to.include({ message: "enough" });
      }
    });

    it(`the seller hangs (${how}) when it gets the buyer's signature for a free receipt: the result is there`, async () => {
      const { buyer } = await scene({}, { first_call_free: true, ...UNHURRIED });
      server.hang = hangAt("countersignature", how, false);
      const hired = await buyer.hire(PATIENT);
      expect(hired.result).to.deep.equal({ result: 3 });
      expect(hired).to.include({ money: "none", receiptHash: null });
      expect(await buyer.waitingReports()).to.equal(1);
      await server.hanging();
    });
  }

  it("the seller hangs and does not send the payment to the chain: the money is authorized, not paid", async () => {
    const { buyer, seller } = await scene();
    server.hang = hangAt("payment", "before headers", false);
    const error = await lateWhen(() => buyer.hire(PAID), server.hanging);
    expect(error).to.include({ code: "seller_timeout", money: "authorized" });
    expect(await chain.balanceOf(seller.wallet)).to.equal(0n);
  });

  const never = () => new Promise<never>(() => {});

  it("the ledger hangs: the result is there, and the ledger gets the report later", async () => {
    const { buyer } = await scene({}, UNHURRIED);
    const node = market.hosts["node.test"]!;
    const asked = Promise.withResolvers<void>();
    market.hosts["node.test"] = {
      request: (input, init) => {
        if (!input.endsWith("/telemetry")) return node.request(input, init);
        asked.resolve();
        return never();
      },
    };
    const hired = await buyer.hire(PATIENT);
    expect(hired).to.include({ money: "paid" });
    await asked.promise;
    expect(await buyer.waitingReports()).to.equal(1);
  });

  it("the ledger takes no reports and no receipts: the next process sends the report", async () => {
    const journal = memoryStore();
    const { buyer } = await scene({ journal }, UNHURRIED);
    const node = market.hosts["node.test"]!;
    market.hosts["node.test"] = { request: () => new Response("gone", { status: 502 }) };
    const { wallet } = buyer;
    const hired = await buyer.hire(PATIENT);
    expect(hired).to.include({ money: "paid", receiptHash: null });
    await buyer.idle();
    expect(await buyer.waitingReports()).to.equal(1);
    market.hosts["node.test"] = node;
    const next = await market.openBuyer({ account: wallet.account, journal, fetch });
    const until = Date.now() + 120_000;
    while ((await next.waitingReports()) > 0 && Date.now() < until) {
      // First the seller's own outbox sends the receipt to the ledger.
      await (await market.openBuyer({ account: wallet.account, journal, fetch })).resume();
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    const entries = (await market.ledger.get("/v1/ledger/entries?from=0&to=3")).text.trim().split("\n");
    const told = entries.map((line) => JSON.parse(line)).find(({ payload }) => payload.type === "telemetry");
    expect(told.payload.body.verification.all_passed).to.equal(true);
  });

  it("the search hangs: the call ends at its deadline, or at the caller's signal", async () => {
    const { buyer } = await scene({ search: { search: never } });
    expect(await rejection(buyer.hire({ ...ORDER, deadlineMs: 100 }))).to.be.instanceOf(DeadlineError);
    const error = await rejection(buyer.hire({ ...ORDER, signal: AbortSignal.timeout(50) }));
    expect(error.name).to.equal("TimeoutError");
  });

  it("the wallet hangs: nothing is sent, even if the wallet signs in the end", async () => {
    const wallet = newWallet();
    await chain.mint(wallet, PURSE);
    const signing = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    const signTypedData: typeof wallet.account.signTypedData = async (data) => {
      signing.resolve();
      await go.promise;
      return await wallet.account.signTypedData(data);
    };
    const { buyer, budget, seller } = await scene({ account: { ...wallet.account, signTypedData } });
    const caller = new AbortController();
    const hiring = rejection(buyer.hire({ ...PATIENT, signal: caller.signal }));
    await signing.promise;
    caller.abort();
    expect((await hiring).name).to.equal("AbortError");
    go.resolve();
    await buyer.idle();
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await budget.remaining()).to.equal(1_000_000n);
    expect(await chain.balanceOf(seller.wallet)).to.equal(0n);
    expect(await buyer.resume()).to.deep.equal([]);
  });

  it("the disk is slow when the caller stops: idle waits until the signature, which is not sent, is undone", async () => {
    const caller = new AbortController();
    const store = memoryStore();
    const journal = {
      ...store,
      put: async (key: string, value: unknown) => {
        if (Object.hasOwn(Object(value), "signed")) caller.abort();
        if (caller.signal.aborted) for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
        await store.put(key, value);
      },
    };
    const { buyer, budget, seller } = await scene({ journal });
    const error = await rejection(buyer.hire({ ...PATIENT, idempotencyKey: "k", signal: caller.signal }));
    expect(error.name).to.equal("AbortError");
    await buyer.idle();
    expect(await store.keys("hire")).to.deep.equal([]);
    expect(await budget.remaining()).to.equal(1_000_000n);
    expect((await buyer.find("k"))?.kept.state).to.equal("open");
    expect(await chain.balanceOf(seller.wallet)).to.equal(0n);
  });

  it("the caller's own check hangs: the hire is in the journal, and resume asks for the check again", async () => {
    const { buyer, seller } = await scene({}, UNHURRIED);
    const checking = Promise.withResolvers<void>();
    const verify = () => {
      checking.resolve();
      return never();
    };
    const error = await lateWhen(
      () => buyer.hire({ ...PATIENT, verify }),
      () => checking.promise,
    );
    expect(error)
      .to.be.instanceOf(HireFailedError)
      .and.include({ code: "deadline_passed", money: "authorized" });
    const verification = { all_passed: true, checks: { mine: true }, details: {} };
    const [resumed] = await buyer.resume(() => verification);
    expect(resumed).to.have.nested.property("hire.verification").that.deep.equals(verification);
    expect(await chain.balanceOf(seller.wallet)).to.equal(PRICE);
  });

  it("the chain hangs: the result is there, and the money is only authorized", async () => {
    const { buyer, budget } = await scene({}, UNHURRIED);
    const deaf = { ...chain.client, getBlockNumber: never };
    const other = await market.openBuyer({ budget, fetch, client: deaf as never });
    const hired = await other.hire(PATIENT);
    expect(hired.result).to.deep.equal({ result: 3 });
    expect(hired.money).to.equal("authorized");
    expect(await buyer.hire(PATIENT)).to.include({ money: "paid" });
  });

  it("the relay of an escrow hangs: the result is there, the money is held, and resume releases it", async () => {
    const wallet = newWallet();
    const deployment = { chainId: chain.network.chainId, escrow: chain.escrow };
    const relay = walletRelay(createEscrowCalls({ sender: chain.sender, deployment }));
    const modes = {
      [MODE]: escrowMode({ account: wallet.account, network: chain.network, escrow: chain.escrow, relay }),
    };
    await market.openSeller({
      account: wallet.account,
      listings: [{ ...LISTING, payment_mode: MODE, ...UNHURRIED }],
      handlers: { [MEAN]: mean },
      modes,
    });
    let isDeaf = true;
    const shaky = {
      ...relay,
      release: (...it: Parameters<typeof relay.release>) => (isDeaf ? never() : relay.release(...it)),
    };
    const escrows = { [MODE]: { escrow: chain.escrow, relay: shaky } };
    const buyer = await market.openBuyer({ escrows, fetch });
    const hired = await buyer.hire({ ...PATIENT, mode: MODE });
    expect(hired.result).to.deep.equal({ result: 3 });
    expect(hired.money).to.equal("held");
    isDeaf = false;
    const [resumed] = await buyer.resume();
    expect(resumed).to.have.nested.property("hire.money", "released");
    expect(await chain.balanceOf(wallet)).to.equal(PRICE);
  });

  it("many sellers do not answer: they use up no attempt, and are tried last for an hour", async () => {
    let now = Date.now();
    const { buyer, seller } = await scene({ now: () => now }, { now: () => now });
    const [own] = market.offers.splice(0);
    const wallets = Array.from({ length: 5 }, newWallet);
    const dead = wallets.map(({ address }) => address);
    for (const { account, address: agent_id } of wallets) {
      const body = { ...own!.listing, agent_id, endpoint: `http://${agent_id}.test/v1` } as RecordBody;
      const signed = await signRecord({ type: "listing", body, account });
      market.offers.push({ ...own!, agent_id, listing: body, signed });
    }
    market.offers.push(own!);
    const asked: string[] = [];
    for (const agent_id of dead) {
      market.hosts[`${agent_id}.test`] = {
        request: (_, init) => {
          if (init?.method === "POST") asked.push(agent_id);
          throw new TypeError("connect ECONNREFUSED");
        },
      };
    }
    const hired = await buyer.hire({ ...PATIENT, maxAttempts: 1 });
    expect(hired.listing.agent_id).to.equal(seller.address);
    expect(asked).to.deep.equal(dead);
    await buyer.idle();
    await buyer.hire(PATIENT);
    expect(asked).to.have.length(5);
    now += 3_600_001;
    await buyer.hire(PATIENT);
    expect(asked).to.have.length(10);
  });
});
