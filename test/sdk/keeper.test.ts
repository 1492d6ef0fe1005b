import { expect } from "chai";
import type { Hono } from "hono";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { escrowFee } from "tallystick-protocol/escrow/feeSchedule";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { toHireJson } from "tallystick-protocol/escrow/hireJson";
import { createEscrowCalls, type EscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import type { EscrowRelay } from "tallystick-sdk/escrow/escrowRelay";
import { httpRelay } from "tallystick-sdk/escrow/httpRelay";
import { createKeeper, type Keeper } from "tallystick-sdk/escrow/keeper";
import { keeperApp } from "tallystick-sdk/escrow/keeperApp";
import { createEscrowSigner, type EscrowSigner } from "tallystick-sdk/escrow/signEscrow";
import { escrowMode } from "tallystick-sdk/seller/escrowMode";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { type Market, MEAN, mean, openMarket, PURSE } from "./support/market.ts";
import { newWallet, type SdkChain, startSdkChain } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";

const AMOUNT = 500_000n;

describe("a keeper", () => {
  let chain: SdkChain;
  let market: Market;
  let calls: EscrowCalls;
  let keeper: Keeper;
  let app: Hono;
  let relay: EscrowRelay;
  const treasury = newWallet();
  const worth = { minAmount: 10_000n, fee: { recipient: treasury.address } };
  const [buyer, seller] = [newWallet(), newWallet()];
  let signers: { buyer: EscrowSigner; seller: EscrowSigner };

  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
    const deployment = { chainId: chain.network.chainId, escrow: chain.escrow };
    calls = createEscrowCalls({ sender: chain.sender, deployment });
    const signer = ({ account }: typeof buyer) =>
      createEscrowSigner({ account, deployment, network: chain.network });
    signers = { buyer: signer(buyer), seller: signer(seller) };
    await chain.mint(buyer, 1_000n * AMOUNT);
  });
  after(() => chain.close());
  /** Some tests move the chain's clock. The clocks of the parties follow it. */
  let ahead = 0;
  const now = () => Date.now() + ahead;
  beforeEach(async () => {
    ahead = Math.max(0, (await chain.now()) * 1000 - Date.now());
    market = await openMarket(chain);
    keeper = open();
    app = keeperApp({ calls, keeper });
    market.hosts["keeper.test"] = { request: (input, init) => app.request(input, init) };
    relay = httpRelay({ url: "http://keeper.test/", fetch: market.fetch });
  });
  afterEach(async () => {
    await keeper.close();
    await market.close();
  });

  const open = () =>
    createKeeper({ calls, store: fileStore(`${market.folder}/keeper`), worth, roundMs: 30, maxBatch: 3 });
  let number = 0;
  const hireOf = async (changes: Partial<Hire> = {}): Promise<Hire> => ({
    hireId: `0x${(++number).toString(16).padStart(64, "0")}`,
    buyer: buyer.address,
    seller: seller.address,
    payee: ZERO_ADDRESS,
    amount: AMOUNT,
    fee: escrowFee(AMOUNT),
    feeRecipient: treasury.address,
    deadline: BigInt((await chain.now()) + 1_000),
    arbiter: ZERO_ADDRESS,
    ...changes,
  });
  const held = async (changes: Partial<Hire> = {}): Promise<Hire> => {
    const hire = await hireOf(changes);
    await calls.depositWithAuthorization(hire, await signers.buyer.authorizeDeposit(hire));
    return hire;
  };
  /** The status, the code and the field of a refusal. */
  const refusedBy = async (route: string, body: object): Promise<unknown[]> => {
    const response = await app.request(route, { method: "POST", body: JSON.stringify(body) });
    expect(response.headers.get("content-type")).to.contain("problem+json");
    const { status, code, errors } = await response.json();
    expect(status).to.equal(response.status);
    return [status, code, errors?.[0].field];
  };
  const release = (hire: Hire) => signers.buyer.release(calls.idOf(hire));
  const blocks = () => chain.client.getBlockNumber();

  it("sends releases in batches, and names the transaction", async () => {
    const hires = [await held(), await held(), await held(), await held(), await held()];
    const before = await blocks();
    const signatures = await Promise.all(hires.map(release));
    for (const [at, hire] of hires.entries()) await keeper.release(hire, signatures[at]!);
    expect(await keeper.round()).to.deep.equal({
      released: 5,
      refunded: 0,
      timedOut: 0,
      waiting: 0,
      failed: [],
    });
    expect((await blocks()) - before).to.equal(2n);
    keeper.start();
    expect(await relay.release(hires[0]!, signatures[0]!)).to.equal(
      await calls.findEvent(calls.idOf(hires[0]!), "settlement"),
    );
  });

  it("accepts nothing that the contract would refuse, and gives the contract's reason", async () => {
    const hire = await held();
    keeper.start();
    const wrong = await signers.seller.release(calls.idOf(hire));
    expect(await rejection(relay.release(hire, wrong))).to.include({
      code: "call_refused",
      reason: "InvalidSignature",
    });
    const refund = await signers.seller.refund(calls.idOf(hire));
    expect(await rejection(relay.refund(hire, buyer.address, refund))).to.include({
      reason: "InvalidSignature",
    });
    expect(await refusedBy("/release", { hire: {}, signature: "0x01" })).to.deep.equal([
      400,
      "invalid_input",
      "hire.hire_id",
    ]);
    expect((await app.request("/escrows/zero")).status).to.equal(404);
    expect(await relay.state(calls.idOf(hire))).to.include({ status: "held", amount: AMOUNT });
  });

  it("searches the chain for a settlement once, for any number of requests", async () => {
    const hire = await held();
    const id = calls.idOf(hire);
    let [searches, looks] = [0, 0];
    const counting: EscrowCalls = {
      ...calls,
      state: (of) => {
        looks++;
        return calls.state(of);
      },
      findEvent: (...given) => {
        searches++;
        return calls.findEvent(...given);
      },
    };
    const busy = keeperApp({ calls: counting, keeper });
    const ask = async () =>
      (await (await busy.request(`/escrows/${id}`)).json()) as { [name: string]: unknown };
    expect(await ask()).to.include({ status: "held", tx_hash: null });
    await calls.release(hire, await release(hire));
    while ((await ask()).status === "held");
    [searches, looks] = [0, 0];
    const answers = await Promise.all(Array.from({ length: 50 }, ask));
    for (const answer of answers) {
      expect(answer).to.include({ status: "released", tx_hash: await calls.findEvent(id, "settlement") });
    }
    expect([searches, looks]).to.deep.equal([0, 0]);
  });

  it("relays deposits that pay the provider's fee, deliveries and refunds", async () => {
    keeper.start();
    const free = await hireOf({ fee: 0n, feeRecipient: ZERO_ADDRESS });
    const refused = await rejection(relay.deposit(free, await signers.buyer.authorizeDeposit(free)));
    expect(refused).to.include({ code: "relay_refused" });
    const hire = await hireOf();
    const id = calls.idOf(hire);
    const authorization = await signers.buyer.authorizeDeposit(hire);
    const tx = await relay.deposit(hire, authorization);
    expect(await relay.deposit(hire, authorization), "the same deposit again").to.equal(tx);
    const hash = `0x${"34".repeat(32)}` as const;
    await relay.markDelivered(hire, hash, await signers.seller.markDelivered(id, hash));
    expect(await relay.state(id)).to.deep.equal({ status: "held", delivered: true, amount: AMOUNT });
    await relay.refund(hire, seller.address, await signers.seller.refund(id));
    expect(await relay.state(id)).to.deep.equal({ status: "refunded", delivered: true, amount: 0n });
  });

  it("loses no instruction if it is killed: the next process carries it out", async () => {
    const [first, second] = [await held(), await held()];
    await keeper.release(first, await release(first));
    await keeper.refund(second, seller.address, await signers.seller.refund(calls.idOf(second)));
    // The first keeper never runs a round. The next keeper has only its folder.
    keeper = open();
    expect(await keeper.round()).to.include({ released: 1, refunded: 1, waiting: 0 });
    expect((await calls.state(first)).status).to.equal("released");
    expect((await calls.state(second)).status).to.equal("refunded");
  });

  it("refunds deposits that nobody settled in time, in batches, including deposits that were made while no keeper ran", async () => {
    const soon = BigInt((await chain.now()) + 100);
    const late = [
      await held({ deadline: soon }),
      await held({ deadline: soon }),
      await held({ deadline: soon }),
    ];
    const settled = await held({ deadline: soon });
    await calls.release(settled, await release(settled));
    await keeper.round();
    await keeper.close();
    const meanwhile = await held({ deadline: soon });
    const open_ = await held({ deadline: soon + 1_000n });
    await chain.passTo(Number(soon));
    keeper = open();
    expect(await keeper.round()).to.include({ timedOut: 4 });
    for (const hire of [...late, meanwhile]) expect((await calls.state(hire)).status).to.equal("timedOut");
    expect((await calls.state(open_)).status).to.equal("held");
    expect((await calls.state(settled)).status).to.equal("released");
    expect(await keeper.round()).to.include({ timedOut: 0 });
  });

  it("continues after the chain was away for a while", async () => {
    const hire = await held();
    let isDown = true;
    const flaky: EscrowCalls = {
      ...calls,
      batch: async (items, gasEach) => {
        if (isDown) throw new TypeError("fetch failed");
        return await calls.batch(items, gasEach);
      },
    };
    keeper = createKeeper({ calls: flaky, store: fileStore(`${market.folder}/keeper`), roundMs: 20 });
    await keeper.release(hire, await release(hire));
    expect(await keeper.round()).to.include({ released: 0, waiting: 1 });
    isDown = false;
    expect(await keeper.round()).to.include({ released: 1 });
  });

  it("serves a custom_escrow listing with the same signed instructions, at the listing's URL", async () => {
    keeper.start();
    const mode = "custom_escrow:http://keeper.test";
    const shop = newWallet();
    await market.openSeller({
      account: shop.account,
      listings: [{ capability: MEAN, price_usdc: "0.50", max_latency_ms: 30_000, payment_mode: mode }],
      handlers: { [MEAN]: mean },
      modes: {
        [mode]: escrowMode({
          account: shop.account,
          network: chain.network,
          escrow: chain.escrow,
          relay,
          feeRecipient: treasury.address,
          now,
        }),
      },
      now,
    });
    const client = await market.openBuyer({
      escrows: { [mode]: { escrow: chain.escrow, relay, feeRecipient: treasury.address } },
      now,
    });
    const order = { capability: MEAN, params: { data: [1, 3] }, maxPriceUsdc: "1.00", maxLatencyMs: 60_000 };
    const before = await chain.balanceOf(treasury);
    const hire = await client.hire({ ...order, mode });
    expect(hire).to.include({ money: "released", paymentMode: mode });
    expect(await chain.balanceOf(client.wallet)).to.equal(PURSE - AMOUNT);
    expect(await chain.balanceOf(shop)).to.equal(AMOUNT - escrowFee(AMOUNT));
    expect((await chain.balanceOf(treasury)) - before).to.equal(escrowFee(AMOUNT));
    const error = await rejection(client.hire({ ...order, requireRecovery: true }));
    expect(error, "not a platform escrow").to.include({ code: "no_recovery" });
  });

  it("writes terms as JSON with only texts and whole numbers, so that every language can write the same JSON", () => {
    expect(JSON.stringify(toHireJson({ ...sample }))).to.equal(
      '{"hire_id":"0x01","buyer":"0x02","seller":"0x03","payee":"0x04","amount":"5","fee":"6","fee_recipient":"0x07","deadline":8,"arbiter":"0x09"}',
    );
  });
  const sample: Hire = {
    hireId: "0x01",
    buyer: "0x02",
    seller: "0x03",
    payee: "0x04",
    amount: 5n,
    fee: 6n,
    feeRecipient: "0x07",
    deadline: 8n,
    arbiter: "0x09",
  };

  it("refunds a deposit even if a reorganisation moved it into a block that the keeper has read before", async () => {
    await chain.client.mine({ blocks: 40 });
    const fork = await chain.client.snapshot();
    await chain.client.mine({ blocks: 5 });
    await keeper.round();
    await chain.client.revert({ id: fork });
    const soon = BigInt((await chain.now()) + 100);
    const hire = await held({ deadline: soon });
    await chain.client.mine({ blocks: 6 });
    await chain.passTo(Number(soon));
    await keeper.round();
    expect((await calls.state(hire)).status).to.equal("timedOut");
  });
});
