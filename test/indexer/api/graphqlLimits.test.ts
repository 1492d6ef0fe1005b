import { expect } from "chai";
import { getIntrospectionQuery } from "graphql";
import { createApi } from "../../../indexer/api/app.ts";
import { LIMITS, type Limits } from "../../../indexer/api/graphql/limits.ts";
import { graphqlSchema } from "../../../indexer/api/graphql/schema.ts";
import { graphqlServer } from "../../../indexer/api/graphql/server.ts";

type Answer = { errors?: { message: string; extensions: { code: string } }[] };

const dependencies = {
  operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
  node: { chainId: 1, token: `0x${"70".repeat(20)}` },
  settlementUrl: null,
};

/** An answer without rows. It has the form of drizzle's own queries and the form of raw statements. */
const nothing = Object.assign([] as unknown[], { rows: [] });

/** A database in which every query gets what `result` gives. */
function databaseOf(result: () => Promise<unknown[]>) {
  const query: object = new Proxy(() => query, {
    get: (_, name) => (name === "then" ? (...args: []) => result().then(...args) : query),
    apply: () => query,
  });
  return query as never;
}

describe("GraphQL limits", () => {
  const app = createApi({ ...dependencies, db: databaseOf(async () => nothing) });

  async function post(
    query: string,
    variables: object = {},
    operationName?: string,
  ): Promise<{ status: number; body: Answer }> {
    const response = await app.request("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, variables, operationName }),
    });
    return { status: response.status, body: (await response.json()) as Answer };
  }

  async function codeOf(query: string, variables: object = {}): Promise<string | undefined> {
    const { body } = await post(query, variables);
    expect(body.errors, query).to.have.length.above(0);
    return body.errors?.[0]?.extensions.code;
  }

  const nested = (levels: number) =>
    `{ agents { nodes ${"{ hires { nodes { seller ".repeat(levels)}{ id }${" } } }".repeat(levels)} } }`;

  it("refuse queries that are too deep, too long, too wide or too costly, each with a code", async () => {
    expect(await codeOf(nested(5))).to.equal("QUERY_TOO_DEEP");
    expect(await codeOf(`{ ${"a: meta { time } ".repeat(LIMITS.tokens / 4)} }`)).to.equal("QUERY_TOO_LONG");
    const aliases = Array.from({ length: LIMITS.aliases + 1 }, (_, n) => `a${n}: meta { time }`);
    expect(await codeOf(`{ ${aliases.join(" ")} }`)).to.equal("TOO_MANY_ALIASES");
    const costly = "{ agents(first: 100) { nodes { hires(first: 100) { nodes { id tx outcome } } } } }";
    expect(await codeOf(costly)).to.equal("QUERY_TOO_COSTLY");
  });

  it("apply to page sizes in variables too", async () => {
    const pages = Array.from({ length: 25 }, (_, n) => `a${n}: agents(first: $n) { nodes { id } }`);
    const query = `query ($n: Int) { ${pages.join(" ")} }`;
    expect(await codeOf(query, { n: 100 })).to.equal("TOO_MANY_ROWS");
    expect((await post(query, { n: 50 })).body.errors).to.equal(undefined);
  });

  it("allow the introspection with which GraphiQL starts", async () => {
    expect((await post(getIntrospectionQuery())).body.errors).to.equal(undefined);
  });

  it("read the schema once, however often the same introspection is requested", async () => {
    const { getTypeMap } = graphqlSchema;
    let read = 0;
    graphqlSchema.getTypeMap = () => {
      read++;
      return getTypeMap.call(graphqlSchema);
    };
    try {
      const types = "{ __schema { types { name description fields { name description } } } }";
      const first = await post(types);
      expect(first.body.errors).to.equal(undefined);
      expect(read).to.be.above(0);
      read = 0;
      for (const same of [types, `# again\n${types}`, types.replaceAll(" ", ",\n  ")])
        expect(await post(same)).to.deep.equal(first);
      expect(read).to.equal(0);
      // Another query gets its own answer, and so does a query with a named operation.
      const others = await post(types.replace("description fields", "kind fields"));
      expect(others.body).not.to.deep.equal(first.body);
      expect(read).to.be.above(0);
      const chosen = `query a($x: Boolean!) { __schema { types { name description fields { name description @include(if: $x) } } } }`;
      const [withIt, without] = [await post(chosen, { x: true }), await post(chosen, { x: false })];
      expect(withIt.body).to.deep.equal(first.body);
      expect(without.body).not.to.deep.equal(first.body);
      const named = `query a ${types} query b { __schema { types { kind fields { name description } } } }`;
      const [a, b] = await Promise.all(["a", "b"].map((it) => post(named, {}, it)));
      expect([(await post(named, {}, "a")).body, (await post(named, {}, "b")).body]).to.deep.equal([
        a?.body,
        b?.body,
      ]);
      expect(a?.body).to.deep.equal(first.body);
      expect(b?.body).not.to.deep.equal(first.body);
      expect(await codeOf(named)).to.equal("OPERATION_RESOLUTION_FAILURE");
    } finally {
      graphqlSchema.getTypeMap = getTypeMap;
    }
  });

  it("answer malformed queries with a code", async () => {
    expect(await codeOf("{ agents {")).to.equal("GRAPHQL_PARSE_FAILED");
    expect(await codeOf("{ nothing }")).to.equal("GRAPHQL_VALIDATION_FAILED");
    expect(await codeOf('{ agent(address: "0x12") { id } }')).to.equal("INVALID_ARGUMENT");
    const query = "query ($a: Address!) { agent(address: $a) { id } }";
    expect(await codeOf(query, { a: "'; DROP TABLE agent; --" })).to.equal("INVALID_ARGUMENT");
    expect(await codeOf("{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }")).to.be.a(
      "string",
    );
  });

  it("refuse a body over 64 KiB without reading it", async () => {
    const { status, body } = await post(`{ meta { time } } # ${"x".repeat(65_536)}`);
    expect(status).to.equal(413);
    expect(body.errors?.[0]?.extensions.code).to.equal("QUERY_TOO_LONG");
  });

  it("tell the client nothing about internal faults", async () => {
    const db = databaseOf(() => Promise.reject(new Error("password is swordfish")));
    const broken = createApi({ ...dependencies, db });
    const response = await broken.request("/graphql?query={meta{time}}");
    const text = await response.text();
    expect(text).not.to.contain("swordfish");
    expect(JSON.parse(text).errors[0].extensions.code).to.equal("INTERNAL_SERVER_ERROR");
  });

  describe("of time and size", () => {
    const server = (db: never, limits: Partial<Limits>) =>
      graphqlServer({ ...dependencies, db, limits: { ...LIMITS, ...limits } });
    const answerFrom = async (yoga: ReturnType<typeof graphqlServer>, query: string) => {
      const response = await yoga.fetch(`http://node/graphql?query=${encodeURIComponent(query)}`);
      const body = (await response.json()) as Answer;
      const retryAfter = response.headers.get("retry-after");
      return { code: body.errors?.[0]?.extensions.code, status: response.status, retryAfter };
    };
    const codeFrom = async (yoga: ReturnType<typeof graphqlServer>, query: string) =>
      (await answerFrom(yoga, query)).code;

    it("end a query that takes too long, and start none of its later reads", async () => {
      let asked = 0;
      const slow = databaseOf(() => {
        asked++;
        return new Promise(() => {});
      });
      expect(await codeFrom(server(slow, { milliseconds: 20 }), "{ agents { nodes { id } } }")).to.equal(
        "QUERY_TIMEOUT",
      );
      // One read is for the list, and one is for the tick of the answer.
      expect(asked).to.equal(2);
    });

    it("give a code when the database ended the statement, and 503 when it has no free connection or locked tables", async () => {
      const canceled = databaseOf(() =>
        Promise.reject(Object.assign(new Error("canceled"), { code: "57014" })),
      );
      expect(await codeFrom(server(canceled, {}), "{ agents { nodes { id } } }")).to.equal("QUERY_TIMEOUT");
      const full = databaseOf(() => Promise.reject(new Error("timeout exceeded when trying to connect")));
      const locked = databaseOf(() => Promise.reject(Object.assign(new Error("locked"), { code: "55P03" })));
      for (const busy of [full, locked]) {
        const answer = await answerFrom(server(busy, {}), "{ agents { nodes { id } } }");
        expect(answer).to.deep.equal({ code: "OVERLOADED", status: 503, retryAfter: "5" });
      }
    });

    it("refuse an answer that would be too large", async () => {
      const yoga = server(
        databaseOf(async () => nothing),
        { answerCharacters: 100 },
      );
      const fields = Array.from({ length: 10 }, (_, n) => `a${n}: agents { nodes { id } }`).join(" ");
      expect(await codeFrom(yoga, `{ ${fields} }`)).to.equal("RESPONSE_TOO_LARGE");
      expect(await codeFrom(yoga, "{ agents { nodes { id } } }")).to.equal(undefined);
    });
  });

  it("show GraphiQL to a browser, with all files from this server", async () => {
    const response = await app.request("/graphql", { headers: { accept: "text/html" } });
    expect(response.headers.get("content-type")).to.contain("text/html");
    const page = await response.text();
    expect(page).to.contain("Tallystick");
    expect(page).to.not.match(/<(?:script|link)[^>]+(?:src|href)=["']?https?:/);
  });
});
