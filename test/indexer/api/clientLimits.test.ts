import type { Server } from "node:http";
import { type AddressInfo, connect, createServer } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { expect } from "chai";
import { getIntrospectionQuery } from "graphql";
import { type BudgetLimits, ClientBudgets } from "tallystick-runtime/http/clientBudgets";
import { guardServer } from "tallystick-runtime/http/guardServer";
import { HOLD_MS } from "tallystick-runtime/http/holdMs";
import { budgetOfUpgrade, type ClientLimits, limitClients } from "tallystick-runtime/http/limitClients";
import { limitSockets } from "tallystick-runtime/http/limitSockets";
import { PROMPT_REFUSALS } from "tallystick-runtime/http/refuseRequest";
import { WebSocket } from "ws";
import { createApi } from "../../../indexer/api/app.ts";
import { attachStream } from "../../../indexer/api/stream/attachStream.ts";
import { createStream, type Stream } from "../../../indexer/api/stream/createStream.ts";
import { waitUntil } from "../../../scripts/processes/waitUntil.ts";
import { converse, statusesOf } from "../../support/rawConnection.ts";
import { type ApiStory, node, openApiStory } from "../support/apiStory.ts";

const ample: BudgetLimits = { pointsPerSecond: 1, burst: 1_000, atOnce: 4, waiting: 8, streams: 100 };
const costly = `{ ${Array.from({ length: 20 }, (_, n) => `a${n}: agents(first: 50) { nodes { id } }`).join(" ")} }`;
const subscription = { query: 'subscription { hireCounted(after: "0") { position } }' };

describe("the API with one client that asks too much", () => {
  let story: ApiStory;
  let server: Server;
  let stream: Stream;
  let url: string;
  let port: number;
  let budgets: ClientBudgets;
  /** The time of the budgets, in seconds. Only a test changes it. */
  let now = 0;

  before(async () => {
    story = await openApiStory();
  });

  async function open(
    limits: Partial<BudgetLimits>,
    { sockets = 0, subscriptions = 500 } = {},
  ): Promise<void> {
    const app = createApi({
      db: story.database.db,
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node,
      settlementUrl: null,
      subscriptions,
    });
    budgets = new ClientBudgets({ ...ample, ...limits }, () => now);
    const clients: ClientLimits = {
      budgets,
      trustedProxies: sockets > 0 ? 0 : 1,
    };
    server = createAdaptorServer({ fetch: app.fetch }) as Server;
    stream = createStream({ db: story.database.db, budgetOf: (it) => budgetOfUpgrade(it, clients) });
    guardServer(server, (error) => {
      throw error;
    });
    limitSockets(server, {
      budgets: clients.budgets,
      trustedProxies: clients.trustedProxies,
      perAddress: sockets,
      inAll: 1_000,
    });
    limitClients(server, clients);
    attachStream(server, stream);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    port = (server.address() as AddressInfo).port;
    url = `http://127.0.0.1:${port}`;
  }
  afterEach(async () => {
    stream.close();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });

  const ask = (client: string, body: object, init: { accept?: string; signal?: AbortSignal } = {}) =>
    fetch(`${url}/graphql`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        "x-forwarded-for": client,
        ...(init.accept && { accept: init.accept }),
      },
      body: JSON.stringify(body),
      ...(init.signal && { signal: init.signal }),
    });
  const statusOf = async (client: string, query: string) => {
    const response = await ask(client, { query });
    await response.text();
    return response.status;
  };

  it("refuses the client with 429 and Retry-After when its queries have cost too much, and serves other clients", async () => {
    await open({ burst: 120 });
    let served = 0;
    let refused: Response | undefined;
    for (let n = 0; n < 50 && refused === undefined; n++) {
      const response = await ask("1.2.3.4", { query: costly });
      if (response.status === 429) refused = response;
      else {
        expect(((await response.json()) as { errors?: object }).errors).to.equal(undefined);
        served++;
      }
      expect(await statusOf(`9.9.9.${n}`, "{ meta { block } }")).to.equal(200);
    }
    // A thousand rows cost fifty points. Two requests fit, and a third on credit.
    expect(served).to.equal(3);
    expect(Number(refused?.headers.get("retry-after"))).to.be.within(1, 242);
    expect(refused?.headers.get("access-control-expose-headers")).to.equal("retry-after");
    expect(await refused?.json()).to.include({ code: "rate_limited", status: 429 });
    now += Number(refused?.headers.get("retry-after"));
    expect(await statusOf("1.2.3.4", "{ meta { block } }")).to.equal(200);
  });

  it("does not run a waiting request when earlier requests have used up the points", async () => {
    await open({ burst: 120, atOnce: 1, waiting: 64 });
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask("1.2.3.4", { query: costly })));
    const served = answers.filter((it) => it.status === 200);
    const refused = answers.filter((it) => it.status === 429);
    for (const it of answers) await it.text();
    // Each query costs fifty points. Each request that waits costs one point.
    expect([served.length, refused.length].join("+")).to.be.oneOf(["2+18", "3+17"]);
    expect(Number(refused[0]?.headers.get("retry-after"))).to.be.within(1, 242);
    expect(await statusOf("5.6.7.8", "{ meta { block } }")).to.equal(200);
    now += 242;
    expect(await statusOf("1.2.3.4", "{ meta { block } }")).to.equal(200);
  });

  it("charges for the whole schema, also when the answer comes from a cache", async () => {
    await open({ burst: 150 });
    const statuses: number[] = [];
    for (let n = 0; n < 12; n++)
      statuses.push(await statusOf(n === 0 ? "5.6.7.8" : "1.2.3.4", getIntrospectionQuery()));
    expect(statuses.filter((it) => it === 200).length).to.be.within(5, 11);
    expect(statuses.at(-1)).to.equal(429);
  });

  it("ignores addresses that a client itself writes into X-Forwarded-For, and counts an IPv6 network as one client", async () => {
    await open({ burst: 3 });
    for (let n = 0; n < 3; n++) await statusOf(`7.7.7.${n}, 1.2.3.4`, "{ __typename }");
    expect(await statusOf("8.8.8.8, 1.2.3.4", "{ __typename }")).to.equal(429);
    for (let n = 0; n < 3; n++) await statusOf(`2001:db8::${n}`, "{ __typename }");
    expect(await statusOf("2001:db8::ffff:9", "{ __typename }")).to.equal(429);
    expect(await statusOf("2001:db8:0:1::1", "{ __typename }")).to.equal(200);
  });

  it("counts every request of a pipeline, and closes the connection after the first one above the limit", async () => {
    await open({ burst: 5 });
    const request = "GET /graphql?query={__typename} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n";
    const answer = await converse(port, { parts: [request.repeat(50)], listenMs: 60_000 });
    const statuses = statusesOf(answer);
    expect(statuses.filter((it) => it !== 429)).to.have.length(5);
    expect(answer.closed).to.equal(true);
  });

  it("runs few requests of the client at a time, lets a few others wait, and refuses the rest", async () => {
    await open({ atOnce: 2, waiting: 3 });
    const answers = await Promise.all(Array.from({ length: 30 }, () => statusOf("1.2.3.4", costly)));
    expect(answers.filter((it) => it === 200).length).to.be.within(5, 29);
    expect(answers.filter((it) => it === 429).length).to.be.above(0);
    expect(await statusOf("1.2.3.4", "{ meta { block } }")).to.equal(200);
  });

  it("counts the bytes that a request makes the server read", async () => {
    await open({ burst: 40 });
    const long = `{ meta { block } } # ${"x".repeat(60_000)}`;
    expect(await statusOf("1.2.3.4", long)).to.equal(200);
    expect(await statusOf("1.2.3.4", "{ meta { block } }")).to.equal(200);
    for (let n = 0; n < 2; n++) expect(await statusOf("1.2.3.4", long)).to.equal(200);
    expect(await statusOf("1.2.3.4", "{ meta { block } }")).to.equal(429);
    expect(await statusOf("5.6.7.8", "{ meta { block } }")).to.equal(200);
  });

  it("keeps a proxy's connection open, and delays its refusals to a client that keeps asking", async () => {
    await open({ burst: 1 });
    const request = "GET /v1/params HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.2.3.4\r\n\r\n";
    const other =
      "GET /v1/params HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 5.6.7.8\r\nConnection: close\r\n\r\n";
    const first = await converse(port, {
      parts: [request.repeat(1 + PROMPT_REFUSALS), other],
      listenMs: 60_000,
    });
    const statuses = statusesOf(first);
    expect(statuses.filter((it) => it === 429)).to.have.length(PROMPT_REFUSALS);
    expect([statuses[0], statuses.at(-1)]).to.not.include(429);
    const began = performance.now();
    const [held, prompt] = await Promise.all([
      converse(port, { parts: [`${request.slice(0, -2)}Connection: close\r\n\r\n`], listenMs: 60_000 }),
      converse(port, { parts: [other.replace("5.6.7.8", "6.7.8.9")], listenMs: 60_000 }),
    ]);
    expect(statusesOf(held)).to.deep.equal([429]);
    expect(statusesOf(prompt)).to.not.include(429);
    expect(performance.now() - began).to.be.above(HOLD_MS * 0.9);
  });

  it("does not read requests of a client that keeps asking, and answers its connections with 429", async () => {
    await open({ burst: 2 }, { sockets: 8 });
    const stranger = "203.0.113.9";
    // The client's connections pass through this proxy, which gives them another address. A client on the same machine
    // is never a stranger.
    const door = createServer((socket) => {
      Object.defineProperty(socket, "remoteAddress", { value: stranger });
      server.emit("connection", socket);
    });
    await new Promise<void>((resolve) => door.listen(0, "127.0.0.1", resolve));
    try {
      const behind = (door.address() as AddressInfo).port;
      const request = "GET /v1/params HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
      for (let n = 0; n <= PROMPT_REFUSALS; n++)
        await converse(behind, { parts: [request], listenMs: 60_000 });
      const silent = await converse(behind, { parts: [], listenMs: 60_000 });
      expect(silent.text).to.match(/^HTTP\/1\.1 429 [\s\S]*retry-after: [0-9]+\r\n/);
      expect(silent.closed).to.equal(true);
      // A request from the machine itself, such as a health check, is answered.
      const own = await converse(port, { parts: [request], listenMs: 60_000 });
      expect(statusesOf(own)).to.not.include(429);
      now += 30;
      expect(statusesOf(await converse(behind, { parts: [request], listenMs: 60_000 }))).to.not.include(429);
    } finally {
      door.close();
    }
  });

  it("counts subscriptions and WebSockets of a client together, and frees the place of each one that ends", async () => {
    await open({ streams: 2 });
    const first = new AbortController();
    const accept = "text/event-stream";
    // A response that nothing refers to may be collected as garbage, and fetch then closes its stream.
    const firstStream = await ask("1.2.3.4", subscription, { accept, signal: first.signal });
    expect(firstStream.status).to.equal(200);
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/stream`, {
      headers: { "x-forwarded-for": "1.2.3.4" },
    });
    await new Promise((resolve) => socket.once("message", resolve));
    const refused = await ask("1.2.3.4", subscription, { accept });
    expect([refused.status, refused.headers.get("retry-after")]).to.deep.equal([429, "30"]);
    await refused.text();
    const upgrade = "GET /v1/stream HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n";
    const answer = await converse(port, {
      parts: [`${upgrade}X-Forwarded-For: 1.2.3.4\r\n\r\n`],
      listenMs: 60_000,
    });
    expect(answer.text).to.match(/^HTTP\/1\.1 429 [\s\S]*retry-after: 30/);
    const other = new AbortController();
    expect((await ask("5.6.7.8", subscription, { accept, signal: other.signal })).status).to.equal(200);
    expect(firstStream.bodyUsed, "the first stream is still open").to.equal(false);
    first.abort();
    socket.terminate();
    const isOpenAgain = async () => {
      const controller = new AbortController();
      const response = await ask("1.2.3.4", subscription, { accept, signal: controller.signal });
      controller.abort();
      return response.status === 200;
    };
    await waitUntil(isOpenAgain, { what: "room for a stream", withinMs: 120_000, everyMs: 20 });
    other.abort();
  });

  it("delays the refusal of a WebSocket too, for a client that keeps asking", async () => {
    await open({ burst: 1 });
    const upgrade = (client: string) =>
      `GET /v1/stream HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nX-Forwarded-For: ${client}\r\n\r\n`;
    const next = (client: string) => converse(port, { parts: [upgrade(client)], listenMs: 60_000 });
    expect(await statusOf("1.2.3.4", "{ meta { block } }")).to.equal(200);
    for (let n = 0; n < PROMPT_REFUSALS; n++) expect(statusesOf(await next("1.2.3.4"))).to.deep.equal([429]);
    const began = performance.now();
    expect(statusesOf(await next("1.2.3.4"))).to.deep.equal([429]);
    expect(performance.now() - began).to.be.above(HOLD_MS * 0.9);
  });

  it("lets a WebSocket wait for a turn of its client before it begins, like a request", async () => {
    await open({ atOnce: 1, waiting: 1 });
    const endTurn = budgets.of("1.2.3.4").takeTurn(() => {});
    const statusOfStream = (client: string) =>
      new Promise<number | undefined>((resolve) => {
        const socket = new WebSocket(`${url.replace("http", "ws")}/v1/stream`, {
          headers: { "x-forwarded-for": client },
        });
        socket.on("message", () => {
          socket.terminate();
          resolve(101);
        });
        socket.on("error", () => {});
        socket.on("unexpected-response", (_, { statusCode }) => resolve(statusCode));
      });
    const waiting = statusOfStream("1.2.3.4");
    expect(await statusOfStream("5.6.7.8")).to.equal(101);
    expect(await statusOfStream("1.2.3.4")).to.equal(429);
    endTurn?.();
    expect(await waiting).to.equal(101);
    // A stream gives its turn back when it has begun.
    expect(await statusOfStream("1.2.3.4")).to.equal(101);
    expect(await statusOf("1.2.3.4", "{ meta { block } }")).to.equal(200);
  });

  it("frees the places of streams that are dropped right after they are opened", async () => {
    await open({ burst: 1e6, streams: 0, atOnce: 0 }, { subscriptions: 5 });
    const body = JSON.stringify(subscription);
    const request = `POST /graphql HTTP/1.1\r\nHost: a\r\nAccept: text/event-stream\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
    for (let n = 0; n < 60; n++) {
      const socket = connect(port, "127.0.0.1");
      socket.on("error", () => {});
      socket.write(request);
      await new Promise((resolve) => setTimeout(resolve, n));
      socket.resetAndDestroy();
    }
    const controllers: AbortController[] = [];
    const allFive = async () => {
      for (const controller of controllers.splice(0)) controller.abort();
      for (let n = 0; n < 5; n++) {
        const controller = new AbortController();
        controllers.push(controller);
        const accept = "text/event-stream";
        const response = await ask("1.2.3.4", subscription, { accept, signal: controller.signal });
        if (response.status !== 200) return false;
        const reader = response.body?.getReader();
        const { value } = (await reader?.read()) ?? {};
        if (new TextDecoder().decode(value).includes("TOO_MANY_SUBSCRIPTIONS")) return false;
      }
      return true;
    };
    await waitUntil(allFive, { what: "five subscriptions at once", withinMs: 120_000, everyMs: 100 });
    for (const controller of controllers) controller.abort();
  });

  it("allows a limited number of connections from one address, and answers 429 to the next", async () => {
    await open({}, { sockets: 3 });
    const held = Array.from({ length: 3 }, () => connect(port, "127.0.0.1"));
    await Promise.all(held.map((socket) => new Promise((resolve) => socket.once("connect", resolve))));
    const request = "GET /v1/params HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    const next = () => converse(port, { parts: [request], listenMs: 60_000 });
    const refused = await waitUntil(
      async () => {
        const answer = await next();
        return statusesOf(answer)[0] === 429 && answer;
      },
      { what: "a refusal", withinMs: 120_000, everyMs: 20 },
    );
    expect(refused.text).to.contain("retry-after: 5");
    for (const socket of held) socket.destroy();
    const isServed = async () => statusesOf(await next())[0] !== 429;
    await waitUntil(isServed, { what: "room for a connection", withinMs: 120_000, everyMs: 20 });
  });

  it("gives the whole schema at most once in a query of any form", async () => {
    await open({ burst: 1e6 });
    const aliases = (one: string) => Array.from({ length: 29 }, (_, n) => `a${n}: ${one}`).join(" ");
    const whole = "__schema { types { name fields { name type { name } args { name } } } }";
    const hostile = [
      `{ ${aliases(whole)} }`,
      `{ __schema { ${aliases("types { fields { name description } }")} } }`,
      `{ __schema { types { ${aliases("fields { name description args { name } }")} } } }`,
      "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }",
      `query { ...A ...B } ${["A", "B"].map((name) => `fragment ${name} on Query { ${aliases(whole)} }`).join(" ")}`,
    ];
    for (const query of hostile) {
      const response = await ask("1.2.3.4", { query });
      const { errors } = (await response.json()) as { errors: { extensions: { code: string } }[] };
      expect(errors?.[0]?.extensions.code, query.slice(0, 80)).to.be.oneOf([
        "QUERY_TOO_COSTLY",
        "TOO_MANY_ALIASES",
        "GRAPHQL_VALIDATION_FAILED",
      ]);
    }
    const { data } = (await (await ask("1.2.3.4", { query: getIntrospectionQuery() })).json()) as {
      data: object;
    };
    expect(data).to.have.property("__schema");
  });
});
