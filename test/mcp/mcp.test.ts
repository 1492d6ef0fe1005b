import { readFileSync } from "node:fs";
import path from "node:path";
import { serve } from "@hono/node-server";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { expect } from "chai";
import { createMcpApp } from "tallystick-mcp/createMcpApp";
import { createMcpContext, readMcpConfig } from "tallystick-mcp/mcpConfig";
import { createClarification } from "tallystick-sdk/clarify/createClarification";
import type { SettlementMode } from "tallystick-sdk/seller/job";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { type Market, MEAN, mean, NODE, openMarket, PURSE } from "../sdk/support/market.ts";
import { newWallet, type SdkChain, startSdkChain, type Wallet } from "../sdk/support/sdkChain.ts";
import { API_KEY } from "../settlement/support/testService.ts";
import { callOf, connectMcp, serveSearch } from "./support/openMcp.ts";

const RESEARCH = "custom.acme.research";
const TOOLS = [
  "cancel_hire",
  "check_reputation",
  "check_settlement",
  "clarify",
  "dispatch_task",
  "get_hire",
  "get_remaining_budget",
  "hire_agent",
  "ledger_status",
  "list_capabilities",
  "my_receipts",
  "publish_listing",
  "rate_agent",
  "resume_hires",
  "search_agents",
  "settle_action",
  "verify_receipt",
];

describe("tallystick-mcp", () => {
  let chain: SdkChain;
  let market: Market;
  let wallet: Wallet;
  let closing: (() => unknown)[];

  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
    market = await openMarket(chain);
    serveSearch(market);
    await market.openSeller({
      listings: [{ capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 }],
      handlers: { [MEAN]: mean },
    });
    const researcher = newWallet();
    const desk = createClarification({
      account: researcher.account,
      store: memoryStore(),
      capabilities: [RESEARCH],
      answer: ({ params }) => ({
        quote: { priceUsdc: Number(params.words) > 99 ? "0.80" : "0.30", estimatedLatencyMs: 900, params },
      }),
    });
    const seller = await market.openSeller({
      account: researcher.account,
      listings: [
        { capability: RESEARCH, price_usdc: "0.10", max_latency_ms: 30_000, clarification_supported: true },
      ],
      handlers: { [RESEARCH]: ({ words }) => ({ text: "word ".repeat(Number(words)) }) },
      schemas: { [RESEARCH]: { input: { type: "object" }, output: { type: "object" } } },
      redeemQuote: desk.redeemQuote,
    });
    seller.app.route("/", desk.app);
  });
  after(async () => {
    await market.close();
    await chain.close();
  });
  beforeEach(async () => {
    closing = [];
    wallet = newWallet();
    await chain.mint(wallet, PURSE);
  });
  afterEach(async () => {
    for (const close of closing.reverse()) await close();
  });

  const environment = (changes: { [name: string]: string } = {}) => ({
    TALLYSTICK_URL: NODE,
    TALLYSTICK_LEDGER: "local",
    TALLYSTICK_PRIVATE_KEY: wallet.privateKey,
    TALLYSTICK_SPEND_CAP_USDC: "1.00",
    TALLYSTICK_MAX_PER_HIRE_USDC: "0.50",
    TALLYSTICK_CHAIN_ID: String(chain.network.chainId),
    TALLYSTICK_TOKEN: chain.token,
    TALLYSTICK_DEV_MODE: "1",
    TALLYSTICK_API_KEY: API_KEY,
    ...changes,
  });
  const contextOf = (changes?: { [name: string]: string }) =>
    createMcpContext(readMcpConfig(environment(changes)), {
      fetch: market.fetch,
      store: memoryStore(),
      client: chain.client as never,
    });

  /** Serves the app on a free port of this machine, and gives its URL. */
  const serving = (app: { fetch: (request: Request) => Response | Promise<Response> }): Promise<string> =>
    new Promise((resolve) => {
      const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 }, ({ port }) =>
        resolve(`http://127.0.0.1:${port}`),
      );
      closing.push(() => server.close());
    });
  async function connect(changes?: { [name: string]: string }) {
    const opened = await connectMcp(contextOf(changes));
    closing.push(opened.close);
    return opened;
  }

  it("offers its tools with output schemas and annotations", async () => {
    const { client } = await connect();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).to.deep.equal(TOOLS);
    const page = readFileSync(path.join(repositoryRoot, "docs/mcp.md"), "utf8");
    const [, table = ""] = /\n## Tools\n([\s\S]*?)\nEvery tool/.exec(page) ?? [];
    expect(
      TOOLS.filter((name) => !table.includes(`\`${name}\``)),
      "docs/mcp.md",
    ).to.deep.equal([]);
    expect(page).to.contain(`${TOOLS.length} tools: ${tools.map(({ name }) => `\`${name}\``).join(", ")}.`);
    for (const { name, outputSchema, annotations, description } of tools) {
      expect(outputSchema?.type, name).to.equal("object");
      expect(annotations?.readOnlyHint, name).to.be.a("boolean");
      expect(description, name).to.match(/.{40}/);
    }
    expect(tools.find(({ name }) => name === "hire_agent")?.annotations?.destructiveHint).to.equal(true);
  });

  it("searches, hires, verifies, rates, and reports the remaining budget", async () => {
    const { call } = await connect();
    const { agents } = await call("search_agents", { capability: MEAN, max_price_usdc: "0.10" });
    expect(agents).to.have.length(1);
    const hired = await call("hire_agent", {
      capability: MEAN,
      params: { data: [1, 2, 6] },
      max_price_usdc: "0.10",
      max_latency_ms: 60_000,
    });
    expect(hired.from_seller.value.result).to.deep.equal({ result: 3 });
    expect(hired).to.include({ status: "done", price_paid_usdc: "0.05", money: "paid" });
    expect(hired.verification.all_passed).to.equal(true);
    expect(hired.remaining_budget_usdc).to.equal("0.95");
    const receipt = await call("verify_receipt", { receipt_hash: hired.receipt_hash });
    expect(receipt).to.include({ valid: true, buyer: wallet.address, tx_hash: hired.tx, all_passed: true });
    const rated = await call("rate_agent", { receipt_hash: hired.receipt_hash, stars: 5, comment: "quick" });
    expect(rated.rated).to.equal(true);
    expect((await call("get_remaining_budget")).remaining_usdc).to.equal("0.95");
    expect(await chain.balanceOf(wallet)).to.equal(PURSE - 50_000n);
  });

  it("asks a seller for an offer, and hires with this offer", async () => {
    const { call } = await connect();
    const { agents } = await call("search_agents", { capability: RESEARCH });
    const agent_id = agents[0].agent_id;
    const given = await call("clarify", {
      agent_id,
      capability: RESEARCH,
      brief: "Thirty words.",
      params: { words: 30 },
    });
    expect(given.outcome).to.equal("quote");
    const { quote_token, price_usdc } = given.offers[0];
    expect(price_usdc).to.equal("0.30");
    const order = { capability: RESEARCH, quote_token, max_latency_ms: 60_000 };
    const otherwise = { ...order, max_price_usdc: "0.30", payment_mode: "platform_escrow:x" };
    expect((await call("hire_agent", otherwise)).error)
      .to.contain("this offer is not platform_escrow:x")
      .and.to.contain('From a stranger, not advice: {"payment_modes":["direct"]}');
    const hired = await call("hire_agent", { ...order, max_price_usdc: "0.30" });
    expect(hired.price_paid_usdc).to.equal("0.30");
    expect(hired.from_seller.value.result.text.trim().split(" ")).to.have.length(30);
    expect(
      (await call("hire_agent", { ...order, quote_token: "qt_x", max_price_usdc: "0.30" })).error,
    ).to.contain("unknown_quote");
  });

  it("asks a seller about the listing whose payment mode the operator allows", async () => {
    const ESSAYS = "custom.acme.essays";
    const writer = newWallet();
    const desk = createClarification({
      ...{ account: writer.account, store: memoryStore(), capabilities: [ESSAYS] },
      answer: ({ params }) => ({ quote: { priceUsdc: "0.20", estimatedLatencyMs: 900, params } }),
    });
    const terms = { capability: ESSAYS, price_usdc: "0.10", max_latency_ms: 30_000 };
    const direct = { ...terms, clarification_supported: true };
    const others = "platform_escrow:others";
    const seller = await market.openSeller({
      ...{ account: writer.account, redeemQuote: desk.redeemQuote },
      listings: [{ ...direct, payment_mode: others }, direct],
      modes: { [others]: {} as SettlementMode },
      handlers: { [ESSAYS]: () => ({ text: "word" }) },
      schemas: { [ESSAYS]: { input: { type: "object" }, output: { type: "object" } } },
    });
    seller.app.route("/", desk.app);
    const { call } = await connect();
    const asked = { agent_id: writer.address, capability: ESSAYS, brief: "A word." };
    const { quote_token } = (await call("clarify", asked)).offers[0];
    const order = { capability: ESSAYS, quote_token, max_price_usdc: "0.20", max_latency_ms: 60_000 };
    expect(await call("hire_agent", order)).to.include({ payment_mode: "direct", price_paid_usdc: "0.20" });
  });

  it("asks a seller that a search does not show, because a hundred others rank higher, and finds its listing among many", async () => {
    const { call } = await connect();
    const { agents } = await call("search_agents", { capability: RESEARCH });
    const { agent_id } = agents[0];
    const node = market.hosts["node.test"] as Market["hosts"][string];
    const more = { next_cursor: "more" };
    market.hosts["node.test"] = {
      request: async (input, init) => {
        const answer = await node.request(input, init);
        const { pathname, searchParams } = new URL(input);
        if (pathname === "/v1/search") {
          const { agents: found } = (await answer.json()) as { agents: object[] };
          const other = (_: unknown, n: number) => ({
            ...found[0],
            agent_id: `0x${String(n).padStart(40, "0")}`,
          });
          return Response.json({ agents: Array.from({ length: 100 }, other), ...more });
        }
        if (!pathname.endsWith("/listings") || searchParams.has("cursor")) return answer;
        const { listings } = (await answer.json()) as { listings: object[] };
        const retired = listings.map((listing) => ({ ...listing, retired: true }));
        return Response.json({ agent_id, listings: retired, ...more });
      },
    };
    try {
      const asked = { agent_id, capability: RESEARCH, brief: "Thirty words.", params: { words: 30 } };
      expect((await call("clarify", asked)).outcome).to.equal("quote");
      const other = await call("clarify", { ...asked, capability: "custom.acme.other" });
      expect(other.error).to.match(/^clarification_not_supported: /);
    } finally {
      market.hosts["node.test"] = node;
    }
  });

  it("sends no question and no hire to an agent that is suspended for its SLA, even with an earlier offer", async () => {
    const { call } = await connect();
    const { agents } = await call("search_agents", { capability: RESEARCH });
    const asked = { agent_id: agents[0].agent_id, capability: RESEARCH, brief: "Thirty words." };
    const { offers } = await call("clarify", { ...asked, params: { words: 30 } });
    const node = market.hosts["node.test"] as Market["hosts"][string];
    const suspended_until = 1_800_000_000;
    market.hosts["node.test"] = {
      request: async (input, init) => {
        if (input.endsWith("/sla")) return Response.json({ sla_status: { suspended_until } });
        const answer = await node.request(input, init);
        if (!input.endsWith("/v1/search")) return answer;
        const found = (await answer.json()) as { agents: object[] };
        const steward = { score: 0.5, tier: "VERIFIED", suspended_until };
        return Response.json({ ...found, agents: found.agents.map((it) => ({ ...it, steward })) });
      },
    };
    try {
      const order = { capability: RESEARCH, max_price_usdc: "0.30", max_latency_ms: 60_000 };
      const { quote_token } = offers[0];
      expect((await call("hire_agent", { ...order, quote_token })).error).to.contain("seller_suspended");
      const named = { ...order, agent_id: asked.agent_id, params: { words: 30 } };
      expect((await call("hire_agent", named)).error).to.contain("seller_suspended");
      expect((await call("clarify", asked)).error).to.contain("seller_suspended");
      expect((await call("get_remaining_budget")).remaining_usdc).to.equal("1.00");
    } finally {
      market.hosts["node.test"] = node;
    }
  });

  it("applies the operator's limit for one hire to hires by an offer too", async () => {
    const { call } = await connect();
    const { agents } = await call("search_agents", { capability: RESEARCH });
    const asked = { agent_id: agents[0].agent_id, capability: RESEARCH, brief: "A hundred words." };
    const given = await call("clarify", { ...asked, params: { words: 100 } });
    const { quote_token, price_usdc } = given.offers[0];
    expect(price_usdc).to.equal("0.80");
    const order = { capability: RESEARCH, quote_token, max_latency_ms: 60_000 };
    const above = await call("hire_agent", { ...order, max_price_usdc: "0.80" });
    expect(above.error).to.contain("above_limit_per_hire");
    expect((await call("hire_agent", { ...order, max_price_usdc: "0.50" })).error).to.contain("Money: none");
    expect((await call("get_remaining_budget")).remaining_usdc).to.equal("1.00");
  });

  it("pays nothing without a spend cap, above the cap, or above the limit for one hire", async () => {
    const order = { capability: MEAN, params: { data: [1] }, max_price_usdc: "0.05", max_latency_ms: 60_000 };
    const uncapped = await connect({ TALLYSTICK_SPEND_CAP_USDC: "", TALLYSTICK_MAX_PER_HIRE_USDC: "" });
    expect((await uncapped.call("hire_agent", order)).error).to.contain("no_spend_cap");
    expect((await uncapped.call("rate_agent", { receipt_hash: "0".repeat(64), stars: 5 })).error).to.contain(
      "no_spend_cap",
    );
    const { call } = await connect({
      TALLYSTICK_SPEND_CAP_USDC: "0.08",
      TALLYSTICK_MAX_PER_HIRE_USDC: "0.06",
    });
    expect((await call("hire_agent", { ...order, max_price_usdc: "0.07" })).error).to.contain(
      "above_limit_per_hire",
    );
    expect((await call("hire_agent", order)).money).to.equal("paid");
    const again = { ...order, idempotency_key: "once-more" };
    expect((await call("hire_agent", again)).error).to.contain("budget_exceeded");
    expect(await chain.balanceOf(wallet)).to.equal(PURSE - 50_000n);
    const reader = await connect({ TALLYSTICK_PRIVATE_KEY: "" });
    expect((await reader.call("hire_agent", order)).error).to.contain("no_wallet");
    expect((await reader.call("my_receipts")).error).to.contain("no_wallet");
    expect((await reader.call("ledger_status")).size).to.be.greaterThan(0);
  });

  it("names the faults in a request, field by field", async () => {
    const { call } = await connect();
    const order = { capability: MEAN, max_price_usdc: "0.05", max_latency_ms: 60_000 };
    expect((await call("hire_agent", { ...order, params: { data: ["one"] } })).error).to.contain(
      "params.data.0",
    );
    expect((await call("hire_agent", { ...order, capability: "text.sing.it", params: {} })).error).to.contain(
      "unknown_capability",
    );
    expect((await call("list_capabilities", { capability: "text.sing.it" })).error).to.contain(
      "unknown_capability",
    );
  });

  it("lists capabilities, and one capability with its schemas", async () => {
    const { call } = await connect();
    const all = (await call("list_capabilities")).capabilities;
    expect(all.length).to.be.greaterThan(20);
    expect(all[0]).not.to.have.property("input");
    const [one] = (await call("list_capabilities", { capability: MEAN })).capabilities;
    expect(one.input.properties.data.type).to.equal("array");
    expect(one.checks).to.include("matches_recomputation");
  });

  it("publishes listings of its wallet, and only for known capabilities", async () => {
    const { call } = await connect();
    const listing = { capability: MEAN, price_usdc: "0.02", max_latency_ms: 900, endpoint: "http://me.test" };
    const published = await call("publish_listing", listing);
    expect(published).to.include({ status: "SETTLED", agent_id: wallet.address });
    expect(await call("check_settlement", { hash: published.hash })).to.include({ settled: true });
    const wrong = { ...listing, capability: "text.sing.it" };
    const size = market.ledger.ledger.size;
    expect((await call("publish_listing", wrong)).error)
      .to.contain("unknown_capability")
      .and.to.contain("text.translate.{source}.{target}");
    expect(market.ledger.ledger.size).to.equal(size);
    expect((await call("publish_listing", { ...wrong, retired: true })).status).to.equal("SETTLED");
    const clarified = { ...listing, clarification_supported: true };
    expect((await call("publish_listing", clarified)).error).to.contain("clarification_supported");
  });

  it("denies actions that no rule allows, and finds no settlement for them", async () => {
    const { call } = await connect();
    const action = { type: "terminal", program: "rm", args: ["-rf", "/"], cwd: "/" };
    expect(await call("settle_action", { action, context: "clean up" })).to.deep.include({
      proceed: false,
      settlement_token: null,
    });
    expect((await call("settle_action", { action: { type: "terminal", command: "ls" } })).proceed).to.equal(
      false,
    );
    const forged = await call("check_settlement", { settlement_token: "tst_a.b", action });
    expect(forged).to.deep.equal({ settled: false, reason: "The token is no settlement token." });
    expect((await call("check_settlement", { task_id: "nothing" })).settled).to.equal(false);
    expect((await call("check_settlement", { hash: "0".repeat(64) })).settled).to.equal(false);
    expect((await call("check_settlement")).error).to.contain("task_id");
    const keyless = await connect({ TALLYSTICK_API_KEY: "" });
    expect((await keyless.call("settle_action", { action })).error).to.contain("do not act");
  });

  it("serves many clients over streamable HTTP: clients on this machine, or clients with the key", async () => {
    const context = contextOf();
    const listen = (bearerKey?: string) => serving(createMcpApp({ context, host: "127.0.0.1", bearerKey }));
    const open = async (url: string, headers: { [name: string]: string } = {}) => {
      const client = new Client({ name: "http", version: "1" });
      await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
      closing.push(() => client.close());
      return callOf(client);
    };
    // How many bytes of a body a server with a key reads if the caller sends no key.
    const bytesReadWithoutKey = async (path: string): Promise<number> => {
      let read = 0;
      const body = new ReadableStream<Uint8Array>(
        {
          pull: (controller) => {
            read += 4_096;
            controller.enqueue(new Uint8Array(4_096).fill(0x20));
            if (read > 1_000_000) controller.close();
          },
        },
        { highWaterMark: 0 },
      );
      const app = createMcpApp({ context, host: "0.0.0.0", bearerKey: "a key of sixteen letters" });
      const headers = { "content-type": "application/json" };
      const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
      const request = new Request(`http://node.example${path}`, init);
      expect((await app.request(request)).status).to.equal(401);
      return read;
    };
    const url = `${await listen()}/mcp`;
    const [first, second] = await Promise.all([open(url), open(url)]);
    expect((await first("ledger_status")).size).to.be.greaterThan(0);
    const order = {
      capability: MEAN,
      params: { data: [2, 4] },
      max_price_usdc: "0.05",
      max_latency_ms: 60_000,
    };
    expect((await first("hire_agent", order)).from_seller.value.result).to.deep.equal({ result: 3 });
    expect((await second("get_remaining_budget")).remaining_usdc).to.equal("0.95");
    const foreign = await fetch(url, {
      method: "POST",
      headers: { origin: "https://evil.example" },
      body: "{}",
    });
    expect(foreign.status).to.equal(403);

    const closed = `${await listen("a key of sixteen letters")}/mcp`;
    expect((await fetch(closed, { method: "POST", body: "{}" })).status).to.equal(401);
    for (const path of ["/mcp", "/", "/health", "/mcp/"])
      expect(await bytesReadWithoutKey(path), path).to.equal(0);
    expect((await fetch(closed.replace("/mcp", "/health"))).status).to.equal(200);
    const call = await open(closed, { authorization: "Bearer a key of sixteen letters" });
    expect((await call("get_remaining_budget")).spend_cap_usdc).to.equal("1.00");
    expect(() => createMcpApp({ context, host: "0.0.0.0" })).to.throw("could spend");
  });

  it("serves a client over stdio as a separate process", async () => {
    const url = await serving({
      fetch: (request) => market.fetch(NODE + new URL(request.url).pathname, request),
    });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: nodeProgram("scripts/cli.ts", ["mcp"]),
      cwd: repositoryRoot,
      env: {
        PATH: process.env.PATH ?? "",
        ...environment({ TALLYSTICK_URL: url }),
      },
    });
    const client = new Client({ name: "stdio", version: "1" });
    // A busy machine may need longer than the client's default of a minute to start the process.
    await client.connect(transport, { timeout: 170_000 });
    closing.push(() => client.close());
    const call = callOf(client);
    expect((await client.listTools()).tools).to.have.length(TOOLS.length);
    expect((await call("ledger_status")).size).to.equal(market.ledger.ledger.size);
    expect((await call("get_remaining_budget")).wallet).to.equal(wallet.address);
  });

  it("names every setting that is wrong", () => {
    const wrong = {
      TALLYSTICK_PRIVATE_KEY: "secret",
      TALLYSTICK_SPEND_CAP_USDC: "lots",
      TALLYSTICK_URL: "node",
    };
    expect(() => readMcpConfig(wrong))
      .to.throw()
      .with.property("issues")
      .that.has.length(3);
    const alone = { TALLYSTICK_URL: NODE, TALLYSTICK_MAX_PER_HIRE_USDC: "1" };
    expect(() => readMcpConfig(alone)).to.throw("TALLYSTICK_SPEND_CAP_USDC");
  });
});
