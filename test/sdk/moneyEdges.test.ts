import { decodePaymentSignatureHeader } from "@x402/core/http";
import { expect } from "chai";
import { parseUsdc } from "tallystick-protocol/amount";
import { signBudgetToken } from "tallystick-protocol/hire/budgetToken";
import { signBody } from "tallystick-protocol/records/record";
import { memoryBudget } from "tallystick-sdk/budget/budget";
import type { JournalEntry } from "tallystick-sdk/buyer/journal";
import { createSeller } from "tallystick-sdk/createSeller";
import { createEscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { walletRelay } from "tallystick-sdk/escrow/escrowRelay";
import { escrowMode } from "tallystick-sdk/seller/escrowMode";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { MEAN, mean } from "./support/market.ts";
import { newWallet, PROVIDER } from "./support/sdkChain.ts";
import { between, isPaid, killable, rejection, withTerms } from "./support/tamper.ts";
import { newPurse, useMarket } from "./support/useMarket.ts";

const ORDER = { capability: MEAN, params: { data: [1, 2, 6] }, maxPriceUsdc: "0.10", maxLatencyMs: 60_000 };
const LISTING = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 };
const OFFER = { listings: [LISTING], handlers: { [MEAN]: mean } };
const PRICE = parseUsdc("0.05");
const LIMIT = 1_000_000n;
const MODE = `platform_escrow:${PROVIDER}`;

describe("boundary cases of a hire's money", () => {
  const { chain, market } = useMarket();

  describe("a direct payment's signature", () => {
    it("is valid for as long as the work may take, whatever time the seller asks for", async () => {
      const seller = await market.openSeller(OFFER);
      const at = Date.now();
      const buyer = await market.openBuyer({ chainNow: () => at });
      let asked: unknown;
      const signed: number[] = [];
      between(market, seller, async (ask, input, init) => {
        const header = new Headers(init?.headers).get("PAYMENT-SIGNATURE");
        if (header === null) {
          return await withTerms(await ask(input, init), (option) => ({
            ...option,
            maxTimeoutSeconds: asked as number,
          }));
        }
        const { payload } = decodePaymentSignatureHeader(header);
        const { validBefore } = payload.authorization as { validBefore: string };
        signed.push(Number(validBefore) - Math.floor(at / 1000));
        return Response.json({ code: "enough" }, { status: 500 });
      });
      // At least the listing's 30 s and 30 s for the chain, and at most 300 s more.
      for (asked of [315_360_000, 360, 361, 70, 1, -1, "1e9", null, 1.5]) {
        await rejection(buyer.hire({ ...ORDER, idempotencyKey: "new" }));
      }
      expect(signed).to.deep.equal([360, 360, 360, 70, 60, 60, 60, 60, 60]);
    });

    it("counts as spent if it has expired and the buyer cannot read the chain", async () => {
      const seller = await market.openSeller(OFFER);
      const [journal, budget] = [memoryStore(), memoryBudget(LIMIT)];
      const { account } = await newPurse(chain);
      const at = (ahead: number) => ({ account, journal, budget, now: () => Date.now() + ahead * 1000 });
      const buyerAt = (ahead: number) => market.openBuyer({ ...at(ahead), client: undefined as never });
      between(market, seller, (ask, input, init) =>
        isPaid(init) ? Response.json({ code: "lost" }, { status: 500 }) : ask(input, init),
      );
      expect(await rejection((await buyerAt(0)).hire(ORDER))).to.include({ money: "authorized" });
      // The signature is valid for 90 s, and the chain's clock may be a minute behind.
      expect((await (await buyerAt(100)).resume())[0]).to.include({ isOver: false, money: "authorized" });
      expect((await (await buyerAt(200)).resume())[0]).to.include({ isOver: true, money: "authorized" });
      expect(await budget.remaining()).to.equal(LIMIT - PRICE);
      // The seller is asked for the result for a day more.
      expect(await journal.keys("hire")).to.have.length(1);
      expect((await (await buyerAt(200 + 2 * 86_400)).resume())[0]).to.include({
        isOver: true,
        money: "authorized",
      });
      expect(await budget.remaining()).to.equal(LIMIT - PRICE);
      expect(await journal.keys("hire")).to.deep.equal([]);
    });
  });

  it("include a budget that fails: the hire stays in the journal until its money is booked", async () => {
    await market.openSeller(OFFER);
    const journal = memoryStore();
    const { account } = await newPurse(chain);
    const books = memoryBudget(LIMIT);
    const broken = { ...books, spend: async () => Promise.reject(new Error("the process has ended")) };
    const ended = await market.openBuyer({ account, journal, budget: broken });
    const begun = Date.now();
    expect((await ended.hire({ ...ORDER, deadlineMs: 30_000 })).result).to.deep.equal({ result: 3 });
    const [key = "", ...others] = await journal.keys("hire");
    expect(others).to.deep.equal([]);
    // Until this time this process may still sign. Before it, a later process does not give an unsigned reservation
    // back to the budget.
    const { signsUntil = 0 } = (await journal.get<JournalEntry>(key)) ?? {};
    expect(signsUntil).to.be.within(begun + 30_000 - 10, Date.now() + 30_000);

    const budget = memoryBudget(LIMIT);
    const next = await market.openBuyer({ account, journal, budget });
    expect((await next.resume())[0]).to.have.nested.property("hire.money", "paid");
    expect(await budget.remaining()).to.equal(LIMIT - PRICE);
    expect(await journal.keys("hire")).to.deep.equal([]);
  });

  it("include a seller that ends while it stores a receipt: the ledger still gets the receipt", async () => {
    const store = memoryStore();
    const mortal = killable(store);
    const died = Promise.withResolvers<void>();
    const seller = await market.openSeller({
      ...OFFER,
      leaseMs: 200,
      store: {
        ...mortal.store,
        put: async (key, value) => {
          if (key.startsWith("outbox/")) {
            mortal.kill();
            died.resolve();
          }
          await mortal.store.put(key, value);
        },
      },
    });
    const caller = new AbortController();
    const buyer = await market.openBuyer();
    const hiring = rejection(buyer.hire({ ...ORDER, signal: caller.signal }));
    await died.promise;
    caller.abort();
    await hiring;
    const size = market.ledger.ledger.size;
    const back = await createSeller({ ...seller.parameters, store, leaseMs: 50 });
    market.hosts[seller.host] = {
      request: (input, init) => back.app.request(input.replace("/v1", ""), init),
    };
    await back.resume();
    while (market.ledger.ledger.size === size) await new Promise((resolve) => setTimeout(resolve, 20));
    const [entry] = (await market.ledger.get(`/v1/ledger/entries?from=${size}&to=${size + 1}`)).text.split(
      "\n",
    );
    expect(JSON.parse(entry ?? "").payload).to.include({ type: "receipt" });
    expect(await chain.balanceOf(seller.wallet)).to.equal(PRICE);
    await back.close();
  });

  describe("an escrow's deadline", () => {
    const scene = async (
      changes: { verificationWindowMs?: number; at?: number; feeRecipient?: `0x${string}` } = {},
    ) => {
      const { at = Date.now(), feeRecipient, ...own } = changes;
      const relay = walletRelay(
        createEscrowCalls({
          sender: chain.sender,
          deployment: { chainId: chain.network.chainId, escrow: chain.escrow },
        }),
      );
      const [wallet, treasury] = [newWallet(), newWallet()];
      const { network, escrow } = chain;
      const mode = escrowMode({
        account: wallet.account,
        network,
        escrow,
        relay,
        feeRecipient: treasury.address,
        now: () => at,
      });
      const seller = await market.openSeller({
        account: wallet.account,
        listings: [{ ...LISTING, payment_mode: MODE }],
        handlers: OFFER.handlers,
        modes: { [MODE]: mode },
      });
      const allowed = { escrow, relay, feeRecipient: feeRecipient ?? treasury.address, ...own };
      const buyer = await market.openBuyer({ escrows: { [MODE]: allowed }, chainNow: () => at });
      return { seller, buyer };
    };
    const order = { ...ORDER, mode: MODE };

    it("is the time of signing, plus the latency, plus the verification window: 30 s, 5 min for an asynchronous hire, or the buyer's own", async () => {
      for (const [changes, how, ms] of [
        [{}, {}, 30_000 + 30_000],
        [{}, { callbackUrl: "http://buyer.test/" }, 30_000 + 300_000],
        [{ verificationWindowMs: 45_000 }, {}, 30_000 + 45_000],
      ] as const) {
        market.offers.splice(0);
        const at = Date.now();
        const { buyer } = await scene({ ...changes, at });
        const hired = await buyer.hire({ ...order, ...how });
        expect(hired.escrow?.deadline, JSON.stringify([changes, how])).to.equal(Math.ceil((at + ms) / 1000));
      }
    });

    it("is refused by a seller if it leaves too little time", async () => {
      const { buyer } = await scene({ verificationWindowMs: 5_000 });
      const error = await rejection(buyer.hire(order));
      expect(error).to.have.nested.property("words.code", "deadline_too_soon");
    });

    it("is checked together with the fee: the seller does not deposit a fee for somebody else", async () => {
      const other = newWallet();
      const { buyer, seller } = await scene({ feeRecipient: other.address });
      between(market, seller, async (ask, ...request) =>
        withTerms(await ask(...request), (option) => ({
          ...option,
          extra: { ...option.extra, fee_recipient: other.address },
        })),
      );
      const error = await rejection(buyer.hire(order));
      expect(error).to.include({ code: "seller_refused", money: "authorized" });
      expect(error).to.have.nested.property("words.code", "terms_differ");
      expect(error.words.text).to.contain("feeRecipient");
    });
  });

  describe("a free first call", () => {
    const free = { ...LISTING, first_call_free: true };

    it("is refused to a buyer that has paid before", async () => {
      const seller = await market.openSeller(OFFER);
      const buyer = await market.openBuyer();
      expect(await buyer.hire(ORDER)).to.include({ amount: PRICE });
      const { wallet, parameters, host } = seller;
      const again = await createSeller({ ...parameters, listings: [free] });
      market.hosts[host] = { request: (input, init) => again.app.request(input.replace("/v1", ""), init) };
      const [offer] = market.offers;
      Object.assign(offer?.listing ?? {}, again.listings[0]?.body);
      expect(await buyer.hire({ ...ORDER, idempotencyKey: "new" })).to.include({ amount: PRICE });
      expect(await chain.balanceOf(wallet)).to.equal(2n * PRICE);
      // A buyer that has not paid yet still gets its free call.
      expect(await (await market.openBuyer()).hire(ORDER)).to.include({ amount: 0n });
      await again.close();
    });

    it("is refused to a buyer whose history cannot be read", async () => {
      await market.openSeller({
        listings: [free],
        handlers: OFFER.handlers,
        hasHired: async () => Promise.reject(new Error("the indexer is away")),
      });
      expect(await (await market.openBuyer()).hire(ORDER)).to.include({ amount: PRICE });
    });
  });

  it("include a receipt that the seller signed for another hire, amount, work or buyer: the buyer refuses it", async () => {
    const seller = await market.openSeller(OFFER);
    const buyer = await market.openBuyer();
    const lies = {
      amount_usdc_atomic: String(PRICE + 1n),
      buyer: newWallet().address,
      capability: "compute.statistics.median",
      hire_id: `0x${"12".repeat(32)}`,
    };
    const impostor = newWallet();
    for (const [field, lie] of Object.entries({ ...lies, agent_id: impostor.address })) {
      market.hosts[seller.host] = {
        request: async (input, init) => {
          const response = await seller.direct.request(input, init);
          if (!isPaid(init)) return response;
          const answer = await response.json();
          const { signed_receipt } = answer;
          const body = { ...signed_receipt.body, [field]: lie };
          const by = field === "agent_id" ? impostor : seller.wallet;
          const signature = await signBody(body, by);
          return Response.json(
            { ...answer, signed_receipt: { ...signed_receipt, body, signature, signer: by.address } },
            { headers: response.headers },
          );
        },
      };
      const hired = await buyer.hire({ ...ORDER, idempotencyKey: "new" });
      expect(hired.receiptIssues.join(), field).to.contain(`${field} is ${lie}, not `);
      expect(hired, field).to.include({ receiptHash: null, ratingToken: null });
    }
  });

  it("include a price above the whole budget token: the seller refuses it too", async () => {
    const seller = await market.openSeller(OFFER);
    const [purse, operator] = [await newPurse(chain), newWallet()];
    const tokenOf = async (max_amount_usdc: string) => {
      const issued_at = Math.floor(Date.now() / 1000) - 60;
      const terms = { agent_id: purse.address, max_amount_usdc, max_duration_seconds: 3_600, issued_at };
      return await signBudgetToken(terms, operator);
    };
    // This buyer's wallet shows the token, but its budget does not limit it.
    const buyerWith = async (most: string) =>
      await market.openBuyer({
        account: purse.account,
        budget: { ...memoryBudget(LIMIT), token: await tokenOf(most) },
      });
    const error = await rejection((await buyerWith("0.049999")).hire(ORDER));
    expect(error).to.include({ code: "seller_refused", money: "none" });
    expect(error).to.have.nested.property("words.code", "budget_token_refused");
    expect(await chain.balanceOf(seller.wallet)).to.equal(0n);
    expect(await (await buyerWith("0.05")).hire(ORDER)).to.include({ amount: PRICE });
  });
});
