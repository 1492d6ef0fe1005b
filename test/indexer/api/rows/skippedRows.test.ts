import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { expect } from "chai";
import fc from "fast-check";
import { and, eq, inArray, like } from "ponder";
import { ClientBudgets } from "tallystick-runtime/http/clientBudgets";
import { limitClients } from "tallystick-runtime/http/limitClients";
import type { Place } from "../../../../indexer/api/cursor.ts";
import type { QueryContext } from "../../../../indexer/api/graphql/context.ts";
import { listPage } from "../../../../indexer/api/graphql/list.ts";
import { countRows, type ListPage, type RowList, readPage } from "../../../../indexer/api/rows/list.ts";
import { counterpartyList, leaderList, leadersAfter } from "../../../../indexer/api/rows/tallies.ts";
import * as schema from "../../../../indexer/ponder.schema.ts";
import { countPoints } from "../../../../tools/bench/api/costs/countPoints.ts";
import { EventLog, wallet } from "../../../derive/eventLog.ts";
import { fillTallies } from "../../support/fillTallies.ts";
import { openRestApi, type RestApi } from "../../support/openRestApi.ts";

const BUYER = wallet(1);
const SELLERS = Array.from({ length: 60 }, (_, n) => wallet(100 + n));

describe("the rows that a list skips, because nobody may notice them", () => {
  let api: RestApi;
  let server: Server;
  let points: () => number;

  before(async () => {
    api = await openRestApi();
    const log = new EventLog();
    log.after(1).listing(BUYER, "text.other");
    for (const seller of SELLERS) log.after(1).listing(seller, "text.task");
    for (const seller of SELLERS) log.after(1).hire(seller, BUYER, { capability: "text.task" });
    await api.fill(log.after(60).tick());
    await fillTallies(api.database, log.events);
    const budgets = new ClientBudgets(
      { pointsPerSecond: 1e9, burst: 1e9, atOnce: 2, waiting: 9, streams: 1, statements: 1 },
      () => 0,
    );
    points = countPoints(budgets);
    server = createAdaptorServer({ fetch: api.app.fetch }) as Server;
    limitClients(server, { budgets, trustedProxies: 0 });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  });
  after(async () => {
    server?.close();
    await api?.close();
  });

  /** Makes the metrics of these sellers private, and those of all others public. */
  async function hide(secret: readonly string[]): Promise<void> {
    const { database } = api.database;
    const { agent } = schema;
    await database.update(agent).set({ privateListings: 0 });
    if (secret.length > 0)
      await database
        .update(agent)
        .set({ privateListings: 1 })
        .where(inArray(agent.id, [...secret]));
  }

  const lists: { [name: string]: [list: () => RowList<never>, sellerOf: (row: never) => string] } = {
    leaders: [() => leaderList("text.task") as never, ({ agent }: { agent: string }) => agent],
    counterparties: [
      () => counterpartyList({ id: BUYER, privateListings: 0 }, "buyer") as never,
      ({ seller }: { seller: string }) => seller,
    ],
  };
  for (const [name, [list, sellerOf]] of Object.entries(lists)) {
    it(`are on no page, end no page, and cost nothing: ${name}`, async () => {
      const reader = () => ({ db: api.database.db, batches: new Map() });
      await hide([]);
      const whole = await readPage<never>(reader(), list(), { size: 100, backward: false, after: null });
      const all = whole.rows.map(({ row }) => sellerOf(row));
      expect(all.toSorted()).to.deep.equal(SELLERS.toSorted());
      const secrets = fc.subarray<string>(SELLERS);
      await fc.assert(
        fc.asyncProperty(
          secrets,
          fc.integer({ min: 1, max: 70 }),
          fc.boolean(),
          async (secret, size, backward) => {
            await hide(secret);
            const inOrder = backward ? all.toReversed() : all;
            let after: Place | null = null;
            const seen: string[] = [];
            for (let more = true; more; ) {
              const page: ListPage<never> = await readPage<never>(reader(), list(), {
                size,
                backward,
                after,
              });
              seen.push(...page.rows.map(({ row }) => sellerOf(row)));
              // So few cost nothing. A price for each would tell where they are.
              expect(page.skipped).to.equal(0);
              expect(page.end?.key).to.equal(page.rows.at(-1)?.key);
              after = page.end ? (JSON.parse(page.end.key) as Place) : null;
              more = page.more;
            }
            expect(seen).to.deep.equal(inOrder.filter((it) => !secret.includes(it)));
          },
        ),
        { numRuns: 25, seed: 7 },
      );
    });
  }

  /** Fills the lists of the capability and of the buyer with rows of one private seller, before all others or after them. */
  async function crowd(count: number, first: boolean): Promise<void> {
    const { database } = api.database;
    const [secret] = SELLERS as [string];
    await hide([secret]);
    const [entry] = await database
      .select()
      .from(schema.capabilityAgent)
      .where(
        and(eq(schema.capabilityAgent.agent, secret), eq(schema.capabilityAgent.capability, "text.task")),
      );
    const [pair] = await database.select().from(schema.agentPair).where(eq(schema.agentPair.seller, secret));
    const place = first ? { weight: 1_000_000_000, hires: 1_000_000 } : { weight: 1, hires: 1 };
    for (let n = 0; n < count; n += 1_000) {
      const copies = <Of extends { id: string }>(row: Of | undefined) =>
        Array.from({ length: Math.min(1_000, count - n) }, (_, k) => ({
          ...(row as Of),
          ...{ ...place, id: `${first ? "" : "!"}${row?.id}+${n + k}` },
        }));
      await database.insert(schema.capabilityAgent).values(copies(entry));
      await database.insert(schema.agentPair).values(copies(pair));
    }
  }

  async function disperse(): Promise<void> {
    const { database } = api.database;
    for (const table of [schema.capabilityAgent, schema.agentPair])
      await database.delete(table).where(like(table.id, "%+%"));
    await hide([]);
  }

  /** What a page and a count of a list take from a query: rows of its limit, and points. */
  async function pricesOf(list: RowList<never>) {
    const taken: { rows: number[]; points: number } = { rows: [], points: 0 };
    const context = {
      db: api.database.db,
      batches: new Map(),
      counting: { run: (work: () => Promise<never>) => work() },
      takeRows: (rows: number) => void taken.rows.push(rows),
      charge: (points: number) => {
        taken.points += points;
      },
    } as unknown as QueryContext;
    await listPage({ first: 5 }, context, list);
    const page = { ...taken, rows: taken.rows.splice(0) };
    taken.points = 0;
    const count = await countRows(context, list);
    return { page, count: { ...taken, count } };
  }

  /** The points for a page of counterparties, by REST. */
  async function pointsOfRest(id = BUYER, side = "buyer"): Promise<number> {
    const before = points();
    const { port } = server.address() as AddressInfo;
    const url = `http://127.0.0.1:${port}/v1/agents/${id}/counterparties?as=${side}&limit=5`;
    const answer = await fetch(url, { headers: { connection: "close" } });
    expect(answer.status).to.equal(200);
    await answer.text();
    return points() - before;
  }

  it("change no price that a client could notice, if they are few", async () => {
    for (const secret of [[], SELLERS.slice(30), SELLERS.slice(0, 1), SELLERS.slice(1, 59)]) {
      await hide(secret);
      for (const [list] of Object.values(lists)) {
        const count = 60 - secret.length;
        const rows = [0, Math.ceil(count / 50)];
        expect(await pricesOf(list())).to.deep.equal({
          page: { rows: [5], points: 1 },
          count: { rows, points: 1, count },
        });
      }
      expect((await leadersAfter(api.database.db, "text.task", undefined, 6)).skipped).to.equal(0);
    }
  });

  it("make a list cost a point, however few they are, and no list that skips nobody", async () => {
    const { page, count } = await pricesOf(
      counterpartyList({ id: BUYER, privateListings: 0 }, "seller") as never,
    );
    expect([page.points, count.points]).to.deep.equal([0, 0]);
    const taken: number[] = [];
    const context = { takeRows: () => {}, charge: (points: number) => void taken.push(points) };
    await listPage({ first: 0 }, context as unknown as QueryContext, leaderList("text.task"));
    expect(
      taken.reduce((sum, it) => sum + it, 0),
      "a page without rows",
    ).to.equal(0);
    // Neither list has a row.
    const nobody = SELLERS[0];
    expect((await pointsOfRest(nobody, "buyer")) - (await pointsOfRest(BUYER, "seller"))).to.be.closeTo(
      1,
      1e-6,
    );
  });

  it("cost a point for each 2,500 beside the one for the list, and no row of a query's limit, whose error would show them", async () => {
    await crowd(0, true);
    const alone = await pointsOfRest();
    for (const [rows, price] of [
      [2_499, 0],
      [2_500, 1],
    ] as const) {
      await crowd(rows, true);
      const { db } = api.database;
      for (const [list] of Object.values(lists)) {
        const { page, count } = await pricesOf(list());
        expect(page).to.deep.equal({ rows: [5], points: 1 + price });
        // The list has one more row of this seller, its own.
        expect(count).to.deep.equal({ rows: [0, 2], points: 2, count: 59 });
        const part = { size: 5, backward: false, after: null };
        const { skipped } = await readPage<never>({ db, batches: new Map() }, list(), part);
        expect(skipped).to.equal(2_500 * price);
      }
      expect((await leadersAfter(db, "text.task", undefined, 6)).skipped).to.equal(2_500 * price);
      expect((await pointsOfRest()) - alone).to.be.closeTo(price, 1e-6);
      await disperse();
    }
  });

  it("cost nothing on a leaderboard if they come after the last row that was asked for", async () => {
    await crowd(2_500, false);
    const skippedWith = async (limit: number) =>
      (await leadersAfter(api.database.db, "text.task", undefined, limit)).skipped;
    expect([await skippedWith(55), await skippedWith(59), await skippedWith(60)]).to.deep.equal([
      0, 0, 2_500,
    ]);
    await disperse();
  });
});
