import { expect } from "chai";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { parseUsdc } from "tallystick-protocol/amount";
import { escrowFee } from "tallystick-protocol/escrow/feeSchedule";
import { signBody } from "tallystick-protocol/records/record";
import { memoryBudget } from "tallystick-sdk/budget/budget";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { ChainError, HireFailedError, NoSellerError, PaymentRefusedError } from "tallystick-sdk/errors";
import { createEscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { type EscrowRelay, walletRelay } from "tallystick-sdk/escrow/escrowRelay";
import { httpRelay } from "tallystick-sdk/escrow/httpRelay";
import { type EscrowModeParameters, escrowMode } from "tallystick-sdk/seller/escrowMode";
import type { Handler } from "tallystick-sdk/seller/handlers";
import type { SettlementMode } from "tallystick-sdk/seller/job";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { getAddress, http } from "viem";
import { type Market, MEAN, mean, openMarket, PURSE } from "./support/market.ts";
import { newWallet, PROVIDER, type SdkChain, startSdkChain } from "./support/sdkChain.ts";
import { between, isPaid, rejection, withBody, withTerms } from "./support/tamper.ts";

const MODE = `platform_escrow:${PROVIDER}`;
const LISTING = { capability: MEAN, price_usdc: "0.50", max_latency_ms: 30_000, payment_mode: MODE };
const ORDER = { capability: MEAN, params: { data: [1, 2, 6] }, maxPriceUsdc: "1.00", maxLatencyMs: 60_000 };
const ARBITER = `0x${"9a".repeat(20)}` as const;
const PRICE = parseUsdc("0.50");
const FEE = escrowFee(PRICE);

describe("a hire in escrow mode", () => {
  let chain: SdkChain;
  let market: Market;
  let relay: EscrowRelay;
  const treasury = newWallet();
  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
    const deployment = { chainId: chain.network.chainId, escrow: chain.escrow };
    relay = walletRelay(createEscrowCalls({ sender: chain.sender, deployment }));
  });
  after(() => chain.close());
  beforeEach(async () => {
    market = await openMarket(chain);
    market.chain = chain;
  });
  afterEach(() => market.close());

  type SceneChanges = {
    sellerRelay?: EscrowRelay;
    wrap?: (mode: SettlementMode) => SettlementMode;
    reads?: Pick<EscrowModeParameters, "client" | "confirmations" | "shownWithinMs">;
  };

  /** The seconds by which the clock of buyer and seller is ahead. The tests move it together with the chain's clock. */
  let ahead = 0;
  const now = () => Date.now() + ahead * 1000;

  const scene = async (handler: Handler<typeof MEAN> = mean, changes: SceneChanges = {}) => {
    const wallet = newWallet();
    const mode = escrowMode({
      account: wallet.account,
      network: chain.network,
      escrow: chain.escrow,
      relay: changes.sellerRelay ?? relay,
      feeRecipient: treasury.address,
      now,
      ...changes.reads,
    });
    const seller = await market.openSeller({
      account: wallet.account,
      listings: [LISTING],
      handlers: { [MEAN]: handler },
      modes: { [MODE]: changes.wrap?.(mode) ?? mode },
      now,
    });
    const allowed = { escrow: chain.escrow, relay, feeRecipient: treasury.address };
    const budget = memoryBudget(1_000_000n);
    const buyer = await market.openBuyer({ escrows: { [MODE]: allowed }, budget, now });
    const treasuryBefore = await chain.balanceOf(treasury);
    const heldBefore = await chain.balanceOf({ address: chain.escrow });
    /** How the balances of buyer, seller, fee recipient and escrow have changed. */
    const balances = async () => [
      (await chain.balanceOf(buyer.wallet)) - PURSE,
      await chain.balanceOf(wallet),
      (await chain.balanceOf(treasury)) - treasuryBefore,
      (await chain.balanceOf({ address: chain.escrow })) - heldBefore,
    ];
    return { seller, buyer, balances, wallet, allowed, budget };
  };
  const UNTOUCHED = [0n, 0n, 0n, 0n];
  const RELEASED = [-PRICE, PRICE - FEE, FEE, 0n];
  const HELD = [-PRICE, 0n, 0n, PRICE];

  it("holds the money, marks the delivery, and releases the money for good work; the receipt names the escrow", async () => {
    const { buyer, balances, seller } = await scene();
    const hire = await buyer.hire({ ...ORDER, requireRecovery: true });
    expect(hire).to.include({ money: "released", paymentMode: MODE, amount: PRICE });
    expect(hire.receiptIssues).to.deep.equal([]);
    expect(hire.verification.all_passed).to.equal(true);
    expect(await balances()).to.deep.equal(RELEASED);
    const body = JSON.parse((await market.ledger.get("/v1/ledger/entries?from=1&to=2")).text).payload.body;
    expect(body).to.include({
      agent_id: seller.address,
      hire_id: hire.hireId,
      payment_mode: MODE,
      escrow_provider: PROVIDER,
      tx_hash: hire.tx,
      amount_usdc_atomic: String(PRICE),
    });
    expect(await relay.state(body.escrow_id)).to.deep.equal({
      status: "released",
      delivered: true,
      amount: 0n,
    });
    const release = await chain.client.getTransactionReceipt({ hash: hire.settlementTx ?? "0x" });
    expect(release.status).to.equal("success");
  });

  it("takes addresses in mixed case, as explorers and wallets write them, in both modes", async () => {
    const wallet = newWallet();
    const network = { ...chain.network, token: getAddress(chain.network.token) };
    const escrow = getAddress(chain.escrow);
    const allowed = {
      escrow,
      relay,
      feeRecipient: getAddress(treasury.address),
      arbiter: getAddress(ARBITER),
    };
    await market.openSeller({
      ...{ account: wallet.account, network, now, handlers: { [MEAN]: mean } },
      listings: [LISTING, { ...LISTING, payment_mode: "direct" }],
      modes: { [MODE]: escrowMode({ account: wallet.account, network, now, ...allowed }) },
    });
    const buyer = await market.openBuyer({ network, escrows: { [MODE]: allowed }, now });
    const order = { ...ORDER, seller: getAddress(wallet.address) };
    expect(await buyer.hire({ ...order, mode: MODE })).to.include({ money: "released" });
    expect(await buyer.hire({ ...order, mode: "direct" })).to.include({ money: "paid" });
  });

  it("refunds the whole amount at once if the result does not verify, and gives it back to the budget", async () => {
    const { buyer, balances, budget } = await scene(() => ({ result: 1e9 }));
    const hire = await buyer.hire({ ...ORDER, mode: "escrow" });
    expect(hire).to.include({ money: "refunded" });
    expect(hire.verification.all_passed).to.equal(false);
    expect(await balances()).to.deep.equal(UNTOUCHED);
    expect(await budget.remaining()).to.equal(1_000_000n);
  });

  it("refunds good work whose receipt is for another capability, because its audits would be others", async () => {
    const { buyer, balances, seller, wallet } = await scene();
    between(market, seller, async (ask, input, init) => {
      const response = await ask(input, init);
      if (!isPaid(init)) return response;
      return await withBody(response, async (answer) => {
        const body = { ...answer.signed_receipt.body, capability: "compute.statistics.median" };
        const signature = await signBody(body, wallet);
        return { ...answer, signed_receipt: { ...answer.signed_receipt, body, signature } };
      });
    });
    const hire = await buyer.hire({ ...ORDER, mode: "escrow" });
    expect(hire.verification.checks).to.include({ receipt_hire: false });
    expect(hire).to.include({ money: "refunded" });
    expect(await balances()).to.deep.equal(UNTOUCHED);
  });

  it("uses only escrows on the buyer's list, and pays no seller directly if the buyer requires recovery", async () => {
    await scene();
    const stranger = await market.openBuyer();
    for (const wish of [{ mode: MODE }, { mode: "escrow" }, { requireRecovery: true }]) {
      const error = await rejection(stranger.hire({ ...ORDER, ...wish }));
      expect(error).to.be.instanceOf(NoSellerError).and.include({ code: "no_recovery" });
    }
    await market.openSeller({
      listings: [{ ...LISTING, payment_mode: "direct" }],
      handlers: { [MEAN]: mean },
    });
    const error = await rejection(stranger.hire({ ...ORDER, requireRecovery: true }));
    expect(error).to.include({ code: "no_recovery" });
    expect(await chain.balanceOf(stranger.wallet)).to.equal(PURSE);
  });

  describe("whose seller", () => {
    const lies: [string, string, (option: { extra: object }) => object][] = [
      ["asks for more", "overcharged", () => ({ amount: String(PRICE + 1n) })],
      ["names another escrow", "payee_changed", () => ({ payTo: newWallet().address })],
      [
        "names another payee",
        "payee_changed",
        ({ extra }) => ({ extra: { ...extra, payee: newWallet().address } }),
      ],
      [
        "names another seller",
        "payee_changed",
        ({ extra }) => ({ extra: { ...extra, seller: newWallet().address } }),
      ],
      ["adds to the fee", "fee_too_high", ({ extra }) => ({ extra: { ...extra, fee: String(FEE + 1n) } })],
      [
        "takes the fee itself",
        "fee_too_high",
        ({ extra }) => ({ extra: { ...extra, fee_recipient: newWallet().address } }),
      ],
      ["wants a payment without escrow", "unsupported_scheme", () => ({ scheme: "exact" })],
    ];
    for (const [what, code, lie] of lies) {
      it(`${what}: nothing is signed`, async () => {
        const { seller, buyer, balances } = await scene();
        const { asked } = between(market, seller, async (ask, ...request) =>
          withTerms(await ask(...request), (option) => ({ ...option, ...lie(option) }) as typeof option),
        );
        const error = await rejection(buyer.hire({ ...ORDER, mode: MODE }));
        expect(error).to.be.instanceOf(PaymentRefusedError).and.include({ code });
        expect(asked.filter((it) => it.startsWith("POST"))).to.deep.equal(["POST /v1/hire"]);
        expect(await balances()).to.deep.equal(UNTOUCHED);
      });
    }

    it("answers garbage: the money comes back", async () => {
      const { seller, buyer, balances, budget } = await scene();
      between(market, seller, async (ask, input, init) => {
        const response = await ask(input, init);
        return isPaid(init) ? new Response("<html>", { status: 200 }) : response;
      });
      const error = await rejection(buyer.hire({ ...ORDER, mode: MODE }));
      expect(error)
        .to.be.instanceOf(HireFailedError)
        .and.include({ code: "garbage_answer", money: "refunded" });
      expect(await balances()).to.deep.equal(UNTOUCHED);
      expect(await budget.remaining()).to.equal(1_000_000n);
    });

    it("fails after its deposit: it refunds the money itself", async () => {
      const { buyer, balances } = await scene(() => {
        throw new Error("no");
      });
      const error = await rejection(buyer.hire({ ...ORDER, mode: MODE }));
      expect(error).to.have.nested.property("words.code", "handler_failed");
      expect(error).to.include({ code: "seller_refused", money: "refunded" });
      expect(await balances()).to.deep.equal(UNTOUCHED);
    });

    it("refuses after its deposit and does not refund: the buyer refunds the money", async () => {
      const { seller, buyer, balances } = await scene();
      between(market, seller, async (ask, input, init) => {
        const response = await ask(input, init);
        return isPaid(init) ? Response.json({ code: "sorry" }, { status: 500 }) : response;
      });
      const error = await rejection(buyer.hire({ ...ORDER, mode: MODE }));
      expect(error).to.have.nested.property("words.code", "sorry");
      expect(error).to.include({ code: "seller_refused", money: "refunded" });
      expect(await balances()).to.deep.equal(UNTOUCHED);
    });

    it("never deposits: the money does not move, and the terms expire at their deadline", async () => {
      const { seller, buyer, balances } = await scene();
      let payment: RequestInit | undefined;
      between(market, seller, (ask, input, init) => {
        if (!isPaid(init)) return ask(input, init);
        payment = init;
        return Response.json({ code: "later" }, { status: 503 });
      });
      const error = await rejection(buyer.hire({ ...ORDER, mode: MODE }));
      expect(error).to.have.nested.property("words.code", "later");
      expect(error).to.include({ code: "seller_refused", money: "authorized" });
      ahead += 120;
      await chain.passTo(Math.floor(now() / 1000));
      const { request } = seller.direct;
      const late = await request(`http://${seller.host}/v1/hire`, payment);
      expect((await late.json()).code).to.equal("deadline_too_soon");
      expect(await balances()).to.deep.equal(UNTOUCHED);
    });

    it("deposits twice: the second deposit is refused, and only one amount is paid", async () => {
      const second: { error?: Error } = {};
      const greedy: EscrowRelay = {
        ...relay,
        deposit: async (hire, authorization) => {
          const tx = await relay.deposit(hire, authorization);
          const { sender, network } = chain;
          const deployment = { chainId: network.chainId, escrow: chain.escrow };
          const calls = createEscrowCalls({ sender, deployment });
          second.error = await rejection(calls.depositWithAuthorization(hire, authorization));
          return tx;
        },
      };
      const { buyer, balances } = await scene(mean, { sellerRelay: greedy });
      const hire = await buyer.hire({ ...ORDER, mode: MODE });
      expect(hire.money).to.equal("released");
      expect(second.error).to.include({ code: "call_refused", reason: "WrongStatus" });
      expect(await balances()).to.deep.equal(RELEASED);
    });
  });

  describe("whose seller reads the chain", () => {
    const client = () => chain.client as never;
    /** Counts the hires that are worked on. */
    const counted = () => {
      const work = { count: 0 };
      const handler: Handler<typeof MEAN> = (params) => {
        work.count++;
        return mean(params);
      };
      return { work, handler };
    };

    it("works only for a deposit that the chain shows, whatever the relay says", async () => {
      const lies: EscrowRelay = {
        ...relay,
        deposit: async () => `0x${"11".repeat(32)}`,
        markDelivered: async () => `0x${"11".repeat(32)}`,
      };
      const { work, handler } = counted();
      const reads = { client: client(), shownWithinMs: 0 };
      const { buyer, balances } = await scene(handler, { sellerRelay: lies, reads });
      const error = await rejection(buyer.hire({ ...ORDER, mode: MODE }));
      expect(error).to.have.nested.property("words.code", "deposit_unconfirmed");
      expect(work.count).to.equal(0);
      expect(await balances()).to.deep.equal(UNTOUCHED);
    });

    it("waits until enough blocks show the deposit", async () => {
      const { work, handler } = counted();
      const heights: bigint[] = [];
      const slow: EscrowRelay = {
        ...relay,
        deposit: async (...given) => {
          const tx = await relay.deposit(...given);
          heights.push(await chain.client.getBlockNumber());
          return tx;
        },
      };
      const asked = Promise.withResolvers<void>();
      const watching = chain.client.extend(() => ({
        getBlockNumber: async () => {
          const height = await chain.client.getBlockNumber({ cacheTime: 0 });
          if (heights.length > 0) asked.resolve();
          return height;
        },
      }));
      const reads = { client: watching as never, confirmations: 3, shownWithinMs: 60_000 };
      const { buyer, balances } = await scene(handler, { sellerRelay: slow, reads });
      const hire = buyer.hire({ ...ORDER, mode: MODE });
      await asked.promise;
      expect(work.count).to.equal(0);
      await chain.client.mine({ blocks: 2 });
      expect((await hire).money).to.equal("released");
      expect(await balances()).to.deep.equal(RELEASED);
    });

    it("sends the money back if the chain cannot be read after the deposit", async () => {
      const { work, handler } = counted();
      const blind = chain.client.extend(() => ({ getBlockNumber: () => Promise.reject(new Error("away")) }));
      const reads = { client: blind as never, shownWithinMs: 0 };
      const { buyer, balances } = await scene(handler, { reads });
      const error = await rejection(buyer.hire({ ...ORDER, mode: MODE }));
      expect(error).to.have.nested.property("words.code", "chain_unreachable");
      expect(error).to.have.nested.property("words.text").that.contains("sends the deposit back");
      expect([work.count, await balances()]).to.deep.equal([0, UNTOUCHED]);
    });

    it("sends the money back if the chain does not answer at all after the deposit", async () => {
      const { work, handler } = counted();
      const silent = chain.client.extend(() => ({ getBlockNumber: () => new Promise<bigint>(() => {}) }));
      const reads = { client: silent as never, shownWithinMs: 0 };
      const { buyer, balances } = await scene(handler, { reads });
      const error = await rejection(buyer.hire({ ...ORDER, mode: MODE }));
      expect(error).to.have.nested.property("words.code", "chain_unreachable");
      expect([work.count, await balances()]).to.deep.equal([0, UNTOUCHED]);
    });
  });

  describe("whose seller cannot reach the chain fails with the code chain_unreachable and a time to retry,", () => {
    const sender = () =>
      createTransactionSender({
        account: newWallet().account,
        chainId: chain.network.chainId,
        rpc: http("http://127.0.0.1:1/secret-key", { retryCount: 0 }),
      });
    const away = () => {
      const deployment = { chainId: chain.network.chainId, escrow: chain.escrow };
      return walletRelay(createEscrowCalls({ sender: sender(), deployment }));
    };
    /** A settlement mode that somebody else wrote. It asks the chain before it accepts a hire. */
    const unguarded = (mode: SettlementMode): SettlementMode => ({
      ...mode,
      check: async () => {
        await sender().send({ address: chain.escrow, abi: hireEscrowAbi, functionName: "unpause", args: [] });
        throw new Error("the chain answers");
      },
    });
    const cases: { [when: string]: () => SceneChanges } = {
      "before the seller accepts the hire": () => ({ sellerRelay: away() }),
      "at the deposit": () => ({ sellerRelay: { ...relay, deposit: away().deposit } }),
      "at the deposit, at a keeper": () => ({
        sellerRelay: { ...relay, deposit: httpRelay({ url: "http://127.0.0.1:1/secret-key" }).deposit },
      }),
      "in a mode that somebody else wrote": () => ({ wrap: unguarded }),
    };
    for (const [when, changes] of Object.entries(cases)) {
      it(when, async () => {
        const { seller, buyer, balances } = await scene(mean, changes());
        const answers: Response[] = [];
        between(market, seller, async (...[ask, input, init]) => {
          if (isPaid(init)) answers.push(await ask(input, init));
          return answers[0]?.clone() ?? ask(input, init);
        });
        const error = await rejection(buyer.hire({ ...ORDER, mode: MODE }));
        expect(error).to.have.nested.property("words.code", "chain_unreachable");
        expect(answers[0]?.status).to.equal(503);
        expect(answers[0]?.headers.get("retry-after")).to.match(/^[1-9]/);
        expect(await answers[0]?.text()).not.to.contain("secret-key");
        expect(await balances()).to.deep.equal(UNTOUCHED);
      });
    }
  });

  describe("whose buyer", () => {
    it("pays a second hire with the escrow of the first hire: no work is done for the second", async () => {
      const { seller, buyer, balances } = await scene();
      const requests: { input: string; init: RequestInit }[] = [];
      between(market, seller, (ask, input, init) => {
        requests.push({ input, init: init! });
        return ask(input, init);
      });
      await buyer.hire({ ...ORDER, mode: MODE });
      const paid = requests.find(({ init }) => isPaid(init))!;
      expect((await market.fetch(paid.input, paid.init)).status).to.equal(409);
      const { signature: _, nonce: __, issued_at: ___, ...body } = JSON.parse(String(paid.init.body));
      const old = JSON.stringify({ ...body, protocol: "swarmwage/v0.2" });
      const again = await market.fetch(paid.input, { ...paid.init, body: old });
      expect(await again.json()).to.include({ code: "payment_replayed" });
      expect(await balances()).to.deep.equal(RELEASED);
    });

    it("waits for a deposit that the seller's RPC does not show: gets its money back, and is not asked to pay again", async () => {
      const behind: EscrowRelay = {
        ...relay,
        deposit: async (hire, authorization) => {
          await relay.deposit(hire, authorization);
          throw new ChainError({ code: "call_refused", message: "no", reason: "WrongStatus" });
        },
      };
      const { seller, buyer, balances } = await scene(mean, { sellerRelay: behind });
      const statuses: number[] = [];
      between(market, seller, async (ask, input, init) => {
        const response = await ask(input, init);
        if (isPaid(init)) statuses.push(response.status);
        return response;
      });
      const error = await rejection(buyer.hire({ ...ORDER, mode: MODE }));
      expect(error).to.have.nested.property("words.code", "deposit_unconfirmed");
      expect(error).to.include({ code: "seller_refused", money: "refunded" });
      expect(statuses).to.deep.equal([504]);
      expect(await balances()).to.deep.equal(UNTOUCHED);
    });

    it("does not have the money: no work is done", async () => {
      let worked = 0;
      const { buyer, balances } = await scene((params) => {
        worked++;
        return mean(params);
      });
      await chain.transfer(buyer.wallet, treasury, PURSE - PRICE + 1n);
      const before = await balances();
      const error = await rejection(buyer.hire({ ...ORDER, mode: MODE }));
      expect(error).to.have.nested.property("words.code", "deposit_refused");
      expect(error).to.include({ code: "seller_refused", money: "authorized" });
      expect(worked).to.equal(0);
      expect(await balances()).to.deep.equal(before);
    });

    it("never verifies: the delivery is marked, and from the deadline on anybody can refund the money", async () => {
      const { buyer, balances, seller, wallet } = await scene();
      // The buyer's process ends before the answer comes.
      const crash = new AbortController();
      between(market, seller, async (ask, input, init) => {
        const response = await ask(input, init);
        if (!isPaid(init) && !input.includes("/jobs/")) return response;
        crash.abort();
        throw new TypeError("gone");
      });
      await rejection(buyer.hire({ ...ORDER, mode: MODE, idempotencyKey: "new", signal: crash.signal }));
      expect(await balances()).to.deep.equal(HELD);
      const [key] = await seller.parameters.store.keys("job");
      const job = await seller.parameters.store.get<{
        payment: { payload: { payload: unknown } };
        escrowId: `0x${string}`;
      }>(key ?? "");
      const { readEscrowPayload } = await import("tallystick-sdk/escrow/escrowScheme");
      const { hire } = readEscrowPayload(job?.payment.payload.payload);
      expect(await relay.state(job!.escrowId)).to.include({ status: "held", delivered: true });
      const deployment = { chainId: chain.network.chainId, escrow: chain.escrow };
      const calls = createEscrowCalls({ sender: chain.sender, deployment });
      expect(await rejection(calls.timeoutRefund(hire))).to.include({ reason: "DeadlineNotReached" });
      ahead = Number(hire.deadline) - Math.floor(Date.now() / 1000) + 1;
      await chain.passTo(Number(hire.deadline));
      await calls.timeoutRefund(hire);
      expect(await balances()).to.deep.equal(UNTOUCHED);
      expect(await chain.balanceOf(wallet)).to.equal(0n);
    });

    it("crashes between payment and verification: the next process verifies and releases", async () => {
      const { seller, wallet, allowed, balances } = await scene();
      const journal = fileStore(`${market.folder}/journal`);
      const crashing = await market.openBuyer({ escrows: { [MODE]: allowed }, journal, now });
      const crash = new AbortController();
      between(market, seller, async (ask, input, init) => {
        const response = await ask(input, init);
        if (!isPaid(init) && !input.includes("/jobs/")) return response;
        crash.abort();
        throw new TypeError("gone");
      });
      await rejection(crashing.hire({ ...ORDER, mode: MODE, idempotencyKey: "new", signal: crash.signal }));
      expect((await balances())[3]).to.equal(PRICE);

      market.hosts[seller.host] = seller.direct;
      const next = await market.openBuyer({
        account: crashing.wallet.account,
        escrows: { [MODE]: allowed },
        journal,
        now,
      });
      const [outcome] = await next.resume();
      expect(outcome).to.have.nested.property("hire.money", "released");
      expect(await chain.balanceOf(wallet)).to.equal(PRICE - FEE);
      expect(await chain.balanceOf(crashing.wallet)).to.equal(PURSE - PRICE);
      expect(await journal.keys("hire")).to.deep.equal([]);
    });

    it("cannot reach its relay: the money stays in the escrow, and a later resume releases it", async () => {
      const { allowed, wallet } = await scene();
      const journal = fileStore(`${market.folder}/journal`);
      let isDown = true;
      const shaky: EscrowRelay = {
        ...relay,
        release: async (hire, signature) => {
          if (isDown) throw new TypeError("fetch failed");
          return await relay.release(hire, signature);
        },
      };
      const buyer = await market.openBuyer({
        escrows: { [MODE]: { ...allowed, relay: shaky } },
        journal,
        now,
      });
      const hire = await buyer.hire({ ...ORDER, mode: MODE });
      expect(hire).to.include({ money: "held", settlementTx: null });
      isDown = false;
      const [outcome] = await buyer.resume();
      expect(outcome).to.have.nested.property("hire.money", "released");
      expect(await chain.balanceOf(wallet)).to.equal(PRICE - FEE);
    });
  });
});
