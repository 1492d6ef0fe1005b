import { expect } from "chai";
import { createApi } from "../../../indexer/api/app.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { START } from "../../derive/eventLog.ts";
import { testDatabase } from "../../support/testDatabase.ts";
import { cast, node, openApiStory } from "../support/apiStory.ts";
import { fillTallies } from "../support/fillTallies.ts";
import { measureQuery } from "../support/measureQuery.ts";

const AGENTS = 2_000;
const CAPABILITIES = 40;
/** This agent is the seller of a third of all hires. */
const LARGE = address(1_000);
const TODAY = Math.floor(START / 86_400);
const ROOT = "clst_bulk0000";
const BULK_LEDGER = `0x${"b0".repeat(32)}`;

function cursorOf(place: unknown[]): string {
  return Buffer.from(JSON.stringify(place)).toString("base64url");
}

function address(n: number): string {
  return `0x${n.toString(16).padStart(40, "0")}`;
}

/** Fills every table with changed copies of the story's rows. `n` is the number of the copy. */
const copies: [table: string, from: string, count: number, changes: string][] = [
  [
    "agent",
    `id = '${cast.modest}'`,
    AGENTS,
    `'id', ${hex("n + 1000")}, 'registered_block', 1000 + n, 'rank', n % 3000, 'trust_tier', 0, 'rated_weight', '10',
     'success_weight', (n % 11)::text, 'window_weight', (n % 97)::text, 'day_volume', ((n * 7919) % 100000)::text,
     'avg_stars', (n % 5 + 1)::text, 'independent_buyers', n % 50, 'kept', ((n * 104729) % 1000000)::text,
     'window_direct', 10, 'unreceipted', n % 40, 'ownership_cluster', CASE WHEN n % 4 = 0 THEN ${cluster("n / 40")} END`,
  ],
  [
    "listing",
    `agent = '${cast.modest}'`,
    AGENTS,
    `'id', ${hex("n + 1000")} || '/bulk.task' || n % ${CAPABILITIES} || '/direct', 'agent', ${hex("n + 1000")},
     'capability', 'bulk.task' || n % ${CAPABILITIES}, 'price', 100 * (n % 1000)`,
  ],
  [
    "hire",
    `seller = '${cast.modest}'`,
    24_000,
    `'id', '0x' || lpad(to_hex(n), 64, '0') || '-1', 'seller', ${hex(`1000 + (CASE WHEN n % 3 = 0 THEN 0 ELSE n % ${AGENTS} END)`)},
     'buyer', ${hex(`1000 + (n * 31) % ${AGENTS}`)}, 'time', 1767225600 + n / 7, 'capability', 'bulk.task' || n % ${CAPABILITIES},
     'outcome', CASE WHEN n % 50 = 0 THEN 'failure' ELSE 'success' END`,
  ],
  [
    "receipt",
    `agent = '${cast.modest}'`,
    5_000,
    `'id', lpad(to_hex(n), 64, '0'), 'agent', ${hex("1000 + n % 50")}, 'time', 1767225600 + n`,
  ],
  [
    "rating",
    "side = 'buyer'",
    5_000,
    `'id', lpad(to_hex(n), 64, '0') || '/buyer', 'ratee', ${hex("1000 + n % 50")}, 'time', 1767225600 + n`,
  ],
  [
    "escrow",
    "status = 'released'",
    10_000,
    `'id', '0x' || lpad(to_hex(n), 64, '0'), 'seller', ${hex("1000 + n % 50")}, 'buyer', ${hex("1000 + n % 70")},
     'status', CASE WHEN n % 1000 = 0 THEN 'held' ELSE 'released' END, 'deposited_block', n, 'unanswered', n % 3 = 0`,
  ],
  [
    "tier_change",
    "true",
    5_000,
    `'id', ${hex("1000 + n % 50")} || '/' || n, 'agent', ${hex("1000 + n % 50")}, 'block', 1000 + n`,
  ],
  [
    "cluster",
    "kind = 'ownership'",
    101,
    `'id', ${cluster("n")}, 'ordinal', 10 + n, 'size', 10, 'merged_into', CASE WHEN n BETWEEN 1 AND 20 THEN '${ROOT}' END,
     'parent', CASE WHEN n BETWEEN 1 AND 20 THEN '${ROOT}' ELSE ${cluster("n")} END`,
  ],
  [
    "payment",
    "true",
    5_000,
    "'id', '0x' || lpad(to_hex(n), 64, '0') || '/' || 'sides/1/0', 'block', 5000 + n / 200, 'log', n % 200",
  ],
  [
    "record",
    "type = 'listing'",
    5_000,
    `'id', '${BULK_LEDGER}/' || n, 'ledger', '${BULK_LEDGER}', 'seq', n, 'hash', lpad(to_hex(n), 64, '0'),
     'type', CASE WHEN n % 3 = 0 THEN 'receipt' WHEN n % 500 = 1 THEN 'params' ELSE 'listing' END, 'block', 5000 + n / 200`,
  ],
  ["ledger", "true", 1, `'id', '${BULK_LEDGER}', 'size', 5000`],
  [
    "agent_day",
    "true",
    5_000,
    `'id', ${hex("1000 + n % 50")} || '/' || n, 'agent', ${hex("1000 + n % 50")}, 'day', ${TODAY} - n / 50`,
  ],
  ["market_day", "true", 4_000, `'id', ${TODAY} - n - 100, 'day', ${TODAY} - n - 100`],
  [
    "agent_pair",
    "true",
    5_000,
    `'id', ${hex("1000 + n % 3")} || '/' || n, 'seller', ${hex("1000 + n % 3")}, 'buyer', ${hex("1000 + n % 70")}, 'hires', n`,
  ],
  [
    "capability_total",
    "true",
    5_000,
    "'id', 'bulk.task' || n, 'capability', 'bulk.task' || n, 'weight', 1000 * (n % 500), 'hires', 1, 'listings', n % 300",
  ],
  [
    "escrow_step",
    "kind = 'deposited'",
    10_000,
    "'id', '0x' || lpad(to_hex(n), 64, '0') || '/deposited', 'block', n",
  ],
  [
    "family_member",
    "true",
    5_000,
    `'id', ${hex("100000 + n")}, 'family', CASE WHEN n % 4 = 3 THEN 'deep' ELSE ${hex("1000 + n % 3")} END, 'acted_block', n,
     'parent', ${hex("n % 7")}`,
  ],
  [
    "buyer_family",
    `seller = '${cast.busy}'`,
    5_000,
    `'id', ${hex("1000 + n % 3")} || '/' || n, 'seller', ${hex("1000 + n % 3")}, 'family', ${hex("100000 + n")}`,
  ],
  ["anchor", "true", 3_000, "'id', ledger || '/' || 100 + n, 'seq', 100 + n, 'block', 1000 + n"],
];

function hex(number: string): string {
  return `'0x' || lpad(to_hex(${number}), 40, '0')`;
}

function cluster(number: string): string {
  return `'clst_bulk' || lpad((${number})::text, 4, '0')`;
}

const ORDERS = [
  ...["RANK", "NEWEST", "SUCCESS_RATE", "HIRES", "VOLUME", "STARS"],
  ...["INDEPENDENT_BUYERS", "KEPT_USDC", "RECEIPT_COVERAGE"],
];

/** Filters by figures about an agent's buyers and receipts, each with the order by the same figure. */
const INDEPENDENCE = [
  ["minIndependentBuyers: 45", "INDEPENDENT_BUYERS"],
  ['minKeptUsdc: "0.90"', "KEPT_USDC"],
  ["minReceiptCoverage: 0.9", "RECEIPT_COVERAGE"],
];

describe("GraphQL over many rows", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let app: ReturnType<typeof createApi>;

  before(async () => {
    const { derived, log, database: first } = await openApiStory();
    database = await openApiDatabase(await testDatabase(), { indexes: true });
    await database.fill(derived.store);
    await fillTallies(database, log.events);
    for (const table of ["anchor", "ledger", "escrow_step"]) {
      const { rows } = await first.pool.query(`SELECT * FROM ${table}`);
      for (const row of rows)
        await database.pool.query(
          `INSERT INTO ${table} SELECT * FROM json_populate_record(null::${table}, $1)`,
          [row],
        );
    }
    for (const [table, from, count, changes] of copies) {
      await database.pool.query(`
        INSERT INTO ${table} SELECT row.*
        FROM (SELECT * FROM ${table} WHERE ${from} ORDER BY id LIMIT 1) AS model, generate_series(0, ${count - 1}) AS n,
          LATERAL jsonb_populate_record(null::public.${table}, to_jsonb(model) || jsonb_build_object(${changes})) AS row`);
    }
    await database.pool.query(`
      INSERT INTO unreceipted (id, seller, buyer, value, block, "time", in_window)
      SELECT n, ${hex("1000 + n % 3")}, '${cast.modest}', 1000, n, n, true FROM generate_series(1, 5000) AS n`);
    await database.pool.query("ANALYZE");
    app = createApi({
      db: database.db,
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node,
      settlementUrl: null,
    });
  });
  after(() => database?.close());

  const measure = (query: string) => measureQuery(app, database, query);

  const many = "first: 20";
  const queries: [name: string, query: string][] = [
    ["agents", `{ agents(${many}) { nodes { id } } }`],
    ...ORDERS.map((order): [string, string] => [
      `agents by ${order}`,
      `{ agents(${many}, orderBy: ${order}) { nodes { id successRate last30dHireCount } } }`,
    ]),
    [
      "agents in the other direction",
      `{ agents(${many}, orderBy: STARS, orderDirection: ASC) { nodes { id } } }`,
    ],
    [
      "the first hires of a seller of ten thousand",
      `{ hires(${many}, orderDirection: ASC, where: {seller: "${LARGE}"}) { nodes { id } } }`,
    ],
    ["agents with a minimum rate", `{ agents(${many}, where: {minSuccessRate: 0.9}) { nodes { id } } }`],
    ["agents with minimum stars", `{ agents(${many}, where: {minAvgStars: 4.5}) { nodes { id } } }`],
    // At most one agent in ten passes each of these filters.
    ...INDEPENDENCE.flatMap(([where, order]): [string, string][] => [
      [`agents with ${where}`, `{ agents(${many}, where: {${where}}) { nodes { id } } }`],
      [
        `agents with ${where}, ordered by the same figure`,
        `{ agents(${many}, where: {${where}}, orderBy: ${order}) { nodes { id } } }`,
      ],
    ]),
    [
      "the most independent agents, in the other direction",
      `{ agents(${many}, orderBy: INDEPENDENT_BUYERS, orderDirection: ASC) { nodes { id } } }`,
    ],
    ["agents in clusters", `{ agents(${many}, where: {clustered: true}) { nodes { id } } }`],
    ["agents with their clusters", `{ agents(${many}) { nodes { id cluster { id size } } } }`],
    ["hires", `{ hires(${many}) { nodes { id seller { id } buyer { id } } } }`],
    ["hires of a seller of ten thousand", `{ hires(${many}, where: {seller: "${LARGE}"}) { nodes { id } } }`],
    ["hires of a capability", `{ hires(${many}, where: {capability: "bulk.task3"}) { nodes { id } } }`],
    ["hires in a time span", `{ hires(${many}, where: {paidBefore: 1767226000}) { nodes { id } } }`],
    ["an agent and its hires", `{ agent(address: "${LARGE}") { id hires(${many}) { nodes { id } } } }`],
    [
      "agents and their hires",
      `{ agents(first: 10, orderBy: HIRES) { nodes { id hires(first: 5) { nodes { id buyer { id } } } } } }`,
    ],
    [
      "agents and their ratings and receipts",
      "{ agents(first: 10, where: {minTrustTier: 0}) { nodes { id ratings(first: 5) { nodes { id } } receipts(first: 5) { nodes { id } } } } }",
    ],
    [
      "why a rate",
      `{ agent(address: "${LARGE}") { explain(field: SUCCESS_RATE) { hires(${many}) { nodes { id } } } } }`,
    ],
    ["escrows", `{ escrows(${many}) { nodes { id } } }`],
    ["escrows that are held", "{ escrows(first: 10, where: {status: HELD}) { nodes { id } } }"],
    ["escrows of a buyer", `{ escrows(${many}, where: {buyer: "${address(1_003)}"}) { nodes { id } } }`],
    ["clusters", `{ clusters(${many}) { nodes { id size } } }`],
    [
      "a merged cluster's members",
      `{ cluster(id: "clst_bulk0007") { id members(${many}) { nodes { id } } } }`,
    ],
    ["clusters by size", `{ clusters(${many}, orderBy: SIZE) { nodes { id size } } }`],
    ["a cluster's graph", `{ cluster(id: "clst_bulk0033") { graph { nodes { address } edges { to } } } }`],
    ["a merged cluster's graph", `{ cluster(id: "clst_bulk0007") { graph { nodes { address } } } }`],
    ["agents at addresses", `{ agentsByAddress(addresses: ["${LARGE}", "${address(1_003)}"]) { id } }`],
    ["listings as search ranks them", `{ listings(${many}) { nodes { id agent { id } } } }`],
    ["the latest listings", `{ listings(${many}, orderBy: NEWEST) { nodes { id } } }`],
    ...["RANK", "PRICE"].map((order): [string, string] => [
      `a capability's listings by ${order}`,
      `{ listings(${many}, orderBy: ${order}, where: {capability: "bulk.task3"}) { nodes { id } } }`,
    ]),
    ["the entries of a ledger", `{ ledgerEntries(${many}, ledger: "${BULK_LEDGER}") { nodes { id } } }`],
    [
      "the last entries of a ledger",
      `{ ledgerEntries(${many}, ledger: "${BULK_LEDGER}", after: "${cursorOf(["30"])}") { nodes { id record { type } } } }`,
    ],
    [
      "the receipts in a ledger",
      `{ ledgerEntries(${many}, ledger: "${BULK_LEDGER}", recordType: "receipt") { nodes { id } } }`,
    ],
    ["how parameters changed", `{ paramsHistory(${many}) { nodes { id record { time } } } }`],
    ...["NAME", "HIRES", "LISTINGS"].map((order): [string, string] => [
      `capabilities by ${order}`,
      `{ capabilities(${many}, orderBy: ${order}) { nodes { capability medianPriceUsdc window { hires } } } }`,
    ]),
    [
      "the market's days",
      "{ market { counts { agents } window { hires } series(days: 20) { days { day } } } }",
    ],
    [
      "the counterparties of a seller with thousands of hires",
      `{ agent(address: "${LARGE}") { counterparties(${many}) { nodes { address agent { id } figures { hires } } } } }`,
    ],
    [
      "the counterparties of a buyer",
      `{ agent(address: "${LARGE}") { counterparties(${many}, as: BUYER) { nodes { address } } } }`,
    ],
    ["history of an agent's rates", `{ agent(address: "${LARGE}") { history(days: 60) { days { day } } } }`],
    ["escrows with their transactions", `{ escrows(${many}) { nodes { id settlementTx steps { tx } } } }`],
    ["tier changes", `{ tierChanges(${many}) { nodes { id } } }`],
    ["an agent's tier changes", `{ tierChanges(${many}, agent: "${LARGE}") { nodes { id } } }`],
    [
      "who funded an agent, and how much",
      `{ fundingGraph(agent: "${cast.ring[0]}") { nodes { address } edges { from amountUsdc } } }`,
    ],
    [
      "a large family and why its wallets are in it",
      `{ family(id: "${address(100_000)}") { members(${many}) { nodes { address payer family { isEstablished } } } } }`,
    ],
    [
      "the families that bought of a seller",
      `{ agent(address: "${LARGE}") { independence { buyerFamilies(${many}) { nodes { family { id isEstablished } keptUsdc returned { account amountUsdc } } } } } }`,
    ],
    [
      "the payments that a seller wrote no receipt for",
      `{ agent(address: "${LARGE}") { independence { unreceipted(${many}) { nodes { id amountUsdc } } } } }`,
    ],
    [
      "the deposits that a seller did not answer",
      `{ agent(address: "${LARGE}") { independence { unansweredEscrows(${many}) { nodes { id } } } } }`,
    ],
    [
      "a family by one of its wallets, and its founder",
      `{ family(id: "${address(100_007)}") { id isEstablished sellerFamilies founder { address } members(first: 1) { nodes { address } } } }`,
    ],
    [
      "the wallets of no known founder",
      `{ family(id: "deep") { members(${many}) { nodes { address reason } } } }`,
    ],
    ["checkpoints", `{ checkpoints(${many}) { nodes { id } } }`],
  ];

  for (const [name, query] of queries) {
    it(`reads at most ten rows for each row of the answer: ${name}`, async () => {
      const { read, given, plans } = await measure(query);
      expect(given, "objects given").to.be.above(0);
      expect(read, plans).to.be.at.most(10 * given);
    });
  }

  it("reads no more rows on the last pages than on the first", async () => {
    const cursors = Buffer.from(JSON.stringify(["1767226000", "0x"])).toString("base64url");
    const { read, plans } = await measure(`{ hires(${many}, after: "${cursors}") { nodes { id } } }`);
    expect(read, plans).to.be.at.most(21);
  });

  it("finds an entry by its hash among all entries without reading others", async () => {
    const { read, plans } = await measure(`{ ledgerEntryByHash(hash: "${"0".repeat(60)}0fff") { id } }`);
    expect(read, plans).to.equal(1);
  });

  const PER_CAPABILITY = AGENTS / CAPABILITIES;
  for (const where of [
    'capability: "bulk.task3"',
    'capability: "bulk.task3", minSuccessRate: 0.9, maxPriceUsdc: "0.05"',
    'capability: "bulk.task3", minAvgStars: 3, minTrustTier: 0, clustered: false, paymentMode: "direct"',
    'capability: "bulk.task3", minIndependentBuyers: 3, minKeptUsdc: "0.40", minReceiptCoverage: 0.5',
  ]) {
    for (const order of ["REGISTERED", "SUCCESS_RATE", "RANK", "INDEPENDENT_BUYERS", "KEPT_USDC"]) {
      it(`limits a search to the agents of its capability: ${where} by ${order}`, async () => {
        const { read, plans } = await measure(
          `{ agents(first: 5, orderBy: ${order}, where: {${where}}) { nodes { id } } }`,
        );
        // For each agent, its listing and its own row are read.
        expect(read, plans).to.be.at.most(2 * PER_CAPABILITY);
      });
    }
  }

  it("reads at most ten times the page for a filter that matches nothing, and says that there may be more", async () => {
    for (const query of [
      "{ agents(first: 20, orderBy: NEWEST, where: {maxLatencyMs: 1}) { nodes { id } pageInfo { hasNextPage } } }",
      `{ hires(first: 20, where: {seller: "${LARGE}", outcome: NEUTRAL}) { nodes { id } pageInfo { hasNextPage } } }`,
    ]) {
      const { read, plans, data } = await measure(query);
      // For each agent that is read, there is a look-up in the listings too.
      expect(read, plans).to.be.at.most(2 * 10 * 20 + 1);
      expect(Object.values(data)).to.deep.equal([{ nodes: [], pageInfo: { hasNextPage: true } }]);
    }
  });

  it("stops counting when a query has looked at a hundred thousand rows, and counts one list after the other", async () => {
    const outcomes = ["SUCCESS", "FAILURE", "NEUTRAL"];
    const counts = Array.from(
      { length: 30 },
      (_, n) => `a${n}: hires(first: 0, where: {outcome: ${outcomes[n % 3]}}) { totalCount }`,
    );
    database.statements = 0;
    const response = await app.request("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query: `{ ${counts.join(" ")} }` }),
    });
    const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
    expect(errors[0]?.extensions.code).to.equal("TOO_MANY_ROWS");
    // Ten lists of 10,000 rows are counted, and one more list is begun.
    const counted = [...database.sent].filter(({ query }) => query.includes("looked_at"));
    expect(counted.length).to.be.within(1, 11);
  });

  it("counts up to ten thousand, and above that gives the database's estimate", async () => {
    const { read, plans } = await measure("{ hires(first: 0) { totalCount } }");
    expect(read, plans).to.be.at.most(10_001);
    const count = "{ totalCount totalCountIsEstimate }";
    const query = `{ hires${count} clusters${count} large: hires(where: {outcome: FAILURE})${count}
      none: hires(where: {seller: "${LARGE}", outcome: NEUTRAL})${count} }`;
    const response = await app.request("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
    type Counts = { [list: string]: { totalCount: number; totalCountIsEstimate: boolean } };
    const { data } = (await response.json()) as { data: Counts };
    expect(data.clusters).to.deep.equal({ totalCount: 82, totalCountIsEstimate: false });
    expect(data.hires?.totalCountIsEstimate).to.equal(true);
    expect(data.hires?.totalCount).to.be.within(23_000, 26_000);
    // Each of these lists is too long to be read completely. One hire in fifty fails.
    expect(data.large?.totalCountIsEstimate).to.equal(true);
    expect(data.large?.totalCount).to.be.within(200, 1_000);
    expect(data.none).to.deep.equal({ totalCount: 0, totalCountIsEstimate: false });
  });
});
