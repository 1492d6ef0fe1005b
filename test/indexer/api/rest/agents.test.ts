import { globSync, readFileSync } from "node:fs";
import { Validator } from "@seriousme/openapi-schema-validator";
import { expect } from "chai";
import type { Snapshot } from "tallystick-derive/snapshot";
import { servePortal } from "../../../../indexer/api/portal/servePortal.ts";
import type {
  ClusterResponse,
  ListingsResponse,
  ParamsResponse,
  ReceiptsResponse,
} from "../../../../indexer/api/rest/schemas.ts";
import { repositoryRoot } from "../../../../scripts/repositoryRoot.ts";
import { EventLog, wallet } from "../../../derive/eventLog.ts";
import { openRestApi, type RestApi } from "../../support/openRestApi.ts";

const [busy, secret] = [wallet(1), wallet(2)];
const ring = [11, 12, 13, 14, 15].map(wallet);
const merged = [30, 31, 32, 33, 40, 41, 42, 43].map(wallet);

function story(): EventLog {
  const log = new EventLog();
  for (let n = 0; n < 5; n++) log.after(1).listing(busy, `text.task${n}`, { issued_at: n });
  log.after(1).listing(busy, "text.task0", { retired: true, issued_at: 9 });
  log.after(1).listing(secret, "text.task", { private_metrics: true });
  for (let n = 0; n < 9; n++) log.after(1).hire(busy, wallet(20 + n), { passed: n !== 3, latency_ms: 50 });
  for (let n = 0; n < 23; n++) log.after(1).hire(secret, wallet(20 + (n % 8)), { latency_ms: 300 });
  log.after(1).receipt(busy, wallet(20));
  const escrow = log.after(1).deposit(busy, wallet(21));
  log.after(1).delivered(escrow).refunded(escrow, wallet(21));
  for (const member of ring) log.after(1).transfer(wallet(99), member, 5_000_000);
  for (const member of ring) log.after(1).listing(member, "code.review");
  for (const at of [30, 40]) {
    const members = [0, 1, 2, 3].map((n) => wallet(at + n));
    for (const member of members) log.after(1).transfer(wallet(100 + at), member, 5_000_000);
    for (const member of members) log.after(1).listing(member, "data.scrape");
  }
  for (const member of [30, 31, 40, 41].map(wallet)) log.after(1).transfer(wallet(98), member, 5_000_000);
  return log.after(60).tick();
}

describe("REST", () => {
  let api: RestApi;
  let derived: Snapshot;

  before(async () => {
    api = await openRestApi();
  });
  after(() => api?.close());

  it("reports that it is not ready before anything was derived", async () => {
    expect(await api.problemOf("/v1/params")).to.deep.equal([503, "not_ready"]);
    expect(await api.problemOf(`/v1/agents/${busy}/reputation`)).to.deep.equal([404, "unknown_agent"]);
  });

  describe("over a derived story", () => {
    before(async () => {
      derived = await api.fill(story());
      await api.database.pool.query(
        "INSERT INTO _ponder_checkpoint (latest_checkpoint) VALUES ('17672259000001')",
      );
    });

    it("names the tick of every answer, and none for a refusal", async () => {
      const { block, time } = derived.asOf;
      const search = {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: '{"capability":"text.task0"}',
      };
      for (const [path, init] of [
        [`/v1/agents/${busy}/reputation`],
        [`/v1/agents/${busy}/receipts`],
        ["/v1/params"],
        ["/v1/insights/capabilities"],
        ["/v1/search", search],
      ] as [string, RequestInit?][]) {
        const { headers, status } = await api.app.request(path, init);
        expect(status, path).to.equal(200);
        expect(headers.get("tallystick-as-of"), path).to.equal(
          `block=${block}, time=${time}, digest="${derived.digest}"`,
        );
      }
      const { headers } = await api.app.request(`/v1/agents/${wallet(999)}/reputation`);
      expect(headers.get("tallystick-as-of")).to.equal(null);
    });

    it("gives every agent the fields of the derivation", async () => {
      expect(Object.keys(derived.agents)).to.have.length.above(20);
      for (const [address, fields] of Object.entries(derived.agents)) {
        expect(await api.get(`/v1/agents/${address}/reputation`)).to.deep.equal({
          agent_id: address,
          ...fields,
          private_metrics: address === secret,
          as_of: derived.asOf,
        });
      }
    });

    it("gives only buckets for an agent with private metrics", async () => {
      const fields = await api.get<Record<string, unknown>>(`/v1/agents/${secret}/reputation`);
      expect(fields).to.deep.include({
        last_30d_hire_count: 10,
        last_30d_hire_count_raw: 10,
        last_24h_volume_usdc: "10.00",
        avg_latency_ms: 512,
        distinct_buyers: 1,
        avg_cost_per_capability: {},
      });
    });

    it("accepts an address in any spelling, and nothing else", async () => {
      const spelled = `0x${busy.slice(2).toUpperCase()}`;
      expect(await api.get(`/v1/agents/${spelled}/reputation`)).to.include({ agent_id: busy });
      for (const part of ["reputation", "cluster", "listings", "receipts"]) {
        expect(await api.problemOf(`/v1/agents/0x12/${part}`)).to.deep.equal([400, "invalid_input"]);
        expect(await api.problemOf(`/v1/agents/${wallet(0xabc)}/${part}`)).to.deep.equal([
          404,
          "unknown_agent",
        ]);
      }
    });

    it("gives the cluster and the other members", async () => {
      const [first = ""] = ring;
      expect(await api.get<ClusterResponse>(`/v1/agents/${first}/cluster`)).to.deep.equal({
        agent_id: first,
        cluster_id: derived.agents[first]?.cluster_id,
        cluster_size: 5,
        signals_tripped: derived.agents[first]?.signals_tripped,
        co_members: ring.slice(1),
        next_cursor: null,
      });
      expect(await api.get<ClusterResponse>(`/v1/agents/${busy}/cluster`)).to.deep.equal({
        agent_id: busy,
        cluster_id: null,
        cluster_size: 1,
        signals_tripped: [],
        co_members: [],
        next_cursor: null,
      });
    });

    it("gives a merged cluster's members in the order of registration, page by page", async () => {
      for (const self of merged) {
        const others = merged.filter((it) => it !== self);
        for (const limit of [1, 3, 7, 100]) {
          const found: string[] = [];
          let query = `limit=${limit}`;
          for (;;) {
            const page = await api.get<ClusterResponse>(`/v1/agents/${self}/cluster?${query}`);
            expect(page).to.include({ cluster_size: 8 });
            found.push(...page.co_members);
            if (page.next_cursor === null) break;
            query = `limit=${limit}&cursor=${page.next_cursor}`;
          }
          expect(found, `${self} by ${limit}`).to.deep.equal(others);
        }
      }
    });

    it("gives all listings, including retired ones, page by page", async () => {
      const { listings } = await api.get<ListingsResponse>(`/v1/agents/${busy}/listings`);
      expect(listings.map((it) => [it.capability, it.retired, it.issued_at])).to.deep.equal([
        ["text.task0", true, 9],
        ["text.task1", false, 1],
        ["text.task2", false, 2],
        ["text.task3", false, 3],
        ["text.task4", false, 4],
      ]);
      const first = await api.get<ListingsResponse>(`/v1/agents/${busy}/listings?limit=3`);
      const rest = await api.get<ListingsResponse>(
        `/v1/agents/${busy}/listings?limit=3&cursor=${first.next_cursor}`,
      );
      expect([...first.listings, ...rest.listings]).to.deep.equal(listings);
      expect(rest.next_cursor).to.equal(null);
    });

    it("gives receipts with how they counted, the latest first, page by page", async () => {
      const { receipts } = await api.get<ReceiptsResponse>(`/v1/agents/${busy}/receipts`);
      expect(receipts).to.have.length(10);
      expect(receipts[0]).to.include({ status: "pending", hire: null });
      expect(receipts[1]).to.deep.include({
        agent_id: busy,
        buyer: wallet(28),
        status: "counted",
        amount_usdc_atomic: "500000",
        verification: { all_passed: true },
        latency_ms: 50,
      });
      expect(receipts[1]?.hire).to.include({
        outcome: "success",
        evidence: "seller",
        weight: 1,
        dispute: false,
      });
      expect(receipts.filter((it) => it.hire?.outcome === "failure").map((it) => it.buyer)).to.deep.equal([
        wallet(23),
      ]);
      const pages: ReceiptsResponse["receipts"] = [];
      let query = "limit=4";
      for (;;) {
        const page = await api.get<ReceiptsResponse>(`/v1/agents/${busy}/receipts?${query}`);
        pages.push(...page.receipts);
        if (page.next_cursor === null) break;
        query = `limit=4&cursor=${page.next_cursor}`;
      }
      expect(pages).to.deep.equal(receipts);
    });

    it("gives cursors in the form of older versions", async () => {
      const all = await api.get<ReceiptsResponse>(`/v1/agents/${busy}/receipts`);
      const { time, receipt_hash } = all.receipts[3] ?? {};
      const cursor = Buffer.from(JSON.stringify([time, receipt_hash])).toString("base64url");
      const first = await api.get<ReceiptsResponse>(`/v1/agents/${busy}/receipts?limit=4`);
      expect(first.next_cursor).to.equal(cursor);
    });

    it("refuses pages that are too large, and cursors of other lists", async () => {
      const { next_cursor } = await api.get<ListingsResponse>(`/v1/agents/${busy}/listings?limit=1`);
      for (const query of ["limit=0", "limit=101", "limit=x"]) {
        expect(await api.problemOf(`/v1/agents/${busy}/receipts?${query}`)).to.deep.equal([
          400,
          "invalid_input",
        ]);
      }
      const other = `/v1/agents/${busy}/receipts?cursor=${next_cursor}`;
      expect(await api.problemOf(other)).to.deep.equal([400, "invalid_cursor"]);
    });

    it("publishes the parameters, and the source and delay of each field", async () => {
      const answer = await api.get<ParamsResponse>("/v1/params");
      expect(answer).to.deep.include({ version: 1, as_of: derived.asOf });
      expect(answer.params).to.deep.include({ windowSeconds: 2_592_000, tier2MinSuccesses: 10 });
      expect(Object.keys(answer.reputation_fields)).to.have.members(Object.keys(derived.agents[busy] ?? {}));
      expect(answer.search_ranking[0]).to.contain("trust_tier");
    });

    it("answers 304 until the next block, and the new state after it", async () => {
      const path = `/v1/agents/${busy}/reputation`;
      const tag = (await api.app.request(path)).headers.get("etag") ?? "";
      expect(tag).to.match(/^W\/"[^"]+"$/);
      const ask = (known: string) => api.app.request(path, { headers: { "if-none-match": known } });
      for (const known of [tag, tag.slice(2), `"other", ${tag}`, "*"]) {
        const response = await ask(known);
        expect(response.status, known).to.equal(304);
        expect(await response.text()).to.equal("");
        expect(response.headers.get("etag")).to.equal(tag);
      }
      expect((await ask('W/"other"')).status).to.equal(200);
      await api.database.pool.query("UPDATE _ponder_checkpoint SET latest_checkpoint = '17672259020002'");
      const fresh = await ask(tag);
      expect(fresh.status).to.equal(200);
      expect(fresh.headers.get("etag")).to.not.equal(tag);
      expect((await api.app.request(`/v1/agents/${wallet(0xabc)}/reputation`)).headers.get("etag")).to.equal(
        null,
      );
    });

    it("answers with new data after a reorganization to a block of the same number and time", async () => {
      const path = `/v1/agents/${busy}/reputation`;
      const ask = (known: string) => api.app.request(path, { headers: { "if-none-match": known } });
      const position = `${"9".repeat(12)}/00000001/${"0".repeat(16)}`;
      const { pool } = api.database;
      const tags: string[] = [];
      for (const json of ['{"tx":"0x01"}', '{"tx":"0x02"}']) {
        await pool.query("INSERT INTO event_log (position, json) VALUES ($1, $2)", [position, json]);
        const tag = (await ask("none")).headers.get("etag") ?? "";
        expect((await ask(tag)).status).to.equal(304);
        tags.push(tag);
        await pool.query("DELETE FROM event_log WHERE position = $1", [position]);
        expect((await ask(tag)).status).to.equal(200);
      }
      expect(new Set(tags).size).to.equal(2);
    });

    it("answers with new data after an upgrade without a new block", async () => {
      const path = `/v1/agents/${busy}/reputation`;
      const before = (await api.app.request(path)).headers.get("etag") ?? "";
      const upgraded = api.appOf("another build");
      const response = await upgraded.request(path, { headers: { "if-none-match": before } });
      expect(response.status).to.equal(200);
      const after = response.headers.get("etag") ?? "";
      expect(after).to.not.equal(before);
      expect((await upgraded.request(path, { headers: { "if-none-match": after } })).status).to.equal(304);
    });

    it("lets web pages of every origin read answers and tags", async () => {
      const response = await api.app.request(`/v1/agents/${busy}/reputation`, {
        headers: { origin: "https://dashboard.example" },
      });
      expect(response.headers.get("access-control-allow-origin")).to.equal("*");
      expect(response.headers.get("access-control-expose-headers")).to.contain("etag");
      const preflight = await api.app.request("/v1/search", {
        method: "OPTIONS",
        headers: {
          origin: "https://dashboard.example",
          "access-control-request-method": "POST",
          "access-control-request-headers": "content-type",
        },
      });
      expect(preflight.status).to.equal(204);
      expect(preflight.headers.get("access-control-allow-headers")).to.contain("content-type");
    });

    it("compresses answers that are long enough, on request", async () => {
      const ask = (path: string) => api.app.request(path, { headers: { "accept-encoding": "gzip" } });
      const large = await ask("/openapi.json");
      expect(large.headers.get("content-encoding")).to.equal("gzip");
      expect(large.headers.get("vary")).to.contain("Accept-Encoding");
      const text = await new Response(large.body?.pipeThrough(new DecompressionStream("gzip"))).text();
      expect(JSON.parse(text)).to.deep.equal(await api.get("/openapi.json"));
      const small = await ask(`/v1/agents/${busy}/cluster`);
      expect(small.headers.get("content-encoding")).to.equal(null);
      expect(await small.json()).to.deep.equal(await api.get(`/v1/agents/${busy}/cluster`));
      const refused = await api.app.request("/openapi.json", {
        headers: { "accept-encoding": "br, gzip;q=0" },
      });
      expect(refused.headers.get("content-encoding")).to.equal(null);
    });
  });

  it("publishes an agent card for the address of the request", async () => {
    type Card = {
      url: string;
      skills: { id: string; examples: string[] }[];
      additionalInterfaces: { url: string }[];
    };
    const card = await api.get<Card>("/.well-known/agent-card.json");
    expect(card).to.include({ url: "http://localhost", protocolVersion: "0.3.0" });
    expect(card.skills.map((it) => it.id)).to.include("search_agents");
    const proxied = await api.app.request("/.well-known/agent-card.json", {
      headers: { host: "node.example", "x-forwarded-proto": "https" },
    });
    expect(((await proxied.json()) as Card).additionalInterfaces.map((it) => it.url)).to.deep.equal([
      "https://node.example",
      "https://node.example/graphql",
      "wss://node.example/v1/stream",
    ]);
    // The examples of the card are requests that the API understands.
    const [search, reputation] = card.skills;
    const found = await api.app.request("/v1/search", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: search?.examples[0] ?? "",
    });
    expect(found.status).to.equal(200);
    expect(await api.problemOf(reputation?.examples[0] ?? "")).to.deep.equal([404, "unknown_agent"]);
  });

  it("describes every route that it serves in valid OpenAPI, and no other route", async () => {
    const description = await api.get<{ openapi: string; paths: Record<string, object> }>("/openapi.json");
    const { valid, errors } = await new Validator().validate(description);
    expect(valid, JSON.stringify(errors)).to.equal(true);
    expect(description.openapi).to.equal("3.1.0");
    type Operation = { operationId?: string };
    const names = Object.values(description.paths)
      .flatMap((operations) => Object.values(operations) as Operation[])
      .map(({ operationId }) => operationId);
    // Generated clients name their functions after these ids.
    for (const name of names)
      expect(name)
        .to.be.a("string")
        .and.match(/^[a-z][A-Za-z0-9]{2,60}$/);
    expect(new Set(names).size).to.equal(names.length);
    const described = Object.entries(description.paths)
      .flatMap(([path, operations]) => Object.keys(operations).map((it) => `${it.toUpperCase()} ${path}`))
      .sort();
    /** Routes for people and for other protocols. OpenAPI does not describe them. */
    const others = /^\S+ (?:\/|\/docs.*|\/graphql|\/openapi\.json|\/\.well-known\/agent-card\.json)$/;
    // The portal has routes for its pages and files if it was built before this test, for example by a demo.
    const ofPortal = new Set(servePortal().routes.map(({ path }) => path));
    const served = api.app.routes
      .filter(({ path }) => !ofPortal.has(path))
      // Middleware has the method ALL, or a path with `*` at its end. One real route has such a path too.
      .filter(({ method, path }) => method !== "ALL" && (!path.endsWith("*") || path === "/tlog/tile/*"))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:(\w+)/g, "{$1}")}`)
      .map((route) => route.replace("/tlog/tile/*", "/tlog/tile/{level}/{index}"))
      .filter((route) => !others.test(route) && route !== "GET /v1/agents/{id}/{part}");
    expect([...new Set(served)].sort()).to.deep.equal(described);
    // The documents name each of these routes, and no other route.
    const shape = (path: string) => path.replaceAll(/\{[^}]*\}(?:\.json)?/g, "{}");
    const pages = globSync("docs/{rest,erc8004,notices,settlement/*}.md", { cwd: repositoryRoot });
    const text = pages.map((page) => readFileSync(`${repositoryRoot}/${page}`, "utf8")).join("\n");
    const named = [...text.matchAll(/(?<![\w.}])\/v1\/[\w/{}.-]*[\w}]/g)].map(([path]) => shape(path));
    const paths = Object.keys(description.paths)
      .filter((path) => path.startsWith("/v1/"))
      .map(shape);
    expect(
      paths.filter((path) => !named.includes(path)),
      "not in the documents",
    ).to.deep.equal([]);
    expect(
      named.filter((path) => !paths.includes(path) && !/^\/v1\/(?:insights|dispatch)$/.test(path)),
      "not served",
    ).to.deep.equal([]);
    for (const [path, operations] of Object.entries(description.paths)) {
      for (const method of Object.keys(operations)) {
        const response = await api.app.request(path.replace("{id}", wallet(0xabc)), { method });
        expect(await response.text(), `${method} ${path}`).to.not.contain('"not_found"');
      }
    }
  });
});
