import { once } from "node:events";
import { readFileSync } from "node:fs";
import { type AddressInfo, connect } from "node:net";
import path from "node:path";
import { text } from "node:stream/consumers";
import { type ServerType, serve } from "@hono/node-server";
import { expect } from "chai";
import type { Hono } from "hono";
import { fetchContextSlice } from "tallystick-sdk/contextSlice";
import { settle } from "tallystick-sdk/settle";
import { shadowAudit } from "tallystick-sdk/shadowAudit";
import { privateKeyToAccount } from "viem/accounts";
import { forwardSettlement } from "../../indexer/api/forwardSettlement.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { bound, buyer, envelope, listingBody, receiptBody, seller } from "./support/records.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";
import { API_KEY, openTestService, type TestService } from "./support/testService.ts";

const operator = privateKeyToAccount(`0x${"55".repeat(32)}`);

/** Serves an app on a free port of this machine. */
async function listen(app: Hono): Promise<{ server: ServerType; port: number; url: string }> {
  const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: 0 });
  if (!server.listening) await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return { server, port, url: `http://127.0.0.1:${port}` };
}

describe("settlement behind the indexer's origin", () => {
  const folder = temporaryFolder();
  let service: TestService;
  let servers: ServerType[];
  let baseUrl: string;
  let port: number;

  const open = async (environment: { [name: string]: string } = {}): Promise<void> => {
    service = await openTestService(folder.path, { OPERATOR: operator.address, ...environment });
    const inner = await listen(service.app);
    const outer = await listen(forwardSettlement(inner.url));
    servers = [inner.server, outer.server];
    [baseUrl, port] = [outer.url, outer.port];
  };
  afterEach(async () => {
    for (const server of servers) server.close();
    await service.close();
  });

  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  type Answer = { status: number; headers: Headers; json: any };
  const ask = async (
    path: string,
    body?: unknown,
    headers: { [name: string]: string } = {},
  ): Promise<Answer> => {
    const post = body === undefined ? {} : { method: "POST", body: JSON.stringify(body) };
    const response = await fetch(`${baseUrl}${path}`, { headers, ...post });
    const raw = await response.text();
    const isJson = /json\b/.test(response.headers.get("content-type") ?? "") && !path.includes("entries");
    return { status: response.status, headers: response.headers, json: isJson ? JSON.parse(raw) : raw };
  };
  it("is enough for an agent's loop: context, settlement, shadow, review", async () => {
    await open();
    const work = async ({ slice }: { slice: { [key: string]: unknown } }) => ({
      dataUpdate: { count: Number(slice.count ?? 0) + 1 },
      confidenceScore: 0.95,
    });
    const run = (more: object = {}) =>
      settle({ baseUrl, apiKey: API_KEY, taskId: "task-1", keywords: ["count"], work, ...more });
    expect(await run()).to.include({ status: "SETTLED", index: 0, attempts: 1 });
    let worked = 0;
    const drifting = async (context: Parameters<typeof work>[0]) => {
      if (worked++ === 0) await run({ taskId: "other" });
      return work(context);
    };
    expect(await run({ work: drifting })).to.include({ status: "SETTLED", index: 2, attempts: 2 });
    const { slice, parentHash } = await fetchContextSlice({ baseUrl, keywords: ["count"] });
    expect([slice, parentHash]).to.deep.equal([{ count: 3 }, service.ledger.head]);

    const shadow = async () => ({ dataUpdate: { count: "no idea" }, confidenceScore: 0.2 });
    const held = await run({ work: shadowAudit(work, { shadow }) });
    expect(held.status).to.equal("ESCROWED");
    const { id } = held as { id: string };
    const key = { authorization: `Bearer ${API_KEY}` };
    expect((await ask("/v1/reviews")).headers.get("www-authenticate")).to.contain("Bearer");
    expect((await ask("/v1/reviews", undefined, key)).json.items[0].id).to.equal(id);
    const decision = { proposal: id, decision: "release", reason: "the shadow was lost" };
    const review = await ask(`/v1/reviews/${id}`, await bound("review", decision, operator));
    expect(review.status).to.equal(201);
    expect((await ask(`/v1/reviews/${id}`, undefined, key)).json.review.decision).to.equal("release");
    expect((await ask("/v1/status/task-1")).json.hash).to.equal(review.json.released.hash);
  });

  it("accepts every record and gives every proof", async () => {
    await open();
    const listing = await ask("/v1/listings", await envelope(listingBody()));
    const receipt = await ask("/v1/receipts", await envelope(receiptBody()));
    expect([listing.status, receipt.status]).to.deep.equal([201, 201]);
    const about = { receipt: receipt.json.hash };
    const rating = await bound("rating", { ...about, side: "buyer", stars: 5 }, buyer);
    const token = { rating_token: receipt.json.rating_tokens.buyer };
    expect((await ask("/v1/rate", { ...rating, ...token })).status).to.equal(201);
    const telemetry = { ...about, latency_ms: 700, verification: { all_passed: true, checks: {} } };
    expect((await ask("/telemetry", await bound("telemetry", telemetry, buyer))).status).to.equal(201);
    const proposal = { task_id: "t", proposal: "ab".repeat(32) };
    expect((await ask("/v1/stake", await bound("stake", proposal, seller))).status).to.equal(201);
    expect(
      (await ask("/v1/verify", await bound("verify", { ...proposal, verdict: "good" }, buyer))).status,
    ).to.equal(201);
    expect((await ask("/v1/contest", await bound("contest", proposal, operator))).status).to.equal(201);
    expect((await ask("/v1/params", await bound("params", { version: 1 }, operator))).status).not.to.equal(
      404,
    );
    expect((await ask("/v1/claim", {})).json.code).to.equal("claims_unavailable");
    expect((await ask("/v1/claim/verify", {})).json.code).to.equal("claims_unavailable");

    const { size } = service.ledger;
    expect((await ask("/v1/ledger/latest")).json).to.include({ size, hash: service.ledger.head });
    expect((await ask("/v1/ledger/verify")).json).to.include({ valid: true, size });
    // The indexer itself answers this route of a ledger.
    expect((await ask("/v1/ledger/entries?from=0&to=2")).status).to.equal(404);
    // The service makes a checkpoint at fixed times, here at most a second later.
    while (!(await ask("/v1/ledger/checkpoint")).json.includes(`\n${size}\n`)) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect((await ask("/v1/ledger/key")).json).to.contain("+");
    expect((await ask(`/v1/ledger/proof?index=1&size=${size}`)).json.leaf_hash).to.be.a("string");
    expect((await ask("/v1/ledger/consistency?from=1")).json.proof).to.be.an("array");
    const bundle = await ask("/v1/ledger/bundle?index=1");
    expect(bundle.headers.get("content-disposition")).to.contain("entry-1.proof");
    expect((await ask("/tlog/checkpoint")).json).to.contain(`\n${size}\n`);
    const tile = await ask("/tlog/tile/0/000.p/2");
    expect([tile.status, tile.headers.get("cache-control")]).to.deep.equal([
      200,
      "public, max-age=31536000, immutable",
    ]);
    const rules = await ask("/v1/rules");
    expect([rules.status, rules.headers.get("x-rules-version")]).to.deep.equal([200, "0"]);
  });

  it("limits each client separately if settlement knows the proxy, and gives the remaining budget", async () => {
    await open({ RATE_LIMIT_PER_ADDRESS: "1", RATE_LIMIT_PER_KEY: "2", TRUST_PROXY: "2" });
    const from = (address: string) => ask("/v1/listings", {}, { "x-forwarded-for": address });
    const first = await from("1.1.1.1");
    expect([first.status, first.headers.get("ratelimit")]).to.deep.equal([
      400,
      "limit=1, remaining=0, reset=60",
    ]);
    expect(first.headers.get("ratelimit-policy")).to.equal("1;w=60");
    const second = await from("9.9.9.9, 1.1.1.1");
    expect([second.status, second.headers.get("retry-after")]).to.deep.equal([429, "60"]);
    expect((await from("2.2.2.2")).status).to.equal(400);
    const withKey = await ask("/v1/settle", {}, { authorization: `Bearer ${API_KEY}` });
    expect(withKey.headers.get("ratelimit")).to.equal("limit=2, remaining=1, reset=60");
  });

  it("limits each client separately behind the proxies of the compose file: TLS, balancer and replica", async () => {
    const compose = readFileSync(path.join(repositoryRoot, "compose.yaml"), "utf8");
    const [, proxies = ""] = /TRUST_PROXY: \$\{COMPOSE_TRUST_PROXY:-([0-9])\}/.exec(compose) ?? [];
    await open({ RATE_LIMIT_PER_ADDRESS: "1", TRUST_PROXY: proxies });
    // The header has an address that the client wrote, then the client's own address from the TLS proxy, then the
    // proxy's address from the balancer. The replica adds the balancer's address.
    const from = (client: string, wrote: string) =>
      ask("/v1/listings", {}, { "x-forwarded-for": `${wrote}, ${client}, 172.18.0.1` });
    expect((await from("1.1.1.1", "8.8.8.8")).status).to.equal(400);
    expect((await from("1.1.1.1", "9.9.9.9")).status).to.equal(429);
    expect((await from("2.2.2.2", "8.8.8.8")).status).to.equal(400);
  });

  it("forwards to no other path of settlement, however a request spells the path", async () => {
    await open();
    for (const path of [
      "/v1/ledger/../../metrics",
      "/v1/ledger/%2e%2e/%2E%2e/metrics",
      "/tlog/..%2fmetrics",
      "/tlog//../metrics",
    ]) {
      const socket = connect(port, "127.0.0.1");
      socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`);
      const answer = await text(socket);
      expect(answer, path).to.match(/^HTTP\/1\.1 (?:400|404) /);
      expect(answer, path).not.to.contain("tallystick_ledger_entries");
    }
  });
});
