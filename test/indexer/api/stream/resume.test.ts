import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { expect } from "chai";
import type { Row } from "tallystick-derive/tables";
import { WebSocket } from "ws";
import { graphqlServer } from "../../../../indexer/api/graphql/server.ts";
import { attachStream } from "../../../../indexer/api/stream/attachStream.ts";
import { createStream } from "../../../../indexer/api/stream/createStream.ts";
import * as schema from "../../../../indexer/ponder.schema.ts";
import { waitUntil } from "../../../../scripts/processes/waitUntil.ts";
import { openApiDatabase } from "../../../../tools/bench/api/apiDatabase.ts";
import { EventLog, wallet } from "../../../derive/eventLog.ts";
import { testDatabase } from "../../../support/testDatabase.ts";
import { node } from "../../support/apiStory.ts";
import { followEvents } from "../../support/followEvents.ts";

/** What a client gets: an event of a hire, or a reorganization. */
type Told = { position: string; reorg: boolean; hire: string | null };

/** The blocks of the events, which have one event each. */
const [FINAL, FIRST, SECOND] = [1_000, 1_050, 1_090];

describe("a client that comes back after a reorganization", () => {
  let database: Awaited<ReturnType<typeof openApiDatabase>>;
  let hires: Row<"hire">[];
  const servers: Server[] = [];
  const leave: (() => void)[] = [];
  let url: string;
  let graphql: string;

  before(async () => {
    database = await openApiDatabase(await testDatabase());
    const log = new EventLog();
    log.after(1).listing(wallet(1), "text.task");
    for (let n = 0; n < 5; n++) log.after(1).hire(wallet(1), wallet(9));
    const { store } = await log.derive();
    await database.fill(store);
    hires = [...store.rows("hire").values()];
    await database.pool.query("INSERT INTO _ponder_checkpoint (latest_checkpoint) VALUES ('0')");
  });
  after(() => database?.close());

  beforeEach(async () => {
    await database.database.delete(schema.timeline);
    await finalAt(FINAL + 40);
    const stream = createStream({ db: database.db, pollMs: 10 });
    const sockets = createServer();
    attachStream(sockets, stream);
    await new Promise<void>((resolve) => sockets.listen(0, "127.0.0.1", resolve));
    const operations = { readBlocked: async () => null, readBlockedTransfers: async () => null };
    const yoga = graphqlServer({ db: database.db, operations, node, pollMs: 10 });
    const queries = serve({
      fetch: (request, connection) => yoga.fetch(request, connection as object),
      ...{ port: 0, hostname: "127.0.0.1" },
    }) as Server;
    await new Promise((resolve) => queries.once("listening", resolve));
    servers.push(sockets, queries);
    url = `127.0.0.1:${(sockets.address() as AddressInfo).port}/v1/stream`;
    graphql = `http://127.0.0.1:${(queries.address() as AddressInfo).port}/graphql`;
  });
  afterEach(() => {
    for (const end of leave.splice(0)) end();
    for (const server of servers.splice(0)) {
      server.closeAllConnections();
      server.close();
    }
  });

  const finalAt = (block: number) =>
    database.pool.query("UPDATE _ponder_checkpoint SET finalized_checkpoint = $1", [
      `${"0".repeat(26)}${String(block).padStart(16, "0")}${"9".repeat(33)}`,
    ]);

  /** Writes one event for each block, on a branch of the chain. */
  const write = async (branch: string, events: [block: number, hire: Row<"hire"> | undefined][]) => {
    const rows = events.map(([block, hire]) => ({
      position: `${String(block).padStart(12, "0")}/00000001/${"0".repeat(16)}/000001`,
      blockHash: `0x${branch.repeat(32)}`,
      ...{ kind: "hire", subject: hire?.id ?? "", agent: hire?.seller ?? "", counterpart: hire?.buyer },
    }));
    await database.database.insert(schema.timeline).values(rows);
  };
  const remove = (from: number) =>
    database.pool.query("DELETE FROM timeline WHERE position >= $1", [String(from).padStart(12, "0")]);

  /** Follows the stream from a position on, until it has told so many messages. */
  async function overWebSocket(from: string, count: number): Promise<Told[]> {
    const socket = new WebSocket(`ws://${url}?from=${from}`);
    leave.push(() => socket.terminate());
    const told: Told[] = [];
    socket.on("error", () => {});
    socket.on("message", (text) => {
      const { type, position, data } = JSON.parse(String(text));
      if (type === "hire" || type === "reorg")
        told.push({ position, reorg: type === "reorg", hire: data?.id ?? null });
    });
    await waitUntil(async () => told.length >= count, {
      what: `${count} messages`,
      withinMs: 30_000,
      everyMs: 5,
    });
    return told;
  }

  async function overGraphql(from: string, count: number): Promise<Told[]> {
    const controller = new AbortController();
    leave.push(() => controller.abort());
    const events = followEvents<{ position: string; reorg: boolean; hire: { id: string } | null }>(
      graphql,
      `hireCounted(after: "${from}") { position reorg hire { id } }`,
      controller.signal,
    );
    const told: Told[] = [];
    while (told.length < count) {
      const { value } = await events.next();
      if (value === undefined) throw new Error("the subscription ended");
      told.push({ ...value, hire: value.hire?.id ?? null });
    }
    return told;
  }

  const idsOf = (told: Told[]) => told.map(({ hire }) => hire);

  for (const [name, follow] of [
    ["the stream", overWebSocket],
    ["a GraphQL subscription", overGraphql],
  ] as const)
    describe(`to ${name}`, () => {
      it("continues without a repetition if the block of its last event still stands", async () => {
        await write("aa", [
          [FINAL, hires[0]],
          [FIRST, hires[1]],
          [SECOND, hires[2]],
        ]);
        const told = await follow("0", 3);
        await finalAt(SECOND + 40);
        await write("aa", [[SECOND + 1, hires[3]]]);
        expect(idsOf(await follow(told[2]?.position ?? "", 1))).to.deep.equal([hires[3]?.id]);
        expect(idsOf(await follow(told[0]?.position ?? "", 3))).to.deep.equal(
          [1, 2, 3].map((n) => hires[n]?.id),
        );
      });

      for (const [what, final] of [
        ["blocks that are not final", FINAL + 40],
        ["blocks that became final meanwhile", SECOND + 40],
      ] as const)
        it(`is told if other events stand at the same places, in ${what}`, async () => {
          await write("aa", [
            [FINAL, hires[0]],
            [FIRST, hires[1]],
            [SECOND, hires[2]],
          ]);
          const told = await follow("0", 3);
          // The client is away. The first event is another one now, and its own last event is the same as before.
          await remove(FIRST);
          await write("bb", [
            [FIRST, hires[4]],
            [SECOND, hires[2]],
          ]);
          await finalAt(final);
          const again = await follow(told[2]?.position ?? "", 3);
          expect(again[0]).to.deep.equal({ position: told[0]?.position, reorg: true, hire: null });
          expect(idsOf(again)).to.deep.equal([null, hires[4]?.id, hires[2]?.id]);
          expect(again[2]?.position).to.not.equal(told[2]?.position);
          // The new position stands.
          await write("bb", [[SECOND + 1, hires[3]]]);
          expect(idsOf(await follow(again[2]?.position ?? "", 1))).to.deep.equal([hires[3]?.id]);
        });

      it("gets what it may lack again if its position names no block", async () => {
        await write("aa", [
          [FINAL, hires[0]],
          [FIRST, hires[1]],
          [SECOND, hires[2]],
        ]);
        const told = await follow("0", 3);
        await finalAt(SECOND + 40);
        const place = (told[2]?.position ?? "").split("/").slice(0, 4).join("/");
        const again = await follow(place, 3);
        expect(again).to.deep.equal([
          { position: told[0]?.position, reorg: true, hire: null },
          told[1],
          told[2],
        ]);
      });
    });
});
