import { expect } from "chai";
import { createApi } from "../../../indexer/api/app.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { AUDITED, SELLER } from "../../derive/auditScene.ts";
import { testDatabase } from "../../support/testDatabase.ts";
import { node } from "../support/apiStory.ts";
import { type AuditStory, openAuditStory } from "../support/auditStory.ts";
import { measureQuery } from "../support/measureQuery.ts";

const address = (n: number) => `0x${n.toString(16).padStart(40, "0")}`;
const hex = (number: string, width = 40) => `'0x' || lpad(to_hex(${number}), ${width}, '0')`;
/** This agent is the seller of a third of all audited hires, and the auditor of a third. */
const LARGE = address(1_000);
const party = `${hex("1000 + CASE WHEN n % 3 = 0 THEN 0 ELSE n % 500 END")}`;

/** Fills tables with changed copies of the story's rows. `n` is the number of the copy. */
const copies: [table: string, count: number, changes: string][] = [
  [
    "audit",
    20_000,
    `'id', ${hex("n", 64)} || '-1', 'hire', ${hex("n", 64)} || '-1', 'seller', ${party}, 'eligible_block', 5000 + n / 4, 'capability', 'bulk.task' || n % 40,
     'drawn_block', CASE WHEN n % 30 = 0 THEN 5001 + n / 4 END, 'decision', CASE WHEN n % 90 = 0 THEN 'rollback' END,
     'counted', CASE WHEN n % 90 = 0 THEN 'rolledBack' END,
     'status', CASE WHEN n % 30 > 0 THEN 'eligible' WHEN n % 90 = 0 OR n % 900 = 30 THEN 'failed' ELSE 'passed' END`,
  ],
  [
    "audit_assignment",
    10_000,
    `'id', ${hex("30 * (n / 2)", 64)} || '-1/1/' || (n % 2) + 1, 'hire', ${hex("30 * (n / 2)", 64)} || '-1', 'audit', ${hex("30 * (n / 2)", 64)} || '-1', 'attempt', (n % 2) + 1,
     'auditor', ${party}, 'block', 5001 + n, 'verdict', 'pass'`,
  ],
  ["auditor", 2_000, `'id', '${AUDITED}/' || ${hex("1000 + n")}, 'agent', ${hex("1000 + n")}`],
  [
    "record",
    20_000,
    `'id', 'bulk/' || n, 'hash', lpad(to_hex(n), 64, '0'), 'block', 100 + n, 'type', CASE WHEN n % 1000 = 0 THEN 'audit_actuation' ELSE 'receipt' END`,
  ],
];

describe("GraphQL over many audits", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let app: ReturnType<typeof createApi>;
  let story: AuditStory;

  before(async () => {
    story = await openAuditStory();
    database = await openApiDatabase(await testDatabase(), { indexes: true });
    await database.fill(story.store);
    for (const [table, count, changes] of copies) {
      await database.pool.query(`
        INSERT INTO ${table} SELECT row.*
        FROM (SELECT * FROM ${table} WHERE id > '' ORDER BY id LIMIT 1) AS model, generate_series(0, ${count - 1}) AS n,
          LATERAL jsonb_populate_record(null::public.${table}, to_jsonb(model) || jsonb_build_object(${changes})) AS row`);
    }
    await database.pool.query("ANALYZE");
    const operations = { readBlocked: async () => null, readBlockedTransfers: async () => null };
    app = createApi({ db: database.db, operations, node, settlementUrl: null });
  });
  after(() => database?.close());

  const queries: [name: string, query: string][] = [
    ["audits", "{ audits(first: 20) { nodes { id } } }"],
    ["audits by draw", "{ audits(first: 20, orderBy: DRAWN) { nodes { id seller { id } } } }"],
    ["audits of a seller of thousands", `{ audits(where: {seller: "${LARGE}"}) { nodes { id } } }`],
    [
      "a seller's hires of one status",
      `{ audits(where: {seller: "${LARGE}", status: ROLLED_BACK}) { nodes { id } } }`,
    ],
    ["eligible hires", "{ audits(where: {status: ELIGIBLE}) { nodes { id } } }"],
    ["challenged hires", `{ audits(where: {status: CHALLENGED, operator: "${AUDITED}"}) { nodes { id } } }`],
    ["hires rolled back", "{ audits(where: {status: ROLLED_BACK}) { nodes { id receipt { id } } } }"],
    ["audits with rounds", "{ audits(orderBy: DRAWN) { nodes { rounds { attempts { id } } } } }"],
    ["assignments", "{ auditAssignments { nodes { id audit { id } } } }"],
    ["an auditor's assignments", `{ auditAssignments(where: {auditor: "${LARGE}"}) { nodes { id } } }`],
    ["auditors", "{ auditors { nodes { id rosters { place } } } }"],
    ["auditors of an operator", `{ auditors(where: {operator: "${AUDITED}"}) { nodes { id } } }`],
    ["offers of an agent", `{ auditors(where: {agent: "${LARGE}"}) { nodes { id } } }`],
    ["modes", "{ auditModes { nodes { capability mode } } }"],
    ["operators", "{ auditOperators { nodes { address } } }"],
    ["actuations", "{ auditActuations(first: 2) { nodes { hash } } }"],
  ];

  for (const [name, query] of queries) {
    it(`reads at most ten rows for each row of the answer: ${name}`, async () => {
      const { read, given, plans } = await measureQuery(app, database, query);
      expect(given, "objects given").to.be.above(0);
      expect(read, plans).to.be.at.most(10 * given);
    });
  }

  it("reads at most ten times the page for a filter that matches nothing", async () => {
    for (const query of [
      `{ audits(where: {auditor: "${address(7)}"}) { nodes { id } pageInfo { hasNextPage } } }`,
      `{ audits(where: {seller: "${LARGE}", capability: "no.such"}) { nodes { id } } }`,
      `{ audits(orderBy: DRAWN, where: {status: ABANDONED}) { nodes { id } } }`,
      `{ auditAssignments(where: {auditor: "${LARGE}", open: true}) { nodes { id } } }`,
      `{ auditors(where: {capability: "no.such"}) { nodes { id } } }`,
    ]) {
      const { read, plans } = await measureQuery(app, database, query);
      // A row that is read may need a look-up in another table too.
      expect(read, plans).to.be.at.most(3 * 10 * 20);
    }
  });

  it("reads only the hires that count in a seller's pass rate, and none of its many hires that wait", async () => {
    const { read, given, plans } = await measureQuery(
      app,
      database,
      `{ agent(address: "${SELLER}") { explain(field: AUDIT_PASS_RATE) { audits { nodes { id } } } } }`,
    );
    expect(read, plans).to.be.at.most(10 * given);
  });
});
