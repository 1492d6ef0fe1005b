import { expect } from "chai";
import { createMcpContext, readMcpConfig } from "tallystick-mcp/mcpConfig";
import { parseUsdc } from "tallystick-protocol/amount";
import { escrowFee } from "tallystick-protocol/escrow/feeSchedule";
import { createEscrowCalls, type EscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { walletRelay } from "tallystick-sdk/escrow/escrowRelay";
import { createKeeper, type Keeper } from "tallystick-sdk/escrow/keeper";
import { keeperApp } from "tallystick-sdk/escrow/keeperApp";
import { escrowMode } from "tallystick-sdk/seller/escrowMode";
import type { Handler } from "tallystick-sdk/seller/handlers";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { type KeyValueStore, memoryStore } from "tallystick-sdk/store/keyValueStore";
import { type Market, MEAN, mean, NODE, openMarket, PURSE } from "../sdk/support/market.ts";
import { newWallet, PROVIDER, type SdkChain, startSdkChain, type Wallet } from "../sdk/support/sdkChain.ts";
import { isPaid } from "../sdk/support/tamper.ts";
import { connectMcp, serveSearch } from "./support/openMcp.ts";

const PLATFORM = `platform_escrow:${PROVIDER}`;
const KEEPER = "http://keeper.test";
const CUSTOM = `custom_escrow:${KEEPER}`;
const PRICE = parseUsdc("0.50");
const FEE = escrowFee(PRICE);
const ORDER = {
  capability: MEAN,
  params: { data: [1, 2, 6] },
  max_price_usdc: "0.60",
  max_latency_ms: 60_000,
};

describe("tallystick-mcp in escrow mode", () => {
  let chain: SdkChain;
  let market: Market;
  let calls: EscrowCalls;
  let keeper: Keeper;
  let isKeeperDown = false;
  let wallet: Wallet;
  let closing: (() => unknown)[];
  /** The seconds by which a test has moved the clocks ahead: that of the chain, of the seller and of the MCP server. */
  let ahead = 0;
  const now = () => Date.now() + ahead * 1000;
  const treasury = newWallet();

  // Each test has its own chain, because some tests move the chain's clock.
  beforeEach(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
    ahead = 0;
    const deployment = { chainId: chain.network.chainId, escrow: chain.escrow };
    calls = createEscrowCalls({ sender: chain.sender, deployment });
    closing = [];
    market = await openMarket(chain);
    serveSearch(market);
    const worth = { fee: { recipient: treasury.address } };
    keeper = createKeeper({ calls, store: fileStore(`${market.folder}/keeper`), worth, roundMs: 30 });
    keeper.start();
    const app = keeperApp({ calls, keeper });
    isKeeperDown = false;
    market.hosts["keeper.test"] = {
      request: (input, init) => {
        if (isKeeperDown) throw new TypeError("fetch failed");
        return app.request(input, init);
      },
    };
    wallet = newWallet();
    await chain.mint(wallet, PURSE);
  });
  afterEach(async () => {
    for (const close of closing.reverse()) await close();
    await keeper.close();
    await market.close();
    await chain.close();
  });

  async function sell({
    mode = PLATFORM,
    handler = mean,
  }: {
    mode?: string;
    handler?: Handler<typeof MEAN>;
  } = {}) {
    const account = newWallet();
    const modes = {
      [mode]: escrowMode({
        account: account.account,
        network: chain.network,
        escrow: chain.escrow,
        relay: walletRelay(calls),
        feeRecipient: treasury.address,
        now,
      }),
    };
    const listing = { capability: MEAN, price_usdc: "0.50", max_latency_ms: 30_000, payment_mode: mode };
    const seller = await market.openSeller({
      account: account.account,
      listings: [listing],
      handlers: { [MEAN]: handler },
      modes,
      now,
    });
    return { ...seller, wallet: account };
  }

  const allowed = () => ({ escrow: chain.escrow, relay: KEEPER, feeRecipient: treasury.address });
  const environment = (changes: { [name: string]: string } = {}) => ({
    TALLYSTICK_URL: NODE,
    TALLYSTICK_LEDGER: "local",
    TALLYSTICK_PRIVATE_KEY: wallet.privateKey,
    TALLYSTICK_SPEND_CAP_USDC: "1.00",
    TALLYSTICK_CHAIN_ID: String(chain.network.chainId),
    TALLYSTICK_TOKEN: chain.token,
    TALLYSTICK_DEV_MODE: "1",
    TALLYSTICK_ESCROWS: JSON.stringify({ [PLATFORM]: allowed() }),
    ...changes,
  });
  async function connect(changes?: { [name: string]: string }, store: KeyValueStore = memoryStore()) {
    const context = createMcpContext(readMcpConfig(environment(changes)), {
      fetch: market.fetch,
      store,
      now,
      client: chain.client as never,
    });
    const opened = await connectMcp(context);
    closing.push(opened.close);
    return opened.call;
  }
  /** The amount that has left the buyer's wallet. An escrow may still hold it. */
  const spent = async () => PURSE - (await chain.balanceOf(wallet));
  const remaining = async (call: Awaited<ReturnType<typeof connect>>) =>
    (await call("get_remaining_budget")).remaining_usdc;

  it("deposits, verifies and releases, and reports how the hire was paid", async () => {
    const seller = await sell();
    const call = await connect();
    expect((await call("get_remaining_budget")).payment_modes).to.deep.equal(["direct", PLATFORM]);
    const hired = await call("hire_agent", { ...ORDER, payment_mode: "escrow" });
    expect(hired.from_seller?.value.result, hired.error).to.deep.equal({ result: 3 });
    expect(hired).to.deep.include({
      payment_mode: PLATFORM,
      money: "released",
      price_paid_usdc: "0.50",
      remaining_budget_usdc: "0.50",
    });
    expect(hired.next_step).to.contain("released the money to the seller").and.to.contain("rate_agent");
    expect(hired.escrow.contract).to.equal(chain.escrow);
    expect(hired.escrow.deadline).to.be.greaterThan(now() / 1000);
    expect(await calls.state(hired.escrow.escrow_id)).to.include({ status: "released", delivered: true });
    const release = await chain.client.getTransactionReceipt({ hash: hired.settlement_tx });
    expect(release.status).to.equal("success");
    expect(await spent()).to.equal(PRICE);
    expect(await chain.balanceOf(seller.wallet)).to.equal(PRICE - FEE);
    const receipt = await call("verify_receipt", { receipt_hash: hired.receipt_hash });
    expect(receipt).to.include({ valid: true, tx_hash: hired.tx, all_passed: true });
    expect((await call("rate_agent", { receipt_hash: hired.receipt_hash, stars: 4 })).rated).to.equal(true);
    expect((await call("resume_hires")).hires).to.deep.equal([]);
  });

  it("gets a refund if the result does not verify, and may spend the money again", async () => {
    await sell({ handler: () => ({ result: 1e9 }) });
    const call = await connect();
    const hired = await call("hire_agent", { ...ORDER, payment_mode: PLATFORM });
    expect(hired).to.include({ money: "refunded", remaining_budget_usdc: "1.00" });
    expect(hired.verification.all_passed).to.equal(false);
    expect(hired.next_step).to.contain("sent the money back");
    expect(await calls.state(hired.escrow.escrow_id)).to.include({ status: "refunded" });
    expect(await spent()).to.equal(0n);
  });

  it("counts money that an escrow holds as spent, and releases it on request", async () => {
    const seller = await sell();
    const call = await connect({ TALLYSTICK_SPEND_CAP_USDC: "0.80" });
    isKeeperDown = true;
    const hired = await call("hire_agent", { ...ORDER, payment_mode: PLATFORM });
    expect(hired).to.include({ money: "held", settlement_tx: null, remaining_budget_usdc: "0.30" });
    const deadline = new Date(hired.escrow.deadline * 1000).toISOString();
    expect(hired.next_step).to.contain("resume_hires").and.to.contain(deadline);
    const another = { ...ORDER, payment_mode: PLATFORM, idempotency_key: "another" };
    expect((await call("hire_agent", another)).error).to.contain("budget_exceeded");
    expect(await spent()).to.equal(PRICE);
    const waiting = await call("resume_hires");
    expect(waiting.hires[0]).to.include({ hire_id: hired.hire_id, money: "held" });
    expect(waiting.remaining_budget_usdc).to.equal("0.30");
    isKeeperDown = false;
    const [resumed] = (await call("resume_hires")).hires;
    expect(resumed).to.include({ money: "released", all_passed: true, agent_id: seller.address });
    expect(await calls.state(hired.escrow.escrow_id)).to.include({ status: "released" });
    expect(await remaining(call)).to.equal("0.30");
    expect((await call("resume_hires")).hires).to.deep.equal([]);
  });

  it("gives the price of a hire back to the budget after the refund at the deadline", async () => {
    await sell();
    const store = memoryStore();
    const call = await connect({ TALLYSTICK_SPEND_CAP_USDC: "0.80" }, store);
    isKeeperDown = true;
    const hired = await call("hire_agent", { ...ORDER, payment_mode: PLATFORM });
    expect(hired.money).to.equal("held");
    ahead += 300;
    await chain.passTo(Math.floor(now() / 1000));
    const hire = (await calls.deposits(0n, await chain.client.getBlockNumber())).find(
      (it) => calls.idOf(it) === hired.escrow.escrow_id,
    );
    // The keeper, which runs in this process, may be faster.
    await calls.timeoutRefund(hire!).catch(() => {});
    expect((await calls.state(hire!)).status).to.equal("timedOut");
    isKeeperDown = false;
    // The first process reserved the amount. A new process on the same store gives it back to the budget.
    const next = await connect({ TALLYSTICK_SPEND_CAP_USDC: "0.80" }, store);
    expect(await remaining(next)).to.equal("0.30");
    const { hires, remaining_budget_usdc } = await next("resume_hires");
    expect(hires[0]).to.include({ money: "refunded" });
    expect(remaining_budget_usdc).to.equal("0.80");
    expect(await spent()).to.equal(0n);
  });

  for (const knowsJob of [false, true]) {
    it(`ends a reservation if the seller delivers and never deposits${knowsJob ? ", and repeats its result" : ""}`, async () => {
      const seller = await sell();
      const call = await connect({ TALLYSTICK_SPEND_CAP_USDC: "0.80" });
      market.hosts[seller.host] = {
        request: (input, init) => {
          if (isPaid(init)) return Response.json({ result: 3 });
          const isLookUp = knowsJob && input.includes("/jobs/");
          return isLookUp
            ? Response.json({ status: "completed", result: 3 })
            : seller.direct.request(input, init);
        },
      };
      const hired = await call("hire_agent", { ...ORDER, payment_mode: PLATFORM });
      expect(hired.from_seller.value.result).to.deep.equal({ result: 3 });
      expect(hired.money).to.equal("authorized");
      expect(hired.next_step).to.contain("can deposit until").and.to.contain("resume_hires");
      expect(await remaining(call)).to.equal("0.30");
      isKeeperDown = true;
      expect((await call("resume_hires")).hires[0].money).to.equal(knowsJob ? "held" : "authorized");
      isKeeperDown = false;
      expect((await call("resume_hires")).hires[0]).to.include({ money: "authorized" });
      ahead += 300;
      await chain.passTo(Math.floor(now() / 1000));
      expect((await call("resume_hires")).hires[0]).to.include({ money: "none" });
      expect(await remaining(call)).to.equal("0.80");
      expect(await spent()).to.equal(0n);
    });
  }

  it("resumes no hire that is running, and no hire whose escrow was removed from the list", async () => {
    const [begun, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await sell({
      handler: async (params) => {
        begun.resolve();
        await goOn.promise;
        return mean(params);
      },
    });
    const store = memoryStore();
    const call = await connect({}, store);
    const hiring = call("hire_agent", { ...ORDER, payment_mode: PLATFORM });
    await begun.promise;
    expect((await call("resume_hires")).hires).to.deep.equal([]);
    isKeeperDown = true;
    goOn.resolve();
    expect((await hiring).money).to.equal("held");
    isKeeperDown = false;
    const without = await connect({ TALLYSTICK_ESCROWS: "" }, store);
    const [left] = (await without("resume_hires")).hires;
    expect(left).to.include({ money: "authorized", settlement_tx: null });
    expect(left.next_step).to.contain("no_recovery");
    expect((await call("resume_hires")).hires[0]).to.include({ money: "released" });
  });

  it("pays into a custom escrow whose keeper is at the URL in the payment mode", async () => {
    await sell({ mode: CUSTOM });
    const { relay: _, ...escrow } = allowed();
    const call = await connect({ TALLYSTICK_ESCROWS: JSON.stringify({ [CUSTOM]: escrow }) });
    const hired = await call("hire_agent", { ...ORDER, payment_mode: CUSTOM });
    expect(hired, hired.error).to.include({ payment_mode: CUSTOM, money: "released" });
    expect(await spent()).to.equal(PRICE);
  });

  it("pays into an escrow only if the operator listed the escrow and the call asks for it", async () => {
    await sell();
    const order = { ...ORDER, payment_mode: "escrow" };
    const unlisted = await connect({ TALLYSTICK_ESCROWS: "" });
    expect((await unlisted("hire_agent", order)).error)
      .to.contain("no_recovery")
      .and.to.contain("TALLYSTICK_ESCROWS");
    const other = JSON.stringify({ [PLATFORM]: { ...allowed(), escrow: newWallet().address } });
    const elsewhere = await connect({ TALLYSTICK_ESCROWS: other });
    expect((await elsewhere("hire_agent", order)).error).to.contain("payee_changed");
    const direct = await connect();
    expect((await direct("hire_agent", ORDER)).error).to.contain("no_seller");
    const limited = await connect({ TALLYSTICK_MAX_PER_HIRE_USDC: "0.40" });
    expect((await limited("hire_agent", order)).error).to.contain("above_limit_per_hire");
    expect(await spent()).to.equal(0n);
  });

  it("names each wrong field in the setting of escrows", () => {
    const issuesOf = (escrows: string): string[] => {
      try {
        readMcpConfig(environment({ TALLYSTICK_ESCROWS: escrows }));
      } catch (error) {
        return (error as { issues: { field: string }[] }).issues.map(({ field }) => field);
      }
      return [];
    };
    expect(issuesOf("0x1=provider")).to.deep.equal(["TALLYSTICK_ESCROWS"]);
    expect(issuesOf(JSON.stringify({ direct: allowed() }))).to.deep.equal(["TALLYSTICK_ESCROWS.direct"]);
    const { relay: _, ...keeperless } = allowed();
    expect(issuesOf(JSON.stringify({ [PLATFORM]: keeperless }))).to.deep.equal([
      `TALLYSTICK_ESCROWS.${PLATFORM}.relay`,
    ]);
    expect(issuesOf(JSON.stringify({ [PLATFORM]: { ...allowed(), escrow: "0x1" } }))).to.deep.equal([
      `TALLYSTICK_ESCROWS.${PLATFORM}.escrow`,
    ]);
    expect(issuesOf(JSON.stringify({ [PLATFORM]: { ...allowed(), spender: "me" } }))).to.have.length(1);
  });
});
