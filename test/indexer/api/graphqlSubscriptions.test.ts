import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import { eq } from "drizzle-orm";
import type { Limits } from "../../../indexer/api/graphql/limits.ts";
import { graphqlServer } from "../../../indexer/api/graphql/server.ts";
import { positionOf } from "../../../indexer/api/stream/position.ts";
import * as schema from "../../../indexer/ponder.schema.ts";
import { timelineKey } from "../../../indexer/src/timeline.ts";
import { type ApiStory, cast, node, openApiStory } from "../support/apiStory.ts";
import { followEvents } from "../support/followEvents.ts";

type Event = { position: string; reorg: boolean; hire?: { id: string } | null; tierChange?: object | null };

/** The number of the test. Each test has a chain of its own. */
let chain = 0;

/** The place of the event of a block, and its position for clients. */
const placeAt = (block: number) => ({
  position: timelineKey(`${String(block).padStart(12, "0")}/00000001/${"0".repeat(16)}`, 1),
  blockHash: `0x${`${String(chain).padStart(8, "0")}${String(block).padStart(8, "0")}`.padEnd(64, "a")}`,
});
const at = (block: number) => positionOf(placeAt(block));

describe("GraphQL subscriptions over server-sent events", () => {
  let story: ApiStory;
  let server: Server;
  let url: string;
  let hires: { id: string; seller: string; buyer: string; capability: string | null }[];
  const running = new Set<AbortController>();

  const open = async (subscriptions?: number, limits?: Limits) => {
    const yoga = graphqlServer({
      db: story.database.db,
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node,
      pollMs: 10,
      ...(subscriptions !== undefined && { subscriptions }),
      ...(limits !== undefined && { limits }),
    });
    const started = serve({
      fetch: (request, connection) => yoga.fetch(request, connection as object),
      port: 0,
      hostname: "127.0.0.1",
    }) as Server;
    await new Promise((resolve) => started.once("listening", resolve));
    return { server: started, url: `http://127.0.0.1:${(started.address() as AddressInfo).port}/graphql` };
  };

  before(async () => {
    story = await openApiStory();
    ({ server, url } = await open());
    hires = [...story.derived.store.rows("hire").values()].filter((it) => it.escrowId === null);
  });
  beforeEach(async () => {
    chain++;
    await story.database.database.delete(schema.timeline);
  });
  afterEach(() => {
    for (const controller of running) controller.abort();
    running.clear();
  });
  after(() => new Promise((resolve) => server?.close(resolve)));

  const tell = async (block: number, hire: (typeof hires)[number] | undefined) => {
    const { id = "", seller = "", buyer = "" } = hire ?? {};
    const row = { ...placeAt(block), kind: "hire", subject: id, agent: seller, counterpart: buyer };
    await story.database.database.insert(schema.timeline).values(row);
  };

  const follow = (field: string, to = url) => {
    const controller = new AbortController();
    running.add(controller);
    return followEvents<Event>(to, field, controller.signal);
  };

  async function take(events: AsyncGenerator<Event>, count: number): Promise<Event[]> {
    const taken: Event[] = [];
    while (taken.length < count) taken.push((await events.next()).value as Event);
    return taken;
  }

  const HIRE = "{ position reorg hire { id seller { address } } }";
  const idsOf = (events: Event[]) => events.map((it) => it.hire?.id);

  it("send every hire from a position on, and then each new one", async () => {
    await tell(1, hires[0]);
    await tell(2, hires[1]);
    const events = follow(`hireCounted(after: "0") ${HIRE}`);
    expect(idsOf(await take(events, 2))).to.deep.equal([hires[0]?.id, hires[1]?.id]);
    await tell(3, hires[2]);
    const [third] = await take(events, 1);
    expect(third).to.deep.include({ position: at(3), reorg: false });
    expect(third?.hire?.id).to.equal(hires[2]?.id);
  });

  it("continue where another node stopped", async () => {
    for (const n of [1, 2, 3]) await tell(n, hires[n]);
    const [first] = await take(follow(`hireCounted(after: "0") ${HIRE}`), 1);
    const replica = await open();
    const rest = await take(follow(`hireCounted(after: "${first?.position}") ${HIRE}`, replica.url), 2);
    expect(idsOf(rest)).to.deep.equal([hires[2]?.id, hires[3]?.id]);
    for (const controller of running) controller.abort();
    replica.server.closeAllConnections();
    replica.server.close();
  });

  it("send only the requested events", async () => {
    const [one, other] = [hires[0], hires.find((it) => it.seller !== hires[0]?.seller)];
    await tell(1, one);
    await tell(2, other);
    await tell(3, one);
    const filters = [`seller: "${other?.seller}"`, `buyer: "${other?.buyer}", seller: "${other?.seller}"`];
    for (const filter of [...filters, `capability: "${other?.capability}", seller: "${other?.seller}"`]) {
      const [only] = await take(follow(`hireCounted(${filter}, after: "0") ${HIRE}`), 1);
      expect(only?.position, filter).to.equal(at(2));
    }
  });

  it("limit each event like the answer of a query", async () => {
    await tell(1, hires[0]);
    await tell(2, hires[1]);
    const small = await open(undefined, { milliseconds: 10_000, answerCharacters: 300 });
    const aliases = Array.from({ length: 10 }, (_, n) => `a${n}: id`).join(" ");
    for (const [fields, code] of [
      ["id", undefined],
      [`id ${aliases}`, "RESPONSE_TOO_LARGE"],
    ] as const) {
      const events = follow(`hireCounted(after: "0") { position reorg hire { ${fields} } }`, small.url);
      for (const it of (await take(events, 2)) as (Event & { errors?: { extensions: { code: string } }[] })[])
        expect(it.errors?.[0]?.extensions.code, fields).to.equal(code);
    }
    for (const controller of running) controller.abort();
    small.server.closeAllConnections();
    small.server.close();
  });

  it("report when blocks are taken back, and send the events that replace them", async () => {
    await tell(1, hires[0]);
    await tell(2, hires[1]);
    const events = follow(`hireCounted(after: "0") ${HIRE}`);
    await take(events, 2);
    await story.database.database
      .delete(schema.timeline)
      .where(eq(schema.timeline.position, placeAt(2).position));
    await tell(3, hires[2]);
    const [reorg, instead] = await take(events, 2);
    expect(reorg).to.deep.equal({ position: at(1), reorg: true, hire: null });
    expect(instead).to.deep.include({ position: at(3), reorg: false });
  });

  it("send tier changes, with their reasons", async () => {
    const [change] = [...story.derived.store.rows("tierChange").values()];
    await story.database.database
      .insert(schema.timeline)
      .values({ ...placeAt(4), kind: "tier_change", subject: change?.id ?? "", agent: cast.busy });
    const events = follow(
      `tierChanged(agent: "${cast.busy}", after: "0") { position tierChange { from to reason } }`,
    );
    const [told] = await take(events, 1);
    expect(told?.tierChange).to.deep.equal({ from: 0, to: 2, reason: change?.reason });
  });

  it("answer each of many events like a separate query", async () => {
    for (let n = 0; n < 60; n++) await tell(n + 1, hires[n % hires.length]);
    const events = follow(
      'hireCounted(after: "0") { position hire { seller { hires(first: 50) { nodes { id } } } } }',
    );
    const told = await take(events, 60);
    expect(told.at(-1)?.position).to.equal(at(60));
    expect(told.every((it) => it.hire !== null)).to.equal(true);
  });

  it("are limited in number, and a subscription that ends makes room for another", async () => {
    const small = await open(2);
    await tell(1, hires[0]);
    const subscribe = () => follow(`hireCounted(after: "0") ${HIRE}`, small.url);
    await take(subscribe(), 1);
    await take(subscribe(), 1);
    const refused = (await subscribe().next()).value;
    expect(refused?.errors?.[0]?.extensions.code).to.equal("TOO_MANY_SUBSCRIPTIONS");
    for (const controller of running) controller.abort();
    running.clear();
    for (;;) {
      const { value } = await subscribe().next();
      if (value?.errors === undefined) break;
    }
    small.server.closeAllConnections();
    small.server.close();
  });

  it("refuse a malformed position", async () => {
    for (const after of ["x", "'; DROP TABLE timeline", "1", `${at(1)}0`, `${at(1).slice(0, -1)}X`]) {
      const { value } = await follow(`hireCounted(after: "${after}") ${HIRE}`).next();
      expect(value?.errors?.[0]?.extensions.code, after).to.equal("INVALID_CURSOR");
    }
  });
});
