import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { gunzipSync } from "node:zlib";
import { createAdaptorServer } from "@hono/node-server";
import { expect } from "chai";
import fc from "fast-check";
import type { Hono } from "hono";
import type { DeriveEvent } from "tallystick-derive/events";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import { ClientBudgets } from "tallystick-runtime/http/clientBudgets";
import { limitClients } from "tallystick-runtime/http/limitClients";
import { createApi } from "../../../../indexer/api/app.ts";
import * as schema from "../../../../indexer/ponder.schema.ts";
import { LINES_APART, numberedLines } from "../../../../indexer/src/logLines.ts";
import { keyedLines, positionKey } from "../../../../indexer/src/positionKey.ts";
import { transferOfPayment } from "../../../../indexer/src/transferOfPayment.ts";
import { openApiDatabase } from "../../../../tools/bench/api/apiDatabase.ts";
import { EventLog, TOKEN, wallet } from "../../../derive/eventLog.ts";
import { generatedLogOf } from "../../../derive/oracle/generatedLog.ts";
import { testDatabase } from "../../../support/testDatabase.ts";
import { rowsRead } from "../../support/rowsRead.ts";

const FOREVER = "public, max-age=31536000, immutable";

type Page = { text: string; lines: string[]; first: number; next: number; last: number; headers: Headers };
type Digests = {
  digests: { block: number; time: number; digest: string; line: number }[];
  next: number | null;
};

describe("the open log", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let app: Hono;

  before(async () => {
    database = await openApiDatabase(await testDatabase(), { indexes: true });
    app = createApi({
      db: database.db,
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node: { chainId: 31_337, token: TOKEN },
      settlementUrl: null,
    });
  });
  after(() => database?.close());

  /** Puts a log into the database as a node keeps it. Blocks up to `final` are final. */
  async function keep(events: readonly DeriveEvent[], final: number, store?: MemoryStore) {
    await database.pool.query("TRUNCATE event_log, payment, log_line, digest, _ponder_checkpoint");
    const payments = store === undefined ? [] : [...store.rows("payment").values()];
    const digests = store === undefined ? [] : [...store.rows("digest").values()];
    const paid = new Set(payments.map((row) => positionKey(transferOfPayment(row, TOKEN))));
    const logged = events
      .map((event) => ({ position: positionKey(event), json: JSON.stringify(event) }))
      .filter(({ position }) => !paid.has(position));
    for (const [table, rows] of [
      [schema.eventLog, logged],
      [schema.payment, payments],
      [schema.digest, digests],
      [schema.logLine, numberedLines(0, keyedLines(events))],
    ] as const)
      for (let at = 0; at < rows.length; at += 500)
        await database.database.insert(table).values(rows.slice(at, at + 500) as never);
    await finalize(final);
    await database.pool.query("ANALYZE");
  }

  async function finalize(block: number) {
    await database.pool.query("DELETE FROM _ponder_checkpoint");
    await database.pool.query(
      "INSERT INTO _ponder_checkpoint VALUES ('', '1767225900' || lpad('31337', 16, '0') || lpad($1, 16, '0') || repeat('9', 33))",
      [String(block)],
    );
  }

  async function read(query: string): Promise<Page> {
    const response = await app.request(`/v1/events${query}`);
    const text = await response.text();
    expect(response.status, text).to.equal(200);
    const said = /^first=(\d+), next=(\d+), last=(\d+)$/.exec(response.headers.get("tallystick-lines") ?? "");
    const [first, next, last] = (said ?? []).slice(1).map(Number) as [number, number, number];
    return { text, lines: text.split("\n").slice(0, -1), first, next, last, headers: response.headers };
  }

  /** Reads all pages after a line. The pages have these numbers of lines, one after the other. */
  async function follow(limits: number[], after = 0): Promise<Page[]> {
    const pages: Page[] = [];
    for (let n = 0, at = after; ; n++) {
      const page = await read(`?after=${at}&limit=${limits[n % limits.length]}`);
      expect(page.first).to.equal(at + 1);
      expect(page.next).to.equal(page.first + page.lines.length);
      expect(page.headers.get("cache-control")).to.equal(
        page.next <= page.last ? FOREVER : "public, max-age=5",
      );
      pages.push(page);
      if (page.next > page.last) return pages;
      expect(page.lines.length, "a page without lines before the end").to.be.greaterThan(0);
      at = page.next - 1;
    }
  }

  it("gives the same bytes as an export up to finality, with any page limits", async () => {
    await fc.assert(
      fc.asyncProperty(
        generatedLogOf({ minLength: 60, maxLength: 200 }),
        fc.array(fc.integer({ min: 1, max: 700 }), { minLength: 1, maxLength: 4 }),
        fc.nat(1_000),
        fc.nat(1_000),
        async (log, limits, finalAt, startAt) => {
          // The added lines are more than the distance between two numbered lines. So a numbered line comes after the
          // generated part of the log.
          for (let n = 0; n < LINES_APART + 50; n++)
            log.after(1).transfer(wallet(50), wallet(51), n % 3 === 0 ? 1 : 5_000_000);
          const { store } = await log.derive();
          const final = log.events[finalAt % log.events.length]?.block ?? 0;
          await keep(log.events, final, store);
          const lines = log.events
            .filter(({ block }) => block <= final)
            .map((event) => `${JSON.stringify(event)}\n`);
          const after = startAt % (lines.length + 1);
          // Hundreds of pages with one line each would take too long.
          const pages = await follow(
            limits.map((it) => Math.max(it, 40)),
            after,
          );
          expect(pages.map(({ text }) => text).join("")).to.equal(lines.slice(after).join(""));
          for (const { last } of pages) expect(last).to.equal(lines.length);
          const ticks = log.events.flatMap((event, n) =>
            event.kind === "tick" && event.block <= final ? [{ block: event.block, line: n + 1 }] : [],
          );
          const { digests } = (await (await app.request("/v1/digests?limit=5000")).json()) as Digests;
          expect(digests.map(({ block, line }) => ({ block, line }))).to.deep.equal(ticks);
        },
      ),
      { numRuns: 8 },
    );
  });

  it("gives pages of one line each", async () => {
    const log = new EventLog();
    for (let n = 0; n < 5; n++) log.after(60).tick();
    await keep(log.events, log.block);
    const pages = await follow([1]);
    expect(pages.map(({ lines }) => lines[0])).to.deep.equal(log.events.map((it) => JSON.stringify(it)));
    const end = await read("?after=6");
    expect(end).to.include({ text: "", first: 7, next: 7, last: 6 });
  });

  it("reads a limited number of rows for any page, also for the last", async () => {
    const log = new EventLog();
    // The ticks are far apart. Between them a page can only be found by the numbered lines.
    for (let n = 0; n < 12_000; n++) {
      if (n % 4 === 0) log.after(1);
      if (n % 5_000 === 0) log.tick();
      else log.transfer(`0x${"01".repeat(20)}`, `0x${"02".repeat(20)}`, 1);
    }
    const { store } = await new EventLog().derive();
    await keep(log.events, log.block, store);
    const costOf = async (after: number) => {
      database.statements = 0;
      const page = await read(`?after=${after}&limit=100`);
      expect(page.lines).to.deep.equal(
        log.events.slice(after, after + 100).map((event) => JSON.stringify(event)),
      );
      const looks = await Promise.all([...database.sent].map((it) => rowsRead(database.pool, it)));
      return { read: looks.reduce((sum, it) => sum + it.read, 0), plan: looks[0]?.plan };
    };
    for (const after of [0, 255, 256, 6_000, 11_800]) {
      const { read: rows, plan } = await costOf(after);
      // These rows are read: from the numbered line before the page up to the page, the page itself, the text of each of
      // its lines, and from the last numbered line to the end.
      expect(rows, `after ${after}\n${plan}`).to.be.at.most(3 * (LINES_APART + 100) + LINES_APART);
    }
  });

  it("ends a page at the size limit, and the next page begins with the same line for everybody", async () => {
    const log = new EventLog();
    for (let n = 0; n < 120; n++)
      log.after(1).record("listing", `0x${"01".repeat(20)}`, { description: "é".repeat(25_000 + 100 * n) });
    await keep(log.events, log.block);
    const pages = await follow([5_000]);
    expect(pages.length).to.be.within(2, 4);
    for (const { text } of pages) expect(Buffer.byteLength(text)).to.be.at.most(4 << 20);
    for (const { text } of pages.slice(0, -1)) expect(Buffer.byteLength(text)).to.be.greaterThan(4_000_000);
    expect(pages.flatMap(({ lines }) => lines)).to.deep.equal(log.events.map((it) => JSON.stringify(it)));
  });

  it("gives nothing before anything is final, and refuses to begin after the end", async () => {
    const log = new EventLog().after(60).tick();
    await keep(log.events, 0);
    expect(await read("")).to.include({ text: "", first: 1, next: 1, last: 0 });
    await database.pool.query("DELETE FROM _ponder_checkpoint");
    expect(await read("")).to.include({ text: "", first: 1, next: 1, last: 0 });
    await finalize(log.block);
    const problem = async (path: string) => {
      const response = await app.request(path);
      const body = (await response.json()) as { code: string; errors: { field: string; message: string }[] };
      return [response.status, body.code, body.errors[0]?.field];
    };
    expect(await problem("/v1/events?after=3")).to.deep.equal([400, "not_in_log", "after"]);
    for (const [query, field] of [
      ["after=-1", "after"],
      ["after=1e3", "after"],
      ["after=99999999999999999999", "after"],
      ["limit=0", "limit"],
      ["limit=5001", "limit"],
      ["limit=", "limit"],
    ])
      expect(await problem(`/v1/events?${query}`), query).to.deep.equal([400, "invalid_input", field]);
    for (const [query, field] of [
      ["from=x", "from"],
      ["to=-2", "to"],
      ["from=5&to=4", "to"],
      ["limit=9999", "limit"],
    ])
      expect(await problem(`/v1/digests?${query}`), query).to.deep.equal([400, "invalid_input", field]);
  });

  it("pages digests by block, and lets no cache keep them, because an upgrade may change them", async () => {
    const log = new EventLog();
    for (let n = 0; n < 10; n++) log.after(60).tick();
    const { store } = await log.derive();
    const all = [...store.rows("digest").values()].map(({ block, time, digest }, n) => ({
      block,
      time,
      digest,
      line: n + 2,
    }));
    const blockOf = (n: number) => all[n]?.block as number;
    await keep(log.events, blockOf(7), store);
    const ask = async (query: string) => {
      const response = await app.request(`/v1/digests?${query}`);
      return { ...((await response.json()) as Digests), cache: response.headers.get("cache-control") };
    };
    expect(await ask("limit=3")).to.deep.equal({
      digests: all.slice(0, 3),
      next: blockOf(3),
      cache: "public, max-age=5",
    });
    expect(await ask(`from=${blockOf(3)}&to=${blockOf(5)}`)).to.deep.equal({
      digests: all.slice(3, 6),
      next: null,
      cache: "public, max-age=5",
    });
    expect(await ask(`from=${blockOf(6)}&to=1000`)).to.deep.equal({
      digests: all.slice(6, 8),
      next: null,
      cache: "public, max-age=5",
    });
  });

  it("costs a client points by the number of lines, or by their bytes if the lines are long", async () => {
    const log = new EventLog();
    for (let n = 0; n < 3_000; n++) log.after(60).tick();
    // Gzip makes these lines very small.
    for (let n = 0; n < 65; n++)
      log.after(1).record("listing", `0x${"01".repeat(20)}`, { description: "a".repeat(60_000) });
    await keep(log.events, log.block);
    const server = createAdaptorServer({ fetch: app.fetch }) as Server;
    const limits = { pointsPerSecond: 0.001, burst: 60, atOnce: 2, waiting: 10, streams: 1 };
    limitClients(server, { budgets: new ClientBudgets(limits, () => 0), trustedProxies: 1 });
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const statusOf = async (client: string, limit: number, after = 0, known = '""') => {
      const { port } = server.address() as AddressInfo;
      const response = await fetch(`http://127.0.0.1:${port}/v1/events?limit=${limit}&after=${after}`, {
        headers: { "x-forwarded-for": client, "if-none-match": known },
      });
      await response.arrayBuffer();
      return response.status;
    };
    try {
      const long = [await statusOf("1.2.3.4", 3_000), await statusOf("1.2.3.4", 3_000)];
      expect([...long, await statusOf("1.2.3.4", 3_000)]).to.deep.equal([200, 200, 429]);
      for (let n = 0; n < 20; n++) expect(await statusOf("5.6.7.8", 1)).to.equal(200);
      expect([await statusOf("9.0.0.1", 65, 3_000), await statusOf("9.0.0.1", 65, 3_000)]).to.deep.equal([
        200, 429,
      ]);
      const toldAgain = [
        await statusOf("9.0.0.2", 65, 3_000, "*"),
        await statusOf("9.0.0.2", 65, 3_000, "*"),
      ];
      expect(toldAgain).to.deep.equal([304, 429]);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it("has the same tag from every process, is gzipped on request, and is not sent again to a client that has it", async () => {
    const log = new EventLog();
    for (let n = 0; n < 50; n++) log.after(60).tick();
    await keep(log.events, log.block);
    const plain = await app.request("/v1/events?limit=20");
    const etag = plain.headers.get("etag") ?? "";
    expect(etag).to.match(/^"[0-9a-f]{64}"$/);
    const zipped = await app.request("/v1/events?limit=20", { headers: { "accept-encoding": "gzip" } });
    expect(zipped.headers.get("content-encoding")).to.equal("gzip");
    expect(zipped.headers.get("etag")).to.equal(`${etag.slice(0, -1)}-gzip"`);
    expect(zipped.headers.get("vary")).to.contain("Accept-Encoding");
    expect(gunzipSync(Buffer.from(await zipped.arrayBuffer())).toString()).to.equal(await plain.text());
    for (const known of [etag, zipped.headers.get("etag") ?? "", `"x", ${etag}`, `W/${etag}`, "*"]) {
      const again = await app.request("/v1/events?limit=20", { headers: { "if-none-match": known } });
      expect(again.status, known).to.equal(304);
      expect(again.headers.get("cache-control")).to.equal(FOREVER);
      expect(again.headers.get("tallystick-lines")).to.equal("first=1, next=21, last=51");
    }
    const other = await app.request("/v1/events?limit=21", { headers: { "if-none-match": etag } });
    expect(other.status).to.equal(200);
    const origin = await app.request("/v1/events", { headers: { origin: "https://portal.example" } });
    const exposed = origin.headers.get("access-control-expose-headers");
    expect(exposed).to.contain("tallystick-lines").and.contain("retry-after");
  });
});
