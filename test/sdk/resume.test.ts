import { expect } from "chai";
import { parseUsdc } from "tallystick-protocol/amount";
import { memoryBudget } from "tallystick-sdk/budget/budget";
import { storeBudget } from "tallystick-sdk/budget/storeBudget";
import { createEscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { type EscrowRelay, walletRelay } from "tallystick-sdk/escrow/escrowRelay";
import { escrowMode } from "tallystick-sdk/seller/escrowMode";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { type Market, openMarket } from "./support/market.ts";
import { newWallet, PROVIDER, type SdkChain, startSdkChain } from "./support/sdkChain.ts";
import { between, isPaid, rejection } from "./support/tamper.ts";

const MODE = `platform_escrow:${PROVIDER}`;
const CUSTOM = "custom.acme.echo";
const PRICE = parseUsdc("0.50");
const LIMIT = parseUsdc("5.00");
const ORDER = { capability: CUSTOM, params: { text: "hello" }, maxPriceUsdc: "1.00", maxLatencyMs: 60_000 };
const STRING = { type: "object", properties: { text: { type: "string" } }, required: ["text"] } as const;
const PASSED = { all_passed: true, checks: { mine: true }, details: {} };
const FAILED = { all_passed: false, checks: { mine: false }, details: {} };

describe("a hire that is resumed", () => {
  let chain: SdkChain;
  let market: Market;
  let relay: EscrowRelay;
  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
    const deployment = { chainId: chain.network.chainId, escrow: chain.escrow };
    relay = walletRelay(createEscrowCalls({ sender: chain.sender, deployment }));
  });
  after(() => chain.close());
  beforeEach(async () => {
    market = await openMarket(chain);
  });
  afterEach(() => market.close());

  /** A buyer whose process ended after its payment had reached the seller. `next` is the buyer's next process. */
  const crashed = async (
    mode: string,
    result: unknown,
    changes: { verify?: () => typeof PASSED; schema?: () => object } = {},
  ) => {
    const wallet = newWallet();
    const seller = await market.openSeller({
      account: wallet.account,
      listings: [{ capability: CUSTOM, price_usdc: "0.50", max_latency_ms: 30_000, payment_mode: mode }],
      handlers: { [CUSTOM]: () => result },
      schemas: { [CUSTOM]: { input: STRING, output: STRING } },
      modes: {
        [MODE]: escrowMode({ account: wallet.account, network: chain.network, escrow: chain.escrow, relay }),
      },
    });
    const journal = memoryStore();
    const parameters = { journal, escrows: { [MODE]: { escrow: chain.escrow, relay } } };
    const budgetOf = () => storeBudget({ store: journal, name: "mine", limit: LIMIT });
    const first = await market.openBuyer({ ...parameters, budget: budgetOf() });
    const caller = new AbortController();
    between(market, seller, async (ask, input, init) => {
      const response = await ask(input, init && { ...init, signal: null });
      if (isPaid(init)) caller.abort();
      return response;
    });
    const { verify } = changes;
    const error = await rejection(
      first.hire({ ...ORDER, mode, signal: caller.signal, ...(verify && { verify }) }),
    );
    expect(error).to.include({ code: "aborted" });
    market.hosts[seller.host] = seller.direct;
    if (changes.schema) {
      const published = changes.schema();
      market.hosts[seller.host] = {
        request: (input, init) =>
          input.endsWith("/schema") ? Response.json(published) : seller.direct!.request(input, init),
      };
    }
    const budget = budgetOf();
    const next = await market.openBuyer({ ...parameters, budget, account: first.wallet.account });
    return { next, budget, journal, wallet, parameters, account: first.wallet.account };
  };

  it("is checked with the seller's schemas from the time of payment: a bad result is refunded", async () => {
    // By now the seller's schemas accept everything.
    const { next, budget, wallet } = await crashed(
      MODE,
      { text: 7 },
      { schema: () => ({ input: {}, output: {} }) },
    );
    const [resumed] = await next.resume();
    expect(resumed).to.have.nested.property("hire.verification.all_passed", false);
    expect(resumed).to.have.nested.property("hire.money", "refunded");
    expect(await chain.balanceOf(wallet)).to.equal(0n);
    expect(await budget.remaining()).to.equal(LIMIT);
  });

  it("is released and booked as spent if the result fits the schemas", async () => {
    const { next, budget, wallet, journal } = await crashed(MODE, { text: "hello" });
    expect(await budget.remaining()).to.equal(LIMIT - PRICE);
    const [resumed] = await next.resume();
    expect(resumed).to.have.nested.property("hire.money", "released");
    expect(await chain.balanceOf(wallet)).to.equal(PRICE);
    expect(await journal.keys("hire")).to.deep.equal([]);
    // The amount is booked as spent. So giveBack finds no reservation.
    await budget.giveBack(resumed!.hireId);
    expect(await budget.remaining()).to.equal(LIMIT - PRICE);
  });

  it("waits for the caller's own check, and only this check decides", async () => {
    const { next, wallet, journal } = await crashed(MODE, { text: "hello" }, { verify: () => PASSED });
    const [waiting] = await next.resume();
    expect(waiting).to.have.nested.property("error.code", "verify_needed");
    expect(waiting).to.include({ isOver: false });
    expect(await journal.keys("hire")).to.have.length(1);
    expect(await chain.balanceOf(wallet)).to.equal(0n);
    const asked: unknown[] = [];
    const [resumed] = await next.resume((...of) => {
      asked.push(of);
      return FAILED;
    });
    expect(asked).to.deep.equal([
      [ORDER.params, { text: "hello" }, { capability: CUSTOM, hireId: resumed!.hireId }],
    ]);
    expect(resumed).to.have.nested.property("hire.money", "refunded");
    expect(await chain.balanceOf(wallet)).to.equal(0n);
  });

  it("does not use a caller's check if the hire was made without a check", async () => {
    const { next, wallet } = await crashed(MODE, { text: "hello" });
    const [resumed] = await next.resume(() => FAILED);
    expect(resumed)
      .to.have.nested.property("hire.verification.checks")
      .that.deep.equals({ matches_schema: true });
    expect(await chain.balanceOf(wallet)).to.equal(PRICE);
  });

  it("is booked as spent once in a budget that starts empty with each process", async () => {
    const { parameters, account, wallet } = await crashed("direct", { text: "hello" });
    const budget = memoryBudget(LIMIT);
    const next = await market.openBuyer({ ...parameters, account, budget });
    const [resumed] = await next.resume();
    expect(resumed).to.have.nested.property("hire.money", "paid");
    expect(await budget.remaining()).to.equal(LIMIT - PRICE);
    expect(await next.resume()).to.deep.equal([]);
    expect(await budget.remaining()).to.equal(LIMIT - PRICE);
    expect(await chain.balanceOf(wallet)).to.equal(PRICE);
  });

  it("reports no latency to the ledger, because nobody measured one", async () => {
    const { next } = await crashed("direct", { text: "hello" });
    await next.resume();
    await next.idle();
    const entries = (await market.ledger.get("/v1/ledger/entries?from=0&to=3")).text.trim().split("\n");
    const { payload } = JSON.parse(entries[2] ?? "");
    expect(payload.type).to.equal("telemetry");
    expect(payload.body).not.to.have.property("latency_ms");
    expect(payload.body.verification.all_passed).to.equal(true);
  });
});
