import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { expect } from "chai";
import { ClientBudgets } from "tallystick-runtime/http/clientBudgets";
import { limitClients } from "tallystick-runtime/http/limitClients";
import { createApi } from "../../../../indexer/api/app.ts";
import { clientLimits } from "../../../../indexer/api/clientLimits.ts";
import { graphqlSchema } from "../../../../indexer/api/graphql/schema.ts";
import { openApiDatabase } from "../../../../tools/bench/api/apiDatabase.ts";
import { asks } from "../../../../tools/bench/api/costs/asks.ts";
import { countPoints } from "../../../../tools/bench/api/costs/countPoints.ts";
import { address, capabilityOf, LARGEST, loadMarket } from "../../../../tools/bench/api/loadMarket.ts";
import { testDatabase } from "../../../support/testDatabase.ts";
import { rowsRead } from "../../support/rowsRead.ts";

/** A small market of the bench. The busiest seller has 4,000 hires, and 200 agents sell one capability. */
const SIZE = { agents: 3_000, hires: 24_000, clusters: 1_000, largestSeller: 4_000 };
const BUSIEST = capabilityOf(1, SIZE.agents);

describe("REST over many rows", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let app: ReturnType<typeof createApi>;
  let sellers: number;

  before(async () => {
    database = await openApiDatabase(await testDatabase());
    await loadMarket(database.pool, SIZE, () => {});
    await database.createIndexes();
    await database.pool.query("VACUUM ANALYZE");
    const { rows } = await database.pool.query(
      "SELECT count(*)::int AS count FROM listing WHERE capability = $1",
      [BUSIEST],
    );
    sellers = rows[0].count;
    const node = { chainId: 31_337, token: `0x${"70".repeat(20)}` };
    app = createApi({
      db: database.db,
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node,
      settlementUrl: null,
    });
  });
  after(async () => {
    await database?.close();
  });

  /** The number of rows that all statements of a request read, the number of statements, and the answer. */
  async function measure(path: string, body?: object) {
    database.statements = 0;
    const init = {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    };
    const response = await app.request(path, body === undefined ? {} : init);
    expect(response.status, await response.clone().text()).to.equal(200);
    const statements = await Promise.all([...database.sent].map((it) => rowsRead(database.pool, it)));
    return {
      read: statements.reduce((sum, it) => sum + it.read, 0),
      statements: statements.length,
      answer: (await response.json()) as Record<string, unknown[]>,
      plans: statements.map(({ plan }) => plan).join("\n"),
    };
  }

  const search = (filters: object) => measure("/v1/search", { capability: BUSIEST, limit: 10, ...filters });

  it("reads the page of a search in order from one index", async () => {
    const { read, statements, answer, plans } = await search({});
    expect(answer.agents).to.have.length(10);
    // A listing, its agent and its cluster for each result, and one more of each to know whether there is another page.
    // The last row is the tick.
    expect(read, plans).to.be.at.most(3 * 10 + 3 + 1);
    expect(statements).to.equal(2);
  });

  it("reads at most the agents of the capability for a search with filters, even if few match", async () => {
    expect(sellers).to.be.within(100, SIZE.agents / 5);
    for (const filters of [
      { min_success_rate: 0.95, max_price_usdc: "0.05", min_trust_tier: 1 },
      { min_success_rate: 1, max_price_usdc: "0.000001", min_trust_tier: 2 },
      { min_avg_stars: 4.9, payment_mode: "platform_escrow:*", min_verification_version: "v2" },
    ]) {
      const { read, plans } = await search(filters);
      expect(read, plans).to.be.at.most(2 * sellers + 40);
    }
  });

  const page = "?limit=10";
  const lists: [name: string, path: string, list: string][] = [
    ["a cluster of a hundred", `/v1/agents/${address(SIZE.agents)}/cluster?limit=100`, "co_members"],
    ["a leaderboard", `/v1/insights/capabilities/${BUSIEST}/leaderboard${page}`, "leaders"],
    ["trends", `/v1/insights/capabilities${page}`, "capabilities"],
    ["capabilities", `/v1/capabilities${page}&order=hires`, "capabilities"],
    ["clusters", `/v1/clusters${page}&order=size`, "clusters"],
    ["an agent's counterparties", `/v1/agents/${LARGEST}/counterparties${page}`, "counterparties"],
    ["the history of an agent's rates", `/v1/insights/agents/${LARGEST}/history`, "days"],
    ["the market", "/v1/market", "days"],
    ["a capability's series", `/v1/insights/capabilities/${BUSIEST}/series`, "days"],
  ];
  for (const [name, path, list] of lists) {
    it(`reads at most ten rows for each row of the answer, and a few to find the agent: ${name}`, async () => {
      const { read, answer, plans } = await measure(path);
      const given = answer[list]?.length ?? 0;
      expect(given, list).to.be.at.least(10);
      // A trend uses the days of two weeks.
      expect(read, plans).to.be.at.most((name === "trends" ? 15 : 10) * given + 5);
    });
  }

  it("charges points for the rows and the statements of every route and every field of Query", async () => {
    const budgets = new ClientBudgets(
      { pointsPerSecond: 1e9, burst: 1e9, atOnce: 2, waiting: 9, streams: 1 },
      () => 0,
    );
    const points = countPoints(budgets);
    const server = createAdaptorServer({ fetch: app.fetch }) as Server;
    const { priceOf } = clientLimits({ trustedProxies: 0, clientLimits: { points: 1, streams: 1 } });
    limitClients(server, { budgets, trustedProxies: 0, ...(priceOf && { priceOf }) });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    try {
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const unpaid: string[] = [];
      for (const { name, path, body } of asks(SIZE)) {
        database.statements = 0;
        const before = points();
        const response = await fetch(url + path, {
          headers: { "content-type": "application/json", connection: "close" },
          ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
        });
        const answer = await response.text();
        expect(response.status, `${name} ${answer}`).to.be.oneOf([200, 404]);
        expect(answer, name).not.to.match(/"extensions":\{"code"/);
        const sent = [...database.sent];
        // An estimate reads no rows.
        const counted = sent.filter(({ query }) => !query.startsWith("EXPLAIN"));
        const looks = await Promise.all(counted.map((it) => rowsRead(database.pool, it)));
        const read = looks.reduce((sum, it) => sum + it.read, 0);
        const paid = points() - before;
        if (read > 3_000 * paid || sent.length > 4 + 4 * paid)
          unpaid.push(`${name}: ${read} rows, ${sent.length} statements, ${paid.toFixed(2)} points`);
      }
      expect(unpaid).to.deep.equal([]);
      const fields = Object.keys(graphqlSchema.getQueryType()?.getFields() ?? {});
      const named = asks(SIZE).map(({ name }) => name.split(",")[0]);
      expect(fields.filter((it) => !named.includes(it))).to.deep.equal([]);
    } finally {
      server.close();
    }
  });

  it("reads only a few rows for an agent with thousands of hires", async () => {
    const { read, answer, plans } = await measure(`/v1/agents/${LARGEST}/reputation`);
    expect(answer).to.include({ last_30d_hire_count_raw: 4_000 });
    expect(read, plans).to.be.at.most(10);
  });

  it("reads only the latest thousand hires for percentiles", async () => {
    const { read, answer, plans } = await measure(`/v1/insights/agents/${LARGEST}/percentiles`);
    expect(answer).to.include({ sample: 1_000, complete: false });
    // This is true for any index that the planner chooses: by seller, or by time if the seller has a large share of all
    // hires.
    expect(read, plans).to.be.at.most(10 * 1_001);
  });
});
