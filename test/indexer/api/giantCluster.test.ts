import { expect } from "chai";
import { createApi } from "../../../indexer/api/app.ts";
import { GRAPH_LIMITS } from "../../../indexer/api/rows/clusterGraph.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { testDatabase } from "../../support/testDatabase.ts";
import { cast, node, openApiStory } from "../support/apiStory.ts";

const MEMBERS = 20_000;
const PARTS = 500;

type Graph = { nodes: { depth: number }[]; edges: object[]; signals: object[]; isWhole: boolean };

const NOTHING: Graph = { nodes: [], edges: [], signals: [], isWhole: true };

/**
 * A ring of 20,000 agents that merged from 500 clusters, with 20,000 funders. One of the funders has a hundred thousand
 * fundings.
 */
describe("a giant cluster", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let app: ReturnType<typeof createApi>;

  before(async () => {
    const { derived } = await openApiStory();
    database = await openApiDatabase(await testDatabase(), { indexes: true });
    await database.fill(derived.store);
    const copy = (table: string, from: string, series: string, changes: string) =>
      database.pool.query(`INSERT INTO ${table} SELECT row.* FROM (SELECT * FROM ${table} WHERE ${from} ORDER BY id LIMIT 1) AS model,
        generate_series(${series}) AS n, LATERAL jsonb_populate_record(null::public.${table}, to_jsonb(model) || jsonb_build_object(${changes})) AS row`);
    const hex = (n: string) => `'0x' || lpad(to_hex(${n}), 40, '0')`;
    const part = (n: string) => `'clst_part' || lpad((${n})::text, 4, '0')`;
    await copy(
      "agent",
      `id = '${cast.ring[0]}'`,
      `0, ${MEMBERS - 1}`,
      `'id', ${hex("n + 1000000")}, 'registered_block', n, 'ownership_cluster', ${part(`n % ${PARTS}`)}`,
    );
    await copy(
      "cluster",
      "kind = 'ownership'",
      `0, ${PARTS - 1}`,
      `'id', ${part("n")}, 'ordinal', 100 + n, 'size', ${MEMBERS}, 'parent', ${part("0")}, 'merged_into', CASE WHEN n > 0 THEN ${part("n / 2")} END`,
    );
    const leg = (from: string) => `${from} || ' ' || n || ' 1767225600 1'`;
    await copy(
      "wallet",
      "true",
      `0, ${MEMBERS - 1}`,
      `'id', ${hex("n + 1000000")}, 'kind', null, 'fundings', ${leg(hex("n + 2000000"))}`,
    );
    await database.pool.query(`INSERT INTO wallet SELECT row.* FROM (SELECT * FROM wallet LIMIT 1) AS model,
      LATERAL jsonb_populate_record(null::wallet, to_jsonb(model) || jsonb_build_object('id', ${hex("2000000")}, 'kind', null, 'fundings',
        (SELECT string_agg(${leg(hex("n + 3000000"))}, E'\\n') FROM generate_series(1, 100000) AS n))) AS row`);
    await copy(
      "trip",
      "true",
      `1000, ${999 + MEMBERS}`,
      `'id', n::text, 'members', ${hex("n + 999000")} || ',' || ${hex("n + 999001")}, 'cluster', ${part("0")}`,
    );
    await database.pool.query(`INSERT INTO list (id, length, tail) SELECT 'tripsIn/' || ${part("0")}, ${MEMBERS}, '';
      INSERT INTO list_page (id, items) SELECT 'tripsIn/' || ${part("0")} || '/' || page, string_agg((1000 + page * 16 + n)::text, E'\\n' ORDER BY n)
      FROM generate_series(0, ${MEMBERS / 16 - 1}) AS page, generate_series(0, 15) AS n GROUP BY page; ANALYZE`);
    app = createApi({
      db: database.db,
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node,
      settlementUrl: null,
    });
  });
  after(() => database?.close());

  const ask = async (query: string) => {
    const response = await app.request("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query }),
    });
    return (await response.json()) as {
      data: Record<string, { graph: Graph } | null>;
      errors?: { extensions: { code: string } }[];
    };
  };
  const fields = "{ graph { nodes { address depth } edges { from to } signals { id memberCount } isWhole } }";

  it("is shown up to the limits with a few statements, and the answer says that there is more", async () => {
    database.statements = 0;
    const { data, errors } = await ask(`{ a: cluster(id: "clst_part0499") ${fields} }`);
    expect(errors).to.equal(undefined);
    expect(database.statements).to.be.at.most(30);
    const { nodes, edges, signals, isWhole } = data.a?.graph ?? NOTHING;
    expect(isWhole).to.equal(false);
    expect(nodes.filter(({ depth }) => depth === 0)).to.have.length(GRAPH_LIMITS.members);
    expect(nodes.length).to.be.within(GRAPH_LIMITS.members + 1, GRAPH_LIMITS.members + GRAPH_LIMITS.wallets);
    expect(edges.length).to.be.within(GRAPH_LIMITS.members, GRAPH_LIMITS.edges);
    expect(signals).to.have.length(GRAPH_LIMITS.signals);
    const response = await app.request("/v1/clusters/clst_part0499/graph");
    expect(response.status).to.equal(200);
    expect(((await response.json()) as { is_whole: boolean }).is_whole).to.equal(false);
  });

  it("is refused with few statements if one query asks for it 29 times", async () => {
    database.statements = 0;
    const aliases = Array.from({ length: 29 }, (_, n) => `a${n}: cluster(id: "clst_part0499") ${fields}`);
    const { errors } = await ask(`{ ${aliases.join(" ")} }`);
    expect(errors?.map(({ extensions }) => extensions.code)).to.include("TOO_MANY_ROWS");
    expect(database.statements).to.be.at.most(60);
  });

  it("gives the ids of all its clusters, and its members page by page", async () => {
    type Page = {
      members: { nodes: { id: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } };
      mergedIds: string[];
    };
    const pageAfter = async (cursor?: string): Promise<Page> => {
      const after = cursor ? `, after: "${cursor}"` : "";
      const { data, errors } = await ask(
        `{ a: cluster(id: "clst_part0499") { members(first: 100${after}) { nodes { id } pageInfo { hasNextPage endCursor } } mergedIds } }`,
      );
      expect(errors).to.equal(undefined);
      return data.a as unknown as Page;
    };
    const first = await pageAfter();
    const second = await pageAfter(first.members.pageInfo.endCursor);
    const ids = Array.from({ length: PARTS }, (_, part) => `clst_part${String(part).padStart(4, "0")}`);
    expect(first.mergedIds).to.deep.equal(ids);
    // The members of the first part come first, by their registration, and then those of the second part.
    const inOrder = Array.from({ length: 200 }, (_, n) => {
      const member = Math.floor(n / (MEMBERS / PARTS)) + PARTS * (n % (MEMBERS / PARTS));
      return `0x${(member + 1_000_000).toString(16).padStart(40, "0")}`;
    });
    for (const [n, { members }] of [first, second].entries()) {
      expect(members.nodes.map(({ id }) => id)).to.deep.equal(inOrder.slice(100 * n, 100 * n + 100));
      expect(members.pageInfo.hasNextPage).to.equal(true);
    }
  });
});
