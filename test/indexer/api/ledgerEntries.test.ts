import { randomBytes } from "node:crypto";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { expect } from "chai";
import type { Hex } from "tallystick-protocol/hex";
import { ClientBudgets } from "tallystick-runtime/http/clientBudgets";
import { limitClients } from "tallystick-runtime/http/limitClients";
import { createApi } from "../../../indexer/api/app.ts";
import { clientLimits } from "../../../indexer/api/clientLimits.ts";
import { CREATE_KEPT_LINES, KeptLines, LINES_PER_ROW } from "../../../indexer/keptLines.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { countPoints } from "../../../tools/bench/api/costs/countPoints.ts";
import { wallet } from "../../derive/eventLog.ts";
import { testDatabase } from "../../support/testDatabase.ts";

const [LEDGER, EMPTY] = [`0x${"ab".repeat(32)}`, `0x${"cd".repeat(32)}`] as [Hex, Hex];
const LINE_BYTES = 32_768;

describe("the entries of a followed ledger", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let server: Server;
  let url: string;
  let points: () => number;
  const lines = Array.from({ length: LINES_PER_ROW + 10 }, () =>
    randomBytes((LINE_BYTES - 1) / 2)
      .toString("hex")
      .padEnd(LINE_BYTES - 1, "x"),
  );

  before(async () => {
    database = await openApiDatabase(await testDatabase());
    const head = { size: lines.length, root: `0x${"0".repeat(64)}` };
    for (const id of [LEDGER, EMPTY]) {
      await database.pool.query("INSERT INTO ledger SELECT (jsonb_populate_record(NULL::ledger, $1)).*", [
        JSON.stringify({ id, ...head }),
      ]);
    }
    const app = createApi({
      db: database.db,
      operations: { readBlocked: async () => null, readBlockedTransfers: async () => null },
      node: { chainId: 31_337, token: wallet(0x70) },
      settlementUrl: null,
      ledgers: [LEDGER, EMPTY],
    });
    const budgets = new ClientBudgets(
      { pointsPerSecond: 1e9, burst: 1e9, atOnce: 2, waiting: 9, streams: 1, statements: 1 },
      () => 0,
    );
    points = countPoints(budgets);
    server = createAdaptorServer({ fetch: app.fetch }) as Server;
    const { priceOf } = clientLimits({ trustedProxies: 0, clientLimits: { points: 1, streams: 1 } });
    limitClients(server, { budgets, trustedProxies: 0, ...(priceOf && { priceOf }) });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/ledger/entries`;
  });
  after(async () => {
    server?.close();
    await database?.close();
  });

  /** An answer with the points and the statements that it cost. */
  async function ask(query: string, method = "GET") {
    database.statements = 0;
    const before = points();
    const response = await fetch(`${url}?${query}`, { method, headers: { connection: "close" } });
    const text = await response.text();
    const { status, headers } = response;
    return { status, headers, text, paid: points() - before, statements: [...database.sent] };
  }

  it("are missing before an indexer has stored any", async () => {
    const { status, text } = await ask(`ledger=${EMPTY}`);
    expect([status, JSON.parse(text).code]).to.deep.equal([503, "entries_missing"]);
  });

  it("cost what is read for them, not only what is sent", async () => {
    await database.pool.query(`CREATE SCHEMA ops; ${CREATE_KEPT_LINES}`);
    await new KeptLines(database.pool, async () => {}).keep(LEDGER, 0, lines);
    const one = await ask("from=7&to=8");
    expect(one.text).to.equal(`${lines[7]}\n`);
    // The row of this line has 256 lines of 32 KiB. A point pays for 64 KiB.
    expect(one.paid).to.be.within(128, 140);
    expect(one.headers.get("x-ledger-size")).to.equal(String(lines.length));
    const last = await ask(`from=${LINES_PER_ROW}`);
    expect(last.text).to.equal(
      lines
        .slice(LINES_PER_ROW)
        .map((line) => `${line}\n`)
        .join(""),
    );
    expect(last.paid).to.be.below(40);
  });

  it("are read in the turns of their client, with the pool of the API", async () => {
    const { statements } = await ask("from=7&to=8");
    expect(statements.filter(({ query }) => query.includes("ops.ledger_lines"))).to.have.length(1);
  });

  it("are not read for HEAD", async () => {
    const read: unknown[] = [];
    const query = database.pool.query;
    database.pool.query = ((...given: [{ text: string } | string]) => {
      read.push(given[0]);
      return (query as (...given: unknown[]) => unknown)(...given);
    }) as never;
    const { status, headers, text, paid } = await ask("from=7&to=8", "HEAD");
    database.pool.query = query;
    expect([status, text]).to.deep.equal([200, ""]);
    expect(headers.get("x-ledger-size")).to.equal(String(lines.length));
    expect(paid).to.be.below(1.1);
    expect(read).to.have.length.above(0);
    expect(JSON.stringify(read)).not.to.include("ledger_lines");
  });
});
