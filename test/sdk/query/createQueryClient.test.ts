import { expect } from "chai";
import type { Hono } from "hono";
import type { InvalidInputError } from "tallystick-protocol/errors";
import type * as answers from "tallystick-sdk/query/answers";
import { createQueryClient, type QueryClient } from "tallystick-sdk/query/createQueryClient";
import type { ServiceError } from "tallystick-sdk/requestService";
import type { z } from "zod";
import { createApi } from "../../../indexer/api/app.ts";
import type * as schemas from "../../../indexer/api/rest/schemas.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { EventLog, wallet } from "../../derive/eventLog.ts";
import { testDatabase } from "../../support/testDatabase.ts";

/** Compiles only when each of the two types is assignable to the other. */
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : never) : never;

/** The client's types are those of the node's schemas for requests and answers. */
const same: [
  Same<answers.SearchRequest, z.input<typeof schemas.searchRequest>>,
  Same<answers.SearchAnswer, schemas.SearchResponse>,
  Same<answers.ReputationAnswer, schemas.ReputationResponse>,
  Same<answers.ClusterAnswer, schemas.ClusterResponse>,
  Same<answers.ListingsAnswer, schemas.ListingsResponse>,
  Same<answers.ReceiptsAnswer, schemas.ReceiptsResponse>,
  Same<answers.ParamsAnswer, schemas.ParamsResponse>,
] = [true, true, true, true, true, true, true];

const [seller, buyer] = [wallet(1), wallet(2)];

describe("createQueryClient", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let app: Hono;
  let client: QueryClient;

  before(async () => {
    database = await openApiDatabase(await testDatabase());
    const node = { chainId: 31_337, token: wallet(0x70) };
    const log = new EventLog();
    for (let n = 0; n < 3; n++) log.after(1).listing(seller, `text.task${n}`);
    for (let n = 0; n < 5; n++) log.after(1).hire(seller, buyer, { passed: n > 0 });
    const { store } = await log.after(60).tick().derive();
    await database.fill(store);
    app = createApi({
      db: database.db,
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node,
      settlementUrl: null,
    });
    client = createQueryClient({
      baseUrl: "http://node.example/",
      fetch: async (url, init) => app.request(url, init),
    });
  });
  after(async () => {
    await database?.close();
  });

  it("sends no search with a filter that is not a finite number", async () => {
    for (const limit of [Number.NaN, Number.POSITIVE_INFINITY]) {
      const answer = client.search({ capability: "text.task0", min_success_rate: limit, limit: 5 });
      const error = await answer.then(
        () => null,
        (reason: InvalidInputError) => reason,
      );
      expect(error?.code).to.equal("invalid_input");
      expect(error?.issues.map(({ field }) => field)).to.deep.equal(["min_success_rate"]);
    }
  });

  it("sends no GraphQL variable that is not a finite number, at any depth", async () => {
    for (const limit of [Number.NaN, Number.NEGATIVE_INFINITY]) {
      const answer = client.graphql.agents({
        where: { minSuccessRate: limit, capability: null },
        first: limit,
      });
      const error = await answer.then(
        () => null,
        (reason: InvalidInputError) => reason,
      );
      expect(error?.code).to.equal("invalid_input");
      expect(error?.issues.map(({ field }) => field)).to.deep.equal(["where.minSuccessRate", "first"]);
      expect(error?.message).to.equal(`where.minSuccessRate: must be a finite number, not ${limit}`);
    }
  });

  it("has the types of the node's schemas", () => {
    expect(same).to.not.include(false);
  });

  it("searches", async () => {
    const { agents, next_cursor } = await client.search({ capability: "text.task1", min_success_rate: 0.8 });
    expect(agents.map((it) => it.agent_id)).to.deep.equal([seller]);
    expect(agents[0]?.listing).to.include({ capability: "text.task1", price_usdc: "0.50" });
    expect(next_cursor).to.equal(null);
  });

  it("gives an agent's reputation, cluster, listings and receipts, page by page", async () => {
    expect(await client.reputation(seller)).to.include({ success_rate: 0.8, private_metrics: false });
    expect(await client.cluster(seller)).to.include({ cluster_id: null });
    const first = await client.listings(seller, { limit: 2 });
    const rest = await client.listings(seller, { limit: 2, cursor: first.next_cursor });
    expect([...first.listings, ...rest.listings].map((it) => it.capability)).to.deep.equal([
      "text.task0",
      "text.task1",
      "text.task2",
    ]);
    const { receipts } = await client.receipts(seller, { limit: 1 });
    expect(receipts[0]?.hire).to.include({ outcome: "success" });
  });

  it("queries GraphQL with typed functions, and throws the node's error codes", async () => {
    const agent = await client.agent(seller);
    expect(agent).to.include({ successRate: 0.8, last30dHireCountRaw: 5 });
    expect(agent?.hires.nodes).to.have.length(5);
    expect(await client.agent(wallet(99))).to.equal(null);
    const { agents } = await client.graphql.agents({ where: { minSuccessRate: 0.5 }, first: 5 });
    expect(agents.nodes.map((it) => it.address)).to.deep.equal([seller]);
    const refused = await client.graphql.agents({ first: 101 }).catch((error: ServiceError) => error);
    expect(refused).to.include({ name: "ServiceError", code: "PAGE_TOO_LARGE" });
  });

  it("gives the parameters in force", async () => {
    expect(await client.params()).to.include({ version: 1 });
  });

  it("throws the node's problem with the problem's code", async () => {
    const refused = await client.reputation(wallet(99)).catch((error: ServiceError) => error);
    expect(refused).to.include({ name: "ServiceError", code: "unknown_agent", status: 404 });
    const wrong = await client.search({ capability: "x" }).catch((error: ServiceError) => error);
    expect(wrong).to.include({ code: "invalid_input", status: 400 });
  });
});

describe("a node whose answer has another form", () => {
  const clientOf = (text: string, status = 200) =>
    createQueryClient({ baseUrl: "http://node.example", fetch: async () => new Response(text, { status }) });

  it("gives a ServiceError for each question over REST, and no TypeError", async () => {
    const any = ["", "null", "[]", "7", "<html>", "[".repeat(100_000)];
    const lists = (name: string, item: string) => [
      ...any,
      "{}",
      `{"${name}":{}}`,
      `{"${name}":[null]}`,
      `{"${name}":[${item}],"next_cursor":7}`,
    ];
    const cases: [(client: QueryClient) => Promise<unknown>, string[]][] = [
      [(client) => client.search({ capability: "text.task0" }), lists("agents", "{}")],
      [(client) => client.listings(seller), lists("listings", "{}")],
      [(client) => client.receipts(seller), lists("receipts", "{}")],
      [(client) => client.cluster(seller), [...lists("co_members", '"0x"'), '{"co_members":[{}]}']],
      [(client) => client.reputation(seller), any],
      [(client) => client.sla(seller), any],
      [(client) => client.params(), any],
    ];
    for (const [ask, texts] of cases)
      for (const text of texts) {
        const failure = await ask(clientOf(text)).catch((error: unknown) => error);
        expect(failure, `${ask} ${text.slice(0, 60)}`).to.include({
          ...{ name: "ServiceError", code: "unreadable_answer", status: 0 },
        });
      }
  });

  it("names the wrong field of a list", async () => {
    const messages = await Promise.all(
      ['{"agents":{}}', '{"agents":[],"next_cursor":7}'].map(async (text) => {
        const failure = clientOf(text).search({ capability: "text.task0" });
        return await failure.then(String, ({ message }: Error) => message);
      }),
    );
    expect(messages).to.deep.equal([
      "The node's answer does not have the expected form. Wrong part: agents.",
      "The node's answer does not have the expected form. Wrong part: next_cursor.",
    ]);
  });

  it("is not waited for when the caller stops", async () => {
    const asks: ((client: QueryClient, signal: AbortSignal) => Promise<unknown>)[] = [
      (client, signal) => client.search({ capability: "text.task0" }, { signal }),
      (client, signal) => client.listings(seller, {}, { signal }),
      (client, signal) => client.sla(seller, { signal }),
      (client, signal) => client.graphql.status({ signal }),
      (client, signal) => client.graphql.audit({ id: "0x" }, { signal }),
      (client, signal) => client.graphql.agents({ first: 1 }, { signal }),
    ];
    for (const ask of asks) {
      const stop = new AbortController();
      let asked = 0;
      const client = createQueryClient({
        baseUrl: "http://node.example",
        fetch: async () => {
          asked++;
          queueMicrotask(() => stop.abort(new Error("stopped")));
          return new Promise(() => {});
        },
      });
      const failure = await ask(client, stop.signal).catch((error: Error) => error.message);
      expect([failure, asked], String(ask)).to.deep.equal(["stopped", 1]);
    }
  });

  it("is read if it has more fields, or no cursor", async () => {
    const answer = await clientOf('{"agents":[{"agent_id":"0x1","new":1}],"more":{}}').search({
      capability: "text.task0",
    });
    expect(answer).to.deep.equal({
      ...{ agents: [{ agent_id: "0x1", new: 1 }], more: {}, next_cursor: null },
    });
  });

  it("gives a ServiceError for GraphQL, whatever its errors are", async () => {
    for (const text of [
      ...["", "null", "[]", "{}", '{"data":7}', '{"data":null}', '{"data":{},"errors":[null]}'],
      ...['{"errors":7}', '{"errors":{}}', '{"errors":[{"message":{},"extensions":{"code":{}}}]}'],
      '{"errors":["x"]}',
    ]) {
      const failure = await clientOf(text)
        .graphql.status()
        .catch((error: unknown) => error);
      expect(failure, text).to.include({
        ...{ name: "ServiceError", code: "http_error", status: 200 },
        message: "/graphql answered 200",
      });
    }
  });
});
