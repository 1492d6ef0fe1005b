import { expect } from "chai";
import { memoryBudget } from "tallystick-sdk/budget/budget";
import { storeBudget } from "tallystick-sdk/budget/storeBudget";
import { DeadlineError } from "tallystick-sdk/deadline";
import { BudgetError, HireFailedError, NoSellerError } from "tallystick-sdk/errors";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { directScene, LISTING, ORDER, PAID, PRICE, UNTOUCHED } from "./support/directScene.ts";
import { MEAN, mean, PURSE } from "./support/market.ts";
import { newWallet } from "./support/sdkChain.ts";
import { between, isPaid, rejection, withTerms } from "./support/tamper.ts";
import { useMarket } from "./support/useMarket.ts";

describe("a hire in direct mode whose buyer", () => {
  const world = useMarket();
  const { chain, market } = world;
  const scene = () => directScene(world);

  /** A scene that records its buyer's requests. A test can send them again, unchanged or changed. */
  const recorded = async () => {
    const it = await scene();
    const requests: { input: string; init: RequestInit }[] = [];
    const { asked } = between(market, it.seller, (ask, input, init) => {
      requests.push({ input, init: init! });
      return ask(input, init);
    });
    return { ...it, requests, asked };
  };

  it("pays twice with one request: the nonce is refused, and the answer names the job of the first payment", async () => {
    const { buyer, requests, balances } = await recorded();
    const hire = await buyer.hire(ORDER);
    const paid = requests.find(({ init }) => isPaid(init))!;
    const again = await market.fetch(paid.input, paid.init);
    expect(again.status).to.equal(409);
    expect(await again.json()).to.include({ code: "duplicate_nonce", job_id: hire.jobId });
    expect(await balances()).to.deep.equal(PAID);
  });

  /**
   * Sends the same payment for a hire of an older version. This hire is unsigned and has no nonce to recognise it by.
   */
  const unsigned = ({ input, init }: { input: string; init: RequestInit }) => {
    const { signature: _, nonce: __, issued_at: ___, ...body } = JSON.parse(String(init.body));
    return market.fetch(input, {
      ...init,
      body: JSON.stringify({ ...body, protocol: "swarmwage/v0.2", callback_url: null }),
    });
  };

  it("uses one payment again for a later hire: the token refuses the payment", async () => {
    const { buyer, requests, balances } = await recorded();
    await buyer.hire(ORDER);
    const again = await unsigned(requests.find(({ init }) => isPaid(init))!);
    expect(again.status).to.equal(402);
    expect((await again.json()).code).to.match(/^invalid_exact_evm_/);
    expect(await balances()).to.deep.equal(PAID);
  });

  it("uses one payment for two hires at once: the work is done for one of them", async () => {
    const started = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    let worked = 0;
    const seller = await market.openSeller({
      listings: [LISTING],
      handlers: {
        [MEAN]: async (params) => {
          worked++;
          started.resolve();
          await go.promise;
          return mean(params);
        },
      },
    });
    const buyer = await market.openBuyer();
    const requests: { input: string; init: RequestInit }[] = [];
    between(market, seller, (ask, input, init) => {
      requests.push({ input, init: init! });
      return ask(input, init);
    });
    const first = buyer.hire(ORDER);
    await started.promise;
    const again = await unsigned(requests.find(({ init }) => isPaid(init))!);
    go.resolve();
    expect(again.status).to.equal(402);
    expect(await again.json()).to.include({ code: "payment_replayed" });
    expect((await first).money).to.equal("paid");
    expect(worked).to.equal(1);
    expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE - PRICE);
    expect(await chain.balanceOf(seller.wallet)).to.equal(PRICE);
  });

  it("underpays: it gets no work and is not charged", async () => {
    const { buyer, balances, seller } = await scene();
    between(market, seller, async (ask, input, init) =>
      withTerms(await ask(input, init), (option) => ({ ...option, amount: String(PRICE - 1n) })),
    );
    const error = await rejection(buyer.hire(ORDER));
    expect(error).to.include({ code: "seller_refused", money: "authorized" });
    expect(error.words.code).to.equal("terms_differ");
    expect(await balances()).to.deep.equal(UNTOUCHED);
  });

  it("does not have the money: no work is done", async () => {
    let worked = 0;
    const seller = await market.openSeller({
      listings: [{ ...LISTING, price_usdc: "20.00" }],
      handlers: { [MEAN]: () => ({ result: worked++ }) },
    });
    const buyer = await market.openBuyer();
    const error = await rejection(buyer.hire({ ...ORDER, maxPriceUsdc: "20.00" }));
    expect(error.words.code).to.match(/^invalid_exact_evm_/);
    expect(error.money).to.equal("authorized");
    expect(worked).to.equal(0);
    expect(await chain.balanceOf(seller.wallet)).to.equal(0n);
  });

  it("spends its money while the seller works: it gets no result", async () => {
    const buyer = await market.openBuyer();
    const seller = await market.openSeller({
      listings: [LISTING],
      handlers: {
        [MEAN]: async (params) => {
          await chain.transfer(buyer.wallet, newWallet(), PURSE);
          return mean(params);
        },
      },
    });
    const error = await rejection(buyer.hire(ORDER));
    expect(error).to.be.instanceOf(HireFailedError).and.include({ money: "authorized" });
    expect(error.message).not.to.contain("result");
    expect(await chain.balanceOf(seller.wallet)).to.equal(0n);
  });

  it("has a budget: the buyer pays up to its limit, and refuses a hire beyond the limit", async () => {
    const { seller, balances } = await scene();
    const buyer = await market.openBuyer({ budget: memoryBudget(2n * PRICE + PRICE / 2n) });
    const order = { ...ORDER, idempotencyKey: "new" };
    await buyer.hire(order);
    await buyer.hire(order);
    const error = await rejection(buyer.hire(order));
    expect(error).to.be.instanceOf(BudgetError).and.include({ code: "budget_exceeded" });
    expect(error.details).to.deep.equal({ amount: String(PRICE), left: String(PRICE / 2n) });
    expect(await chain.balanceOf(seller.wallet)).to.equal(2n * PRICE);
    expect((await balances())[1]).to.equal(2n * PRICE);
  });

  it("sleeps while it signs, and another process gives the amount back to the budget: the payment is not sent", async () => {
    await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
    const wallet = newWallet();
    await chain.mint(wallet, PURSE);
    let ahead = 0;
    const now = () => Date.now() + ahead;
    const store = memoryStore();
    const budget = storeBudget({ store, name: "shared", limit: PRICE });
    const process = { journal: store, budget, now, chainNow: Date.now };
    const signTypedData: typeof wallet.account.signTypedData = async (data) => {
      ahead = 3_600_000;
      await (await market.openBuyer({ ...process, account: wallet.account })).resume();
      return await wallet.account.signTypedData(data);
    };
    const buyer = await market.openBuyer({ ...process, account: { ...wallet.account, signTypedData } });
    const error = await rejection(buyer.hire(ORDER));
    expect(error).to.be.instanceOf(DeadlineError);
    await buyer.idle();
    expect(await chain.balanceOf(wallet)).to.equal(PURSE);
    expect(await budget.remaining()).to.equal(PRICE);
    expect(await store.keys("hire")).to.deep.equal([]);
    // The same call again is a new attempt. It runs at the real time, which is also its seller's time.
    ahead = 0;
    expect(await (await market.openBuyer({ ...process, account: wallet.account })).hire(ORDER)).to.include({
      money: "paid",
    });
    expect(await budget.remaining()).to.equal(0n);
  });

  it("cannot sign, or cannot store its signature: the budget gets the amount back, and no payment is sent", async () => {
    const { seller, balances } = await scene();
    const { asked } = between(market, seller, (ask, ...request) => ask(...request));
    const budget = memoryBudget(PRICE);
    const wallet = newWallet();
    const signTypedData = async () => {
      throw new Error("the wallet is locked");
    };
    const locked = await market.openBuyer({ account: { ...wallet.account, signTypedData }, budget });
    expect((await rejection(locked.hire(ORDER))).message).to.equal("the wallet is locked");
    const store = memoryStore();
    const journal = {
      ...store,
      put: async (key: string, value: unknown) => {
        if (key.startsWith("hire/")) throw new Error("the disk is full");
        await store.put(key, value);
      },
    };
    const full = await market.openBuyer({ journal, budget });
    expect((await rejection(full.hire(ORDER))).message).to.equal("the disk is full");
    expect(await budget.remaining()).to.equal(PRICE);
    expect(asked.filter((it) => it.startsWith("POST"))).to.deep.equal(["POST /v1/hire", "POST /v1/hire"]);
    expect((await balances())[1]).to.equal(0n);
  });

  it("wants a lower price than all offers: no seller is asked", async () => {
    const { buyer, seller } = await scene();
    const { asked } = between(market, seller, (ask, ...request) => ask(...request));
    const error = await rejection(buyer.hire({ ...ORDER, maxPriceUsdc: "0.049999" }));
    expect(error).to.be.instanceOf(NoSellerError).and.include({ code: "no_seller" });
    expect(asked).to.deep.equal([]);
  });

  for (const status of [502, 503, 504]) {
    it(`gets a gateway's ${status} in place of the answer: the hire is looked up and continues`, async () => {
      const { seller, buyer, balances } = await scene();
      between(market, seller, async (ask, input, init) => {
        const answer = await ask(input, init);
        return isPaid(init) ? new Response("<html>Bad gateway</html>", { status }) : answer;
      });
      expect(await buyer.hire(ORDER)).to.include({ money: "paid" });
      expect(await balances()).to.deep.equal(PAID);
    });
  }

  it("loses the answer: the hire is looked up, and not paid again", async () => {
    const { seller, buyer, balances } = await scene();
    between(market, seller, async (ask, input, init) => {
      const response = await ask(input, init);
      if (isPaid(init)) throw new TypeError("socket hang up");
      return response;
    });
    const hire = await buyer.hire(ORDER);
    expect(hire.result).to.deep.equal({ result: 3 });
    expect(await balances()).to.deep.equal(PAID);
  });

  it("crashes between payment and verification: the next process finishes the hire from the journal", async () => {
    const { seller, balances } = await scene();
    const journal = fileStore(`${market.folder}/journal`);
    const crashing = await market.openBuyer({ journal });
    const { wallet } = crashing;
    // The process ends before the answer comes.
    const crash = new AbortController();
    between(market, seller, async (ask, input, init) => {
      const response = await ask(input, init);
      if (!isPaid(init) && !input.includes("/jobs/")) return response;
      crash.abort();
      throw new Error("the process is gone");
    });
    await rejection(crashing.hire({ ...ORDER, idempotencyKey: "new", signal: crash.signal }));
    expect(await chain.balanceOf(wallet)).to.equal(PURSE - PRICE);

    market.hosts[seller.host] = seller.direct;
    const next = await market.openBuyer({ account: wallet.account, journal });
    const [outcome] = await next.resume();
    expect(outcome).to.have.nested.property("hire.result").that.deep.equals({ result: 3 });
    expect(outcome).to.have.nested.property("hire.verification.all_passed", true);
    expect(await chain.balanceOf(wallet)).to.equal(PURSE - PRICE);
    expect((await balances())[1]).to.equal(PRICE);
    expect(await next.resume()).to.deep.equal([]);
  });
});
