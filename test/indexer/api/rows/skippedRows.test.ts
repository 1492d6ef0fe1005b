import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { expect } from "chai";
import fc from "fast-check";
import { eq, inArray } from "ponder";
import { ClientBudgets } from "tallystick-runtime/http/clientBudgets";
import { limitClients } from "tallystick-runtime/http/limitClients";
import type { Place } from "../../../../indexer/api/cursor.ts";
import type { QueryContext } from "../../../../indexer/api/graphql/context.ts";
import { listPage } from "../../../../indexer/api/graphql/list.ts";
import { countRows, type RowList, readPage } from "../../../../indexer/api/rows/list.ts";
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
    it(`are on no page, end no page, and are counted: ${name}`, async () => {
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
            let [after, walked]: [Place | null, number] = [null, 0];
            const seen: string[] = [];
            for (let more = true; more; ) {
              const page: Awaited<ReturnType<typeof readPage<never>>> = await readPage<never>(
                reader(),
                list(),
                {
                  size,
                  backward,
                  after,
                },
              );
              const rows = page.rows.map(({ row }) => sellerOf(row));
              seen.push(...rows);
              // One row more is read, to see whether more follow. If there is none, the walk goes to the end.
              const next = inOrder.findIndex((it, n) => n >= walked + rows.length && !isIn(secret, it, seen));
              const to = page.more ? next + 1 : inOrder.length;
              const skipped = inOrder.slice(walked, to).filter((it) => secret.includes(it)).length;
              expect(page.skipped).to.equal(Math.ceil(skipped / 50) * 50);
              expect(page.end?.key).to.equal(page.rows.at(-1)?.key);
              if (rows.length > 0) walked = inOrder.indexOf(rows.at(-1) as string) + 1;
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

  const isIn = (secret: readonly string[], it: string, seen: readonly string[]) =>
    secret.includes(it) || seen.includes(it);

  it("use the limit of a query, and a part of a client's points", async () => {
    await hide(SELLERS);
    const taken: number[] = [];
    const context = {
      db: api.database.db,
      batches: new Map(),
      takeRows: (rows: number) => void taken.push(rows),
    } as Partial<QueryContext> as QueryContext;
    await listPage({ first: 5 }, context, leaderList("text.task"));
    // 60 rows are rounded up to 100.
    expect(taken).to.deep.equal([5, 2]);
    const { port } = server.address() as AddressInfo;
    const ask = async (side: string) => {
      const before = points();
      const url = `http://127.0.0.1:${port}/v1/agents/${BUYER}/counterparties?as=${side}`;
      const answer = await fetch(url, { headers: { connection: "close" } });
      expect(answer.status).to.equal(200);
      await answer.text();
      return points() - before;
    };
    expect((await ask("buyer")) - (await ask("seller"))).to.be.closeTo(100 / 2_500, 1e-6);
  });

  it("are counted for a leaderboard, up to the last row that was read", async () => {
    await hide(SELLERS.slice(1));
    const one = await leadersAfter(api.database.db, "text.task", undefined, 2);
    expect([one.rows.length, one.skipped]).to.deep.equal([1, 100]);
    await hide([]);
    expect((await leadersAfter(api.database.db, "text.task", undefined, 2)).skipped).to.equal(0);
    const [last] = await api.database.database
      .select()
      .from(schema.capabilityAgent)
      .where(eq(schema.capabilityAgent.capability, "text.task"));
    await hide(SELLERS);
    const place: [number, string] = [Number(last?.weight) + 1, ""];
    expect((await leadersAfter(api.database.db, "text.task", place, 2)).skipped).to.equal(100);
  });

  it("do not change the count of a list, and are looked at for it", async () => {
    await hide(SELLERS.slice(7));
    const taken: number[] = [];
    const counter = {
      db: api.database.db,
      batches: new Map(),
      counting: { run: (work: () => Promise<never>) => work() },
      takeRows: (rows: number) => void taken.push(rows),
    };
    expect(await countRows(counter as never, leaderList("text.task"))).to.equal(7);
    expect(taken).to.deep.equal([0, 2]);
  });
});
