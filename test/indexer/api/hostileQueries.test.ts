import { expect } from "chai";
import fc from "fast-check";
import { LIMITS } from "../../../indexer/api/graphql/limits.ts";
import { type ApiStory, openApiStory } from "../support/apiStory.ts";
import {
  gibberish,
  type Hostile,
  injections,
  mutants,
  shapes,
  wellFormed,
} from "../support/hostileQueries.ts";

/** The number of random queries of each kind. `HOSTILE_QUERY_RUNS=100000` gives a long run. */
const RUNS = Number(process.env.HOSTILE_QUERY_RUNS ?? 150);
const isLong = process.env.HOSTILE_QUERY_RUNS !== undefined;

describe("GraphQL under hostile queries", function () {
  this.timeout(180_000 + RUNS * 20);

  let story: ApiStory;
  let asBefore: string;
  const counts = new Map<string, number>();

  const note = (family: string, outcome: string) => {
    const key = `${family}: ${outcome}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
  };

  /** A hash over every row of the tables that an injection may change. */
  const contents = async () => {
    const { rows } = await story.database.pool.query(
      `SELECT (SELECT md5(string_agg(a::text, ',' ORDER BY id)) FROM agent a) || (SELECT md5(string_agg(h::text, ',' ORDER BY id)) FROM hire h) AS hash`,
    );
    return rows[0].hash as string;
  };

  before(async () => {
    story = await openApiStory();
    asBefore = await contents();
  });

  after(async () => {
    const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
    const lines = [...counts].sort().map(([key, count]) => `      ${String(count).padStart(6)}  ${key}`);
    const heap = Math.round(process.memoryUsage().heapUsed / 1e6);
    console.log(`      ${total} hostile queries, ${heap} MB of heap after them:\n${lines.join("\n")}`);
  });

  /** Checks that the answer has a limited size, has a code if it is a refusal, and is never an internal error. */
  async function send({ family, query, variables }: Hostile, init: RequestInit = {}): Promise<void> {
    const response = await story.app.request("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, ...(variables && { variables }) }),
      ...init,
    });
    const text = await response.text();
    const what = `${family} ${response.status}: ${query.slice(0, 200)} ${JSON.stringify(variables)?.slice(0, 100)} → ${text.slice(0, 300)}`;
    expect(response.status, what).to.be.below(500);
    expect(text.length, what).to.be.below(LIMITS.answerCharacters * 1.5);
    const { errors } = text === "" ? { errors: undefined } : JSON.parse(text);
    const codes = (errors ?? []).map(
      (it: { extensions?: { code?: string } }) => it.extensions?.code ?? "no code",
    );
    expect(codes, what).not.to.include("INTERNAL_SERVER_ERROR").and.not.to.include("no code");
    note(family, errors === undefined ? "answered" : codes[0]);
  }

  async function standsAsBefore(): Promise<void> {
    expect(await contents()).to.equal(asBefore);
    const { meta } = await story.ask<{ meta: { digest: string } }>("{ meta { digest } }");
    expect(meta.digest).to.equal(story.derived.digest);
  }

  it("answers or refuses queries that are too deep, too wide, aliased, repeated or circular", async () => {
    for (const hostile of shapes) await send(hostile);
    await standsAsBefore();
  });

  it("refuses every aliased or circular query and every deep list, and reads nothing for a query that it refuses", async () => {
    for (const family of ["deep", "aliased", "circular"]) {
      for (const { query } of shapes.filter((it) => it.family === family)) {
        story.database.statements = 0;
        const { body } = await story.post(query);
        // Some deep queries are as harmless as flat ones, such as fragments in fragments.
        if (family !== "deep" || query.startsWith("{ hires"))
          expect(body.errors, query.slice(0, 200)).to.have.length.above(0);
        if (body.errors !== undefined) expect(story.database.statements, query.slice(0, 200)).to.equal(0);
      }
    }
  });

  it("survives every bad value in every argument and filter", async () => {
    // Each argument gets one seventh of the bad values, and the next argument gets another seventh. In a long
    // run each argument gets all values.
    for (const hostile of injections.filter((_, n) => isLong || n % 7 === 0)) await send(hostile);
    await standsAsBefore();
  });

  it("refuses a batch, and survives other kinds of bodies and headers", async () => {
    const query = "{ meta { time } }";
    const batch = JSON.stringify(Array.from({ length: 1_000 }, () => ({ query })));
    const bodies: [body: string, type: string][] = [
      [batch, "application/json"],
      [JSON.stringify([{ query }]), "application/json"],
      [`${"[".repeat(20_000)}${"]".repeat(20_000)}`, "application/json"],
      [
        `{"query": "{ meta { time } }", "variables": ${'{"a":'.repeat(8_000)}1${"}".repeat(8_000)}}`,
        "application/json",
      ],
      ['{"query": {"a": 1}}', "application/json"],
      ['{"query": "{ meta { time } }", "variables": "x"}', "application/json"],
      ['{"query": "{ meta { time } }", "operationName": 7, "extensions": []}', "application/json"],
      ["{", "application/json"],
      ["", "application/json"],
      ["query=%7Bmeta%7Btime%7D%7D", "application/x-www-form-urlencoded"],
      ["--x\r\n", "multipart/form-data; boundary=x"],
      ["\xff\xfe", "text/plain"],
      [query, "application/graphql"],
      ["x".repeat(70_000), "application/json"],
    ];
    for (const [body, type] of bodies) {
      await send({ family: "body", query: body }, { body, headers: { "content-type": type } });
    }
    for (const body of [batch, JSON.stringify([{ query }])]) {
      const headers = { "content-type": "application/json" };
      const response = await story.app.request("/graphql", { method: "POST", headers, body });
      expect(response.status, body.slice(0, 100)).to.be.within(400, 499);
    }
  });

  it("survives random words, mutated queries, and valid queries for random data", async () => {
    for (const hostile of [gibberish, mutants, wellFormed]) {
      await fc.assert(
        fc.asyncProperty(hostile, (it) => send(it)),
        { numRuns: RUNS, endOnFailure: true },
      );
    }
    await standsAsBefore();
  });

  it("serves other clients while it answers hostile queries", async () => {
    const attack = Promise.all(shapes.slice(0, 60).map((it) => send(it)));
    const { agents } = await story.ask<{ agents: { nodes: object[] } }>(
      "{ agents(first: 5) { nodes { id } } }",
    );
    expect(agents.nodes).to.have.length(5);
    await attack;
  });
});
