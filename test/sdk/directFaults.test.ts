import { expect } from "chai";
import { parseUsdc } from "../../protocol/amount.ts";
import { memoryBudget } from "../../sdk/budget/budget.ts";
import { BudgetError, HireFailedError, NoSellerError, PaymentRefusedError } from "../../sdk/errors.ts";
import { fileStore } from "../../sdk/store/fileStore.ts";
import { memoryStore } from "../../sdk/store/keyValueStore.ts";
import { MEAN, mean, PURSE } from "./support/market.ts";
import { newWallet } from "./support/sdkChain.ts";
import { between, isPaid, rejection, withBody, withTerms } from "./support/tamper.ts";
import { useMarket } from "./support/useMarket.ts";

const ORDER = { capability: MEAN, params: { data: [1, 2, 6] }, maxPriceUsdc: "0.10", maxLatencyMs: 5_000 };
const PRICE = parseUsdc("0.05");
const LISTING = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 2_000 };

describe("a hire in direct mode when somebody misbehaves", () => {
  const { chain, market } = useMarket();

  const scene = async () => {
    const seller = await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
    const buyer = await market.openBuyer({ budget: memoryBudget(1_000_000n) });
    const balances = async () => [await chain.balanceOf(buyer.wallet), await chain.balanceOf(seller.wallet)];
    return { seller, buyer, balances };
  };
  const UNTOUCHED = [PURSE, 0n];
  const PAID = [PURSE - PRICE, PRICE];

  describe("seller", () => {
    const lies: [
      string,
      string,
      (option: { amount: string; payTo: string; asset: string; network: string }) => object,
    ][] = [
      ["asks for more than its listing", "overcharged", () => ({ amount: String(PRICE + 1n) })],
      ["asks for less than nothing", "overcharged", () => ({ amount: "-1" })],
      ["wants somebody else to be paid", "payee_changed", () => ({ payTo: newWallet().address })],
      ["wants another token", "wrong_token", () => ({ asset: newWallet().address })],
      ["wants another network", "wrong_network", () => ({ network: "eip155:1" })],
      ["wants an allowance instead", "wrong_token", () => ({ extra: { assetTransferMethod: "permit2" } })],
      ["wants another scheme", "unsupported_scheme", () => ({ scheme: "upto" })],
    ];
    for (const [what, code, lie] of lies) {
      it(`${what}: nothing is signed`, async () => {
        const { seller, buyer, balances } = await scene();
        const { asked } = between(market, seller, async (ask, ...request) =>
          withTerms(await ask(...request), (option) => ({ ...option, ...lie(option) }) as typeof option),
        );
        const error = await rejection(buyer.hire(ORDER));
        expect(error).to.be.instanceOf(PaymentRefusedError).and.include({ code });
        expect(asked).to.deep.equal(["POST /v1/hire"]);
        expect(await balances()).to.deep.equal(UNTOUCHED);
      });
    }

    it("asks for less than its listing: that is paid", async () => {
      const { seller, buyer } = await scene();
      const cheaper = await market.openSeller({
        listings: [{ ...LISTING, price_usdc: "0.04" }],
        handlers: { [MEAN]: mean },
      });
      market.offers.splice(0, 2, { ...market.offers[0]!, agent_id: cheaper.address });
      market.offers[0] = {
        ...market.offers[0]!,
        listing: {
          ...seller.listings[0]!.body,
          agent_id: cheaper.address,
          endpoint: `http://${cheaper.host}/v1`,
        },
      };
      expect(await buyer.hire(ORDER)).to.include({ amount: parseUsdc("0.04"), money: "paid" });
      expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE - parseUsdc("0.04"));
    });

    it("fails before it is paid: the next one is hired", async () => {
      const { seller, buyer } = await scene();
      const second = await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
      between(market, seller, () => Response.json({ code: "busy", detail: "no" }, { status: 503 }));
      const hire = await buyer.hire(ORDER);
      expect(hire.listing.agent_id).to.equal(second.address);
      expect(await chain.balanceOf(second.wallet)).to.equal(PRICE);
      expect(await chain.balanceOf(seller.wallet)).to.equal(0n);
    });

    it("fails after it was given the payment: nobody else is hired", async () => {
      const { seller, buyer } = await scene();
      const second = await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
      between(market, seller, (ask, input, init) =>
        isPaid(init) ? Response.json({ code: "broken", detail: "no" }, { status: 500 }) : ask(input, init),
      );
      const error = await rejection(buyer.hire(ORDER));
      expect(error)
        .to.be.instanceOf(HireFailedError)
        .and.include({ code: "seller_refused", money: "authorized" });
      expect(error.words).to.deep.equal({ code: "broken", text: "no" });
      expect(await chain.balanceOf(second.wallet)).to.equal(0n);
      expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE);
    });

    it("answers garbage after it was paid: the error says that the money is gone", async () => {
      const { seller, buyer, balances } = await scene();
      between(market, seller, async (ask, input, init) => {
        const response = await ask(input, init);
        return isPaid(init) ? new Response("<html>", { status: 200 }) : response;
      });
      const error = await rejection(buyer.hire(ORDER));
      expect(error).to.be.instanceOf(HireFailedError).and.include({ code: "garbage_answer", money: "paid" });
      expect(await balances()).to.deep.equal(PAID);
    });

    it("delivers what does not verify: the result says so, and the ledger is told", async () => {
      const { seller, buyer, balances } = await scene();
      between(market, seller, async (ask, input, init) => {
        const response = await ask(input, init);
        return isPaid(init) ? withBody(response, (body) => ({ ...body, result: { result: 1e9 } })) : response;
      });
      const hire = await buyer.hire(ORDER);
      expect(hire.verification.all_passed).to.equal(false);
      await buyer.idle();
      const told = JSON.parse((await market.ledger.get("/v1/ledger/entries?from=2&to=3")).text).payload;
      expect(told.body).to.deep.include({
        receipt: hire.receiptHash,
        verification: { all_passed: false, checks: hire.verification.checks },
      });
      expect(await balances()).to.deep.equal(PAID);
    });

    it("finds its own result wanting: it does not charge for it", async () => {
      const { seller } = await scene();
      await seller.close();
      const honest = await market.openSeller({
        listings: [{ ...LISTING, price_usdc: "0.01" }],
        handlers: { [MEAN]: () => ({ result: 1e9 }) },
      });
      const buyer = await market.openBuyer();
      const error = await rejection(buyer.hire({ ...ORDER, seller: honest.address }));
      expect(error).to.have.nested.property("words.code", "own_verification_failed");
      expect(error).to.include({ code: "seller_refused", money: "authorized" });
      expect(error.message).to.contain("500");
      expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE);
      expect(await honest.waitingReceipts()).to.equal(0);
    });

    it("hangs before it is paid: nothing is signed", async () => {
      const { buyer, balances, seller } = await scene();
      between(market, seller, () => new Promise<Response>(() => {}));
      const signal = AbortSignal.timeout(200);
      const error = await rejection(buyer.hire({ ...ORDER, signal }));
      expect(error.name).to.equal("TimeoutError");
      expect(await balances()).to.deep.equal(UNTOUCHED);
    });

    it("works longer than it promised: it is stopped and takes no money", async () => {
      let [started, stopped] = [false, false];
      const slow = await market.openSeller({
        listings: [{ ...LISTING, max_latency_ms: 100 }],
        handlers: {
          [MEAN]: (_, { signal }) =>
            new Promise((resolve) => {
              started = true;
              signal.addEventListener("abort", () => {
                stopped = true;
                resolve({ result: 3 });
              });
            }),
        },
      });
      const buyer = await market.openBuyer();
      const error = await rejection(buyer.hire(ORDER));
      expect(error).to.be.instanceOf(HireFailedError).and.have.nested.property("words.code", "too_late");
      // On a busy machine its time may be over before it starts.
      expect(stopped).to.equal(started);
      expect(await chain.balanceOf(slow.wallet)).to.equal(0n);
      expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE);
    });

    it("throws in its work: the buyer is not charged and learns nothing of the cause", async () => {
      const broken = await market.openSeller({
        listings: [LISTING],
        handlers: {
          [MEAN]: () => {
            throw new Error("secret path");
          },
        },
      });
      const buyer = await market.openBuyer();
      const error = await rejection(buyer.hire(ORDER));
      expect(error).to.include({ code: "seller_refused", money: "authorized" });
      expect(error.words.code).to.equal("handler_failed");
      expect(error.message).not.to.contain("secret");
      expect(await chain.balanceOf(broken.wallet)).to.equal(0n);
    });

    it("replays the receipt of another hire: the buyer sees it, and rates nothing with it", async () => {
      const { seller, buyer, balances } = await scene();
      const first = await buyer.hire(ORDER);
      between(market, seller, async (ask, input, init) => {
        const response = await ask(input, init);
        if (!isPaid(init)) return response;
        return await withBody(response, (body) => ({
          ...body,
          receipt: first.receipt,
          receipt_hash: first.receiptHash,
          rating_token: first.ratingToken,
          signed_receipt: {
            ...body.signed_receipt,
            body: { ...body.signed_receipt.body, hire_id: first.hireId },
          },
        }));
      });
      const second = await buyer.hire({ ...ORDER, idempotencyKey: "new" });
      expect(second.receiptIssues[0]).to.contain("hire_id");
      expect(second).to.include({ receiptHash: null, ratingToken: null });
      await buyer.idle();
      expect(await buyer.waitingReports()).to.equal(0);
      expect(await balances()).to.deep.equal([PURSE - 2n * PRICE, 2n * PRICE]);
    });
  });

  describe("buyer", () => {
    /** What the buyer of a scene sends, so that it can be sent again, or otherwise. */
    const recorded = async () => {
      const it = await scene();
      const requests: { input: string; init: RequestInit }[] = [];
      const { asked } = between(market, it.seller, (ask, input, init) => {
        requests.push({ input, init: init! });
        return ask(input, init);
      });
      return { ...it, requests, asked };
    };

    it("pays twice with one request: the nonce is refused, and says where the first went", async () => {
      const { buyer, requests, balances } = await recorded();
      const hire = await buyer.hire(ORDER);
      const paid = requests.find(({ init }) => isPaid(init))!;
      const again = await market.fetch(paid.input, paid.init);
      expect(again.status).to.equal(409);
      expect(await again.json()).to.include({ code: "duplicate_nonce", job_id: hire.jobId });
      expect(await balances()).to.deep.equal(PAID);
    });

    /** The same payment for an older, unsigned hire, which has no nonce to be known by. */
    const unsigned = ({ input, init }: { input: string; init: RequestInit }) => {
      const { signature: _, nonce: __, issued_at: ___, ...body } = JSON.parse(String(init.body));
      return market.fetch(input, {
        ...init,
        body: JSON.stringify({ ...body, protocol: "swarmwage/v0.2", callback_url: null }),
      });
    };

    it("uses one payment again: the token refuses it", async () => {
      const { buyer, requests, balances } = await recorded();
      await buyer.hire(ORDER);
      const again = await unsigned(requests.find(({ init }) => isPaid(init))!);
      expect(again.status).to.equal(402);
      expect((await again.json()).code).to.match(/^invalid_exact_evm_/);
      expect(await balances()).to.deep.equal(PAID);
    });

    it("uses one payment for two hires at once: one is worked on", async () => {
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

    it("underpays: it gets neither work nor charge", async () => {
      const { buyer, balances, seller } = await scene();
      between(market, seller, async (ask, input, init) =>
        withTerms(await ask(input, init), (option) => ({ ...option, amount: String(PRICE - 1n) })),
      );
      const error = await rejection(buyer.hire(ORDER));
      expect(error).to.include({ code: "seller_refused", money: "authorized" });
      expect(error.words.code).to.equal("terms_differ");
      expect(await balances()).to.deep.equal(UNTOUCHED);
    });

    it("has not got the money: it gets no work", async () => {
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

    it("moves its money away while the seller works: it gets no result", async () => {
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

    it("has a budget: it is held to it exactly, and asks for nothing it could not pay", async () => {
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

    it("cannot sign, or cannot write down what it signed: the budget has it back, and nothing was sent", async () => {
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
      expect(asked).to.deep.equal(["POST /v1/hire", "POST /v1/hire"]);
      expect((await balances())[1]).to.equal(0n);
    });

    it("wants it cheaper than anybody sells it: nobody is asked", async () => {
      const { buyer, seller } = await scene();
      const { asked } = between(market, seller, (ask, ...request) => ask(...request));
      const error = await rejection(buyer.hire({ ...ORDER, maxPriceUsdc: "0.049999" }));
      expect(error).to.be.instanceOf(NoSellerError).and.include({ code: "no_seller" });
      expect(asked).to.deep.equal([]);
    });

    it("loses the answer: the hire is looked up, not paid again", async () => {
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

    it("crashes between payment and verification: the next process concludes the hire from its journal", async () => {
      const { seller, balances } = await scene();
      const journal = fileStore(`${market.folder}/journal`);
      const crashing = await market.openBuyer({ journal });
      const { wallet } = crashing;
      // The process is gone before the answer comes.
      between(market, seller, async (ask, input, init) => {
        const response = await ask(input, init);
        if (isPaid(init) || input.includes("/jobs/")) throw new Error("the process is gone");
        return response;
      });
      await rejection(crashing.hire({ ...ORDER, signal: AbortSignal.timeout(400) }));
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
});
