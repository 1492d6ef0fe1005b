import { expect } from "chai";
import { createApi } from "../../../indexer/api/app.ts";
import { nextRulingDue } from "../../../indexer/api/rows/steward.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { testDatabase } from "../../support/testDatabase.ts";
import { node } from "../support/apiStory.ts";
import { measureQuery, measureRequest } from "../support/measureQuery.ts";
import { rowsRead } from "../support/rowsRead.ts";
import { BROKEN, trustStory } from "../support/stewardStory.ts";

const address = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;
const hex = (number: string, width = 40) => `'0x' || lpad(to_hex(${number}), ${width}, '0')`;
const breachOf = (number: string) => `'brch_' || lpad((${number})::text, 26, '0')`;
/**
 * This agent has a little more than a third of the attestations and breaches, all copied hires, and as many guarantees
 * as possible.
 */
const LARGE = address(1_000);
const party = hex("1000 + CASE WHEN n % 3 = 0 THEN 0 ELSE n % 500 END");
/** This breach has thousands of steps, and claims of thousands of buyers. */
const OWING = `brch_${"0".repeat(26)}`;
const MAX_BINDING = 64;

/** Fills tables with changed copies of the story's rows. `n` is the number of the copy. */
const copies: [table: string, from: string, count: number, changes: string][] = [
  ["agent", `id = '${BROKEN}'`, 2_000, `'id', ${hex("1000 + n")}, 'registered_block', 1000 + n`],
  [
    "steward",
    `id = '${BROKEN}'`,
    2_000,
    `'id', ${hex("1000 + n")}, 'score', n * 400000, 'tier', n / 1000, 'alias', CASE WHEN n > 0 THEN 'bulk' || n % 3 ELSE 'one' END,
     'computed_time', CASE WHEN n % 2 = 0 THEN 1767225600 END`,
  ],
  [
    "attestation",
    "true",
    20_000,
    `'id', lpad(to_hex(n), 64, '0'), 'agent', ${party}, 'ran_at', 1767225600 + n`,
  ],
  [
    "sla",
    `id = '${BROKEN}'`,
    2_000,
    `'id', ${hex("1000 + n")}, 'breaches', ${breachOf("n")}, 'binding',
     (SELECT string_agg(${hex("1000 + n")} || '/uptime/7/' || g, chr(10)) FROM generate_series(0, ${MAX_BINDING - 1}) AS g)`,
  ],
  [
    "guarantee",
    "true",
    40 * MAX_BINDING,
    `'id', ${hex(`1000 + n / ${MAX_BINDING}`)} || '/uptime/7/' || n % ${MAX_BINDING}, 'agent', ${hex(`1000 + n / ${MAX_BINDING}`)}, 'open_breach', ${breachOf("n")}`,
  ],
  [
    "breach",
    "true",
    20_000,
    `'id', ${breachOf("n")}, 'agent', ${party}, 'detected_time', 1767225600 + n, 'detected_block', 5000 + n,
     'steps', CASE WHEN n = 0 THEN 5000 ELSE 2 END`,
  ],
  [
    "breach_step",
    "true",
    25_000,
    `'id', CASE WHEN n < 5000 THEN '${OWING}/' || n ELSE ${breachOf("1 + (n - 5000) / 2")} || '/' || n % 2 END,
     'breach', CASE WHEN n < 5000 THEN '${OWING}' ELSE ${breachOf("1 + (n - 5000) / 2")} END, 'agent', '${LARGE}', 'block', 5000 + n / 3`,
  ],
  [
    "hire",
    `seller = '${BROKEN}'`,
    20_000,
    `'id', ${hex("n", 64)} || '-1', 'seller', '${LARGE}', 'time', 1767225600 + n, 'outcome', CASE WHEN n % 5 = 0 THEN 'failure' ELSE 'success' END`,
  ],
];

describe("trust scores and SLAs over many rows", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let app: ReturnType<typeof createApi>;

  before(async () => {
    database = await openApiDatabase(await testDatabase(), { indexes: true });
    await database.fill((await trustStory().derive()).store);
    for (const [table, from, count, changes] of copies) {
      await database.pool.query(`
        INSERT INTO ${table} SELECT row.*
        FROM (SELECT * FROM ${table} WHERE ${from} ORDER BY id LIMIT 1) AS model, generate_series(0, ${count - 1}) AS n,
          LATERAL jsonb_populate_record(null::public.${table}, to_jsonb(model) || jsonb_build_object(${changes})) AS row`);
    }
    await database.pool.query(`
      INSERT INTO sla_claim (id, breach, buyer, owed, payment)
      SELECT '${OWING}/' || ${hex("5000 + n")}, '${OWING}', ${hex("5000 + n")}, 1000, NULL FROM generate_series(1, 20000) AS n`);
    await database.pool.query(
      "INSERT INTO _ponder_checkpoint VALUES (lpad('', 75, '9'), '0000000000' || lpad('31337', 16, '0') || lpad('100000', 16, '0') || lpad('', 33, '0'))",
    );
    await database.pool.query("ANALYZE");
    const operations = { readBlocked: async () => null, readBlockedTransfers: async () => null };
    const reportKey = new Uint8Array(32).fill(5);
    app = createApi({ db: database.db, operations, node, settlementUrl: null, reportKey });
  });
  after(() => database?.close());

  const sla = (fields: string) => `{ agent(address: "${LARGE}") { sla { ${fields} } } }`;
  const steward = (fields: string) => `{ agent(address: "${LARGE}") { steward { ${fields} } } }`;
  const queries: [name: string, query: string][] = [
    ["scores", "{ trustScores(first: 20) { nodes { address score } } }"],
    ["scores with their agents", "{ trustScores(first: 20) { nodes { agent { id } } } }"],
    ["the lowest scores", "{ trustScores(first: 20, orderDirection: ASC) { nodes { address } } }"],
    ["scores from 0.5 on", "{ trustScores(first: 20, minScore: 0.5) { nodes { address } } }"],
    [
      "a score with all its factors",
      steward("score factors { name value evidence } badges requirements { isMet }"),
    ],
    ["an agent's attestations", steward("attestations(first: 20) { nodes { recordHash } }")],
    [
      "an agent's first attestations",
      steward("attestations(first: 20, orderDirection: ASC) { nodes { recordHash } }"),
    ],
    [
      "an SLA with all its guarantees",
      sla("overallStatus suspendedUntil guarantees { id openBreach { id } } tierRequirements { isMet }"),
    ],
    ["an agent's breaches", sla("breaches(first: 20) { nodes { id agent { id } } }")],
    ["breaches with their steps", sla("breaches(first: 20) { nodes { id steps { step breach { id } } } }")],
    [
      "a breach with thousands of steps and claims",
      `{ breach(id: "${OWING}") { steps { step } claims(first: 20) { nodes { buyer } } } }`,
    ],
    ["agents with their SLAs", "{ agents(first: 10) { nodes { id sla { version } steward { score } } } }"],
  ];
  for (const [name, query] of queries) {
    it(`read at most ten rows for each row of the answer: ${name}`, async () => {
      const { read, given, plans } = await measureQuery(app, database, query);
      expect(given, "objects given").to.be.above(0);
      expect(read, plans).to.be.at.most(10 * given);
    });
  }

  it("read at most ten rows for each row of a page, also if a filter matches nothing", async () => {
    const { read, plans } = await measureQuery(
      app,
      database,
      "{ trustScores(first: 20, tier: HIGHLY_TRUSTED) { nodes { address } pageInfo { hasNextPage } } }",
    );
    expect(read, plans).to.be.at.most(10 * 20 + 1);
  });

  const requests: [path: string, most: number][] = [
    [`/v1/agents/${LARGE}/trust-report`, 10],
    // Each guarantee of the agent is read. So are 21 breaches: the answer has 20, and one more shows whether others
    // follow.
    [`/v1/agents/${LARGE}/sla`, 10 + MAX_BINDING + 21],
    // One hire in five failed. A page reads at most ten rows for each row that it may return.
    [`/v1/agents/${LARGE}/failures?limit=20&days=90`, 10 + 10 * 20],
    ["/v1/aliases/one", 10],
    // Each step is read with its breach and the SLA of its agent.
    ["/v1/breach-steps?from_block=5000&limit=20", 3 * 21],
    ["/v1/breach-steps?from_block=9000&limit=20", 3 * 21],
  ];
  for (const [path, most] of requests) {
    it(`read only a few rows more than a request needs: ${path.replace(LARGE, "{id}")}`, async () => {
      const { read, plans } = await measureRequest(app, database, path);
      expect(read, plans).to.be.at.most(most);
    });
  }

  it("find the next dispute that needs a ruling, and read no other dispute", async () => {
    const decidedBy = 1_800_000_000;
    await database.pool.query(
      `UPDATE breach SET status = 'disputed', decided_by = ${decidedBy} + length(id) WHERE right(id, 2) = '77'`,
    );
    await database.pool.query("ANALYZE breach");
    database.statements = 0;
    expect(await nextRulingDue(database.db)).to.equal(decidedBy + OWING.length);
    const [sent] = database.sent;
    const { read, plan } = await rowsRead(database.pool, sent as (typeof database.sent)[number]);
    expect(read, plan).to.equal(1);
  });

  it("read only two of the agents that claim one alias", async () => {
    const { read, plans } = await measureRequest(app, database, "/v1/aliases/bulk1", { status: 409 });
    // Two claimants are read. The ETag needs three more rows: the checkpoint, the last event and the last payment.
    expect(read, plans).to.be.at.most(2 + 3);
  });

  it("are refused, with a code for the reason, if a query asks for too many rows at once", async () => {
    const codeOf = async (query: string, variables = {}) => {
      const response = await app.request("/graphql", {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ query, variables }),
      });
      const { errors } = (await response.json()) as { errors?: { extensions: { code: string } }[] };
      return errors?.[0]?.extensions.code;
    };
    const pages = (n: string, m: string) =>
      `agents(first: ${n}) { nodes { sla { breaches(first: ${m}) { nodes { id claims(first: ${m}) { nodes { buyer } } } } } } }`;
    expect(await codeOf(`{ ${pages("100", "100")} }`)).to.equal("QUERY_TOO_COSTLY");
    expect(await codeOf(`query ($n: Int) { ${pages("$n", "$n")} }`, { n: 40 })).to.equal("TOO_MANY_ROWS");
    const many = Array.from({ length: 30 }, (_, n) => `a${n}: breach(id: "${OWING}") { steps { step } }`);
    expect(await codeOf(`{ ${many.join(" ")} }`)).to.equal("TOO_MANY_ROWS");
    const guarantees = "query ($n: Int) { agents(first: $n) { nodes { sla { guarantees { id } } } } }";
    expect(await codeOf(guarantees, { n: 100 })).to.equal("TOO_MANY_ROWS");
    expect(await codeOf("{ trustScores(first: 101) { nodes { address } } }")).to.equal("PAGE_TOO_LARGE");
  });
});
