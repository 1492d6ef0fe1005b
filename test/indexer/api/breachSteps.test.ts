import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import type { Hono } from "hono";
import { privateKeyToAccount } from "viem/accounts";
import { createApi } from "../../../indexer/api/app.ts";
import { graphqlServer } from "../../../indexer/api/graphql/server.ts";
import { messagesOf } from "../../../indexer/api/stream/messages.ts";
import * as schema from "../../../indexer/ponder.schema.ts";
import { momentsOf } from "../../../indexer/src/timeline.ts";
import { createHttpNode } from "../../../services/notifying/httpNode.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { DAY, START, wallet } from "../../derive/eventLog.ts";
import { AGENT, attest, goTo, stewardLog } from "../../derive/steward/stewardScene.ts";
import { testDatabase } from "../../support/testDatabase.ts";
import { node } from "../support/apiStory.ts";
import { followEvents } from "../support/followEvents.ts";

/**
 * The log of a seller that breaches a success guarantee. The breach is confirmed after a week and suspends the seller.
 */
function breachedLog() {
  const log = stewardLog();
  log.record("sla", AGENT, {
    ...{ agent_id: AGENT, version: "1", issued_at: log.time },
    guarantees: [
      {
        ...{ metric: "success_rate", target: "0.98", measurement_window: "30 days", breach_threshold: "0.9" },
        penalty: { type: "temporary_suspension", duration: "7 days" },
      },
    ],
  });
  goTo(log, START + DAY + 3_600);
  for (let n = 0; n < 30; n++) log.hire(AGENT, wallet(300 + (n % 3)), { passed: n % 4 > 0, latency_ms: 9 });
  log.after(3_600).tick();
  log.after(7 * DAY + 600).tick();
  // One agent claims the first alias. Two agents claim the second alias.
  for (const [agent, alias] of [
    [AGENT, "the-seller"],
    [wallet(300), "twin"],
    [wallet(301), "twin"],
  ] as const) {
    log.listing(agent, "text.translate");
    attest(log, { agent_id: agent, by: agent, alias });
  }
  return log.tick();
}

describe("steps of breaches", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let app: Hono;
  let ids: string[];
  let tick: number | undefined;
  before(async () => {
    database = await openApiDatabase(await testDatabase(), { indexes: true });
    const { store } = await breachedLog().derive();
    await database.fill(store);
    ids = [...store.rows("breachStep").keys()];
    tick = [...store.rows("state").values()][0]?.time;
    const operations = { readBlocked: async () => null, readBlockedTransfers: async () => null };
    app = createApi({ db: database.db, operations, node, settlementUrl: null });
  });
  after(() => database?.close());

  /** Makes a block the last final one. Unless `latest` is given, a later block is indexed. */
  const finalize = async (block: number, latest = block + 1) => {
    const checkpoint = (of: number) =>
      `1767225900${"31337".padStart(16, "0")}${String(of).padStart(16, "0")}${"9".repeat(33)}`;
    await database.pool.query("DELETE FROM _ponder_checkpoint");
    await database.pool.query(
      "INSERT INTO _ponder_checkpoint VALUES ($1, $2)",
      [latest, block].map(checkpoint),
    );
  };
  const ask = async (query = "") => await (await app.request(`/v1/breach-steps${query}`)).json();

  it("are given in order and page by page, only from final blocks, and from a given block on", async () => {
    await finalize(1_000_000);
    const all = await ask();
    expect(all.steps.map((it: { step: string }) => it.step)).to.deep.equal(["detected", "confirmed"]);
    const [detected, confirmed] = all.steps;
    expect(detected).to.include({
      ...{ agent: AGENT, metric: "success_rate", window_days: 30, suspension: null },
      ...{ target: "0.98", breach_threshold: "0.9", value: "0.733333333" },
    });
    const from = confirmed.time + DAY;
    expect(confirmed.suspension).to.deep.equal({ from, until: from + 7 * DAY });
    expect(all.final_block).to.equal(1_000_000);

    const first = await ask("?limit=1");
    expect(first.steps).to.deep.equal([detected]);
    expect((await ask(`?limit=1&cursor=${first.next_cursor}`)).steps).to.deep.equal([confirmed]);
    expect((await ask(`?from_block=${detected.block + 1}`)).steps).to.deep.equal([confirmed]);
    await finalize(confirmed.block - 1);
    expect((await ask()).steps).to.deep.equal([detected]);
    for (const query of ["?from_block=-1", "?from_block=1.5", "?from_block=1e30", "?limit=0", "?cursor=x"])
      expect((await app.request(`/v1/breach-steps${query}`)).status, query).to.equal(400);
  });

  it("are read completely by a sender of notices, which continues where it stopped", async () => {
    await finalize(1_000_000);
    const sender = createHttpNode({
      ...{ baseUrl: "http://node.test", account: privateKeyToAccount(`0x${"61".repeat(32)}`) },
      ...{ ledger: async () => "local" as const, now: () => START },
      fetch: async (url, init) => await app.request(url.slice("http://node.test".length), init),
    });
    const forever = new AbortController().signal;
    const { steps, finalBlock, time } = await sender.stepsFrom(0, forever);
    expect(steps.map(({ step }) => step)).to.deep.equal(["detected", "confirmed"]);
    expect(finalBlock).to.equal(1_000_000);
    expect(Object.keys(steps[1] ?? {})).to.not.include("block");
    expect(time).to.equal(tick);
    expect(await sender.stepsFrom(finalBlock + 1, forever)).to.deep.equal({ steps: [], finalBlock, time });
  });

  it("of the last final block are told when the block is finished, also if some of them come late", async () => {
    await finalize(1_000_000);
    const { steps: all } = await ask();
    const [detected, confirmed] = all;
    const { rows } = await database.pool.query("DELETE FROM breach_step WHERE block = $1 RETURNING *", [
      confirmed.block,
    ]);
    const [row] = rows as { [column: string]: unknown }[];
    // While a node reads the history, Ponder names the last block as final, and applies it only then.
    await finalize(confirmed.block, confirmed.block);
    const first = await ask();
    expect(first.steps).to.deep.equal([detected]);
    const columns = Object.keys(row ?? {});
    await database.pool.query(
      `INSERT INTO breach_step (${columns.map((it) => `"${it}"`)}) VALUES (${columns.map((_, n) => `$${n + 1}`)})`,
      Object.values(row ?? {}),
    );
    await finalize(confirmed.block);
    const next = await ask(`?from_block=${first.final_block + 1}`);
    expect(next.steps).to.deep.equal([confirmed]);
    expect(next.final_block).to.equal(confirmed.block);
  });

  it("come from the same API as aliases: an alias names an agent if no other agent claims it", async () => {
    const meaning = async (alias: string) => {
      const response = await app.request(`/v1/aliases/${alias}`);
      const { agent_id, code } = (await response.json()) as { agent_id?: string; code?: string };
      return [response.status, agent_id ?? code];
    };
    expect(await meaning("the-seller")).to.deep.equal([200, AGENT]);
    expect(await meaning("twin")).to.deep.equal([409, "ambiguous_alias"]);
    expect(await meaning("nobody")).to.deep.equal([404, "unknown_alias"]);
    expect(await meaning("The-Seller")).to.deep.equal([400, "invalid_input"]);
  });

  it("are sent on the stream, with the terms of their breach", async () => {
    const change = { table: "breachStep", before: null, after: { id: ids[0], agent: AGENT } };
    const [moment] = momentsOf([change as never]);
    expect(moment).to.deep.equal({ kind: "sla_step", subject: ids[0], agent: AGENT, counterpart: null });
    const blockHash = `0x${"aa".repeat(32)}`;
    const row = { ...moment, blockHash, position: "000000000001/00000001/0000000000000001/000001" };
    const [message] = await messagesOf(database.db, [row as never]);
    expect(JSON.parse(message?.text ?? "")).to.deep.include({ type: "sla_step" });
    expect(JSON.parse(message?.text ?? "").data).to.include({ step: "detected", breach_threshold: "0.9" });
  });

  it("are sent by a GraphQL subscription, for one agent if requested", async () => {
    const operations = { readBlocked: async () => null, readBlockedTransfers: async () => null };
    const yoga = graphqlServer({ db: database.db, operations, node, pollMs: 10 });
    const server = serve({
      fetch: (request, connection) => yoga.fetch(request, connection as object),
      ...{ port: 0, hostname: "127.0.0.1" },
    }) as Server;
    await new Promise((resolve) => server.once("listening", resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`;
    const positions = [1, 2, 3].map((n) => `00000000000${n}/00000001/0000000000000001/000001`);
    const [other, detected, confirmed] = positions;
    const blockHash = `0x${"aa".repeat(32)}`;
    const row = (position = "", subject = "", agent: string = AGENT) => ({
      ...{ position, blockHash, kind: "sla_step", subject, agent, counterpart: null },
    });
    const rows = [row(other, ids[0], wallet(300)), row(detected, ids[0]), row(confirmed, ids[1])];
    await database.database.insert(schema.timeline).values(rows as never);
    const leave = new AbortController();
    type StreamedStep = { position: string; reorg: boolean; breachStep: object };
    const told = followEvents<StreamedStep>(
      url,
      `breachChanged(agent: "${AGENT}", after: "0") { position reorg breachStep { step breach { metric breachThreshold } } }`,
      leave.signal,
    );
    try {
      const breach = { metric: "success_rate", breachThreshold: 0.9 };
      for (const [position, step] of [
        [detected, "detected"],
        [confirmed, "confirmed"],
      ])
        expect((await told.next()).value).to.deep.equal({
          ...{ position: `${position}/${"aa".repeat(8)}`, reorg: false, breachStep: { step, breach } },
        });
    } finally {
      leave.abort();
      server.closeAllConnections();
      server.close();
    }
  });
});
