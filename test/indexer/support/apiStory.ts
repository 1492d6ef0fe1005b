import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { expect } from "chai";
import type { Hono } from "hono";
import type { EscrowDelivered } from "tallystick-derive/events";
import type { Snapshot } from "tallystick-derive/snapshot";
import { toHex } from "tallystick-protocol/hex";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { createApi } from "../../../indexer/api/app.ts";
import * as schema from "../../../indexer/ponder.schema.ts";
import { positionKey } from "../../../indexer/src/positionKey.ts";
import { pageKey, TreeGrowth } from "../../../indexer/src/segments/storedTree.ts";
import { transferOfPayment } from "../../../indexer/src/transferOfPayment.ts";
import { openApiDatabase } from "../../../tools/bench/api/apiDatabase.ts";
import { EventLog, START, TOKEN, wallet } from "../../derive/eventLog.ts";
import { beforeServerStops, testDatabase } from "../../support/testDatabase.ts";
import { fillTallies } from "./fillTallies.ts";

export type Answer = {
  data?: Record<string, unknown> | null;
  errors?: { message: string; path?: unknown[]; extensions: { code: string } }[];
};

export const node = { chainId: 31_337, token: `0x${"70".repeat(20)}` };
export const LEDGER = `0x${"1e".repeat(32)}` as const;

/** The accounts of the story. */
export const cast = {
  busy: wallet(1),
  modest: wallet(2),
  secret: wallet(3),
  free: wallet(4),
  ring: [11, 12, 13, 14, 15].map(wallet),
  funder: wallet(99),
  hub: wallet(98),
  buyers: Array.from({ length: 8 }, (_, n) => wallet(20 + n)),
};

/**
 * A market with a busy seller, a small seller, a seller with private metrics, free calls, a ring, a hub, and escrows
 * with every result.
 */
export function marketStory(): EventLog {
  const { busy, modest, secret, free, ring, funder, hub, buyers } = cast;
  const log = new EventLog({ hubs: [hub] });
  const buyer = (n: number) => buyers[n % buyers.length] ?? busy;
  for (let n = 0; n < 4; n++) log.after(1).listing(busy, `text.task${n}`, { price_usdc: `0.${n + 1}` });
  log.after(1).listing(busy, "text.task0", { payment_mode: "platform_escrow:swarmwage-partnered" });
  log.after(1).listing(modest, "text.task0", { price_usdc: "0.9", max_latency_ms: 50 });
  log.after(1).listing(secret, "text.task0", { private_metrics: true });
  for (let n = 0; n < 40; n++) {
    const options = { passed: n % 20 !== 0, capability: `text.task${n % 4}`, latency_ms: 100 + n };
    const receipt = log.after(1).hire(busy, buyer(n), options);
    if (n < 6) log.record("rating", buyer(n), { receipt, side: "buyer", stars: 1 + (n % 5) });
    if (n === 0) log.record("rating", busy, { receipt, side: "seller", stars: 4 });
  }
  for (let n = 0; n < 3; n++)
    log.after(1).hire(modest, buyer(n), { capability: "text.task0", passed: n > 0 });
  for (let n = 0; n < 23; n++) {
    const receipt = log
      .after(1)
      .hire(secret, buyer(n), { capability: "text.task0", passed: n > 2, latency_ms: 77 });
    if (n < 3) log.record("rating", buyer(n), { receipt, side: "buyer", stars: 4 });
  }
  log.after(1).receipt(free, buyer(0), { amount: 0, buyer_signature: "0x01" });
  log.after(1).receipt(busy, buyer(1), { tx: `0x${"ee".repeat(32)}` });
  const escrows = Array.from({ length: 5 }, (_, n) => log.after(1).deposit(busy, buyer(n)));
  const [released = "0x", refunded = "0x", delivered = "0x", silent = "0x"] = escrows;
  log.after(1).delivered(released).released(released);
  log.after(1).delivered(refunded).refunded(refunded, buyer(1));
  log.after(1).delivered(delivered).timedOut(delivered, true);
  log.after(1).timedOut(silent);
  for (const member of ring) log.after(1).transfer(funder, member, 5_000_000);
  for (const member of ring) log.after(1).listing(member, "code.review");
  log.after(1).transfer(hub, ring[0] ?? busy, 9_000_000);
  for (let n = 1; n < 5; n++)
    log.after(1).hire(ring[0] ?? busy, ring[n] ?? busy, { capability: "code.review" });
  log.after(1).transfer(wallet(97), funder, 50_000_000);
  return log.after(60).tick();
}

export type ApiStory = Awaited<ReturnType<typeof start>>;

let running: Promise<ApiStory> | undefined;

/** The story in a real Postgres behind the real app. All test files share it. */
export function openApiStory(): Promise<ApiStory> {
  running ??= start();
  return running;
}

beforeServerStops(async () => {
  const story = await running?.catch(() => undefined);
  await story?.close();
});

async function start() {
  const database = await openApiDatabase(await testDatabase(), { indexes: true });
  const log = marketStory();
  const derived = await log.derive();
  await database.fill(derived.store);
  await fillEventLog(database, log, derived);
  await fillLedger(database, derived);
  await fillTallies(database, log.events);
  await fillEscrowSteps(database, log);
  await database.pool.query("ANALYZE");
  const operations = { readBlocked: async () => null, readBlockedTransfers: async () => null };
  const app: Hono = createApi({ db: database.db, operations, node, settlementUrl: null });

  const post = async (query: string, variables: object = {}) => {
    const response = await app.request("/graphql", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ query, variables }),
    });
    return { status: response.status, body: (await response.json()) as Answer };
  };
  return {
    database,
    app,
    log,
    derived: derived as Snapshot & { store: typeof derived.store },
    post,
    ask: async <Data>(query: string, variables: object = {}): Promise<Data> => {
      const { body } = await post(query, variables);
      expect(body.errors, JSON.stringify(body.errors)).to.equal(undefined);
      return body.data as Data;
    },
    codeOf: async (query: string, variables: object = {}): Promise<string | undefined> => {
      const { body } = await post(query, variables);
      expect(body.errors, query).to.have.length.above(0);
      return body.errors?.[0]?.extensions.code;
    },
    close: () => database.close(),
  };
}

type Api = Awaited<ReturnType<typeof openApiDatabase>>;

export async function fillEventLog(
  { database }: Pick<Api, "database">,
  log: EventLog,
  { store }: Awaited<ReturnType<EventLog["derive"]>>,
): Promise<void> {
  const payments = new Set(
    [...store.rows("payment").values()].map((row) => positionKey(transferOfPayment(row, TOKEN))),
  );
  const rows = log.events.map((event) => ({ position: positionKey(event), json: JSON.stringify(event) }));
  await database.insert(schema.eventLog).values(rows.filter(({ position }) => !payments.has(position)));
}

/**
 * Stores the rows that handlers would have stored for the escrows' transactions. The id of a row is the escrow's id and
 * the step. The hash of its transaction is made from both.
 */
async function fillEscrowSteps({ database }: Pick<Api, "database">, log: EventLog): Promise<void> {
  const rows = log.events.flatMap((event) => {
    if (!event.kind.startsWith("escrow.")) return [];
    const { escrowId, block, time, log: index } = event as EscrowDelivered;
    const kind = event.kind.slice("escrow.".length).replace("timedOut", "timed_out");
    const tx = toHex(sha256(utf8ToBytes(`${escrowId} ${kind}`)));
    return [{ id: `${escrowId}/${kind}`, kind, block, time, log: index, tx }];
  });
  await database.insert(schema.escrowStep).values(rows);
}

/**
 * Stores the ledger with the records and one entry of generic work. Its leaves are hashes of the entries' hashes. It
 * has three anchors, and the last one is a heartbeat.
 */
async function fillLedger({ database }: Api, { store }: Awaited<ReturnType<EventLog["derive"]>>) {
  const records = [...store.rows("record").values()].sort((a, b) => a.seq - b.seq);
  const frontier = new MerkleFrontier();
  const growth = new TreeGrowth();
  const roots = [toHex(frontier.root())];
  const generic = { seq: records.length, hash: "9e".repeat(32), type: "settlement" };
  for (const { hash } of [...records, generic]) {
    frontier.append(leafHash(utf8ToBytes(hash)), growth.add);
    roots.push(toHex(frontier.root()));
  }
  const [half, size] = [Math.floor(records.length / 2), records.length + 1];
  const place = { block: 500, time: START + 500 };
  const pages = growth.pages.map((page) => ({ id: pageKey(LEDGER, page), hashes: page.hashes }));
  await database.insert(schema.treePage).values(pages);
  await database
    .insert(schema.genericEntry)
    .values({ ...generic, id: `${LEDGER}/${generic.seq}`, ledger: LEDGER });
  await database.insert(schema.openedLedger).values({
    id: LEDGER,
    writer: wallet(9),
    firstWriter: wallet(9),
    guardian: wallet(8),
    origin: "test/story",
    ...place,
  });
  await database.insert(schema.ledger).values({
    id: LEDGER,
    size,
    root: roots[size] ?? "",
    frontier: "",
    head: generic.hash,
    bytes: 0,
    ...place,
  });
  const anchors = [
    { seq: 1n, oldSize: 0n, newSize: BigInt(half), root: roots[half] ?? "" },
    { seq: 2n, oldSize: BigInt(half), newSize: BigInt(size), root: roots[size] ?? "" },
    { seq: 3n, oldSize: BigInt(size), newSize: BigInt(size), root: roots[size] ?? "" },
  ].map((it) => ({
    ...it,
    id: `${LEDGER}/${it.seq}`,
    ledger: LEDGER,
    ...place,
    log: Number(it.seq),
    tx: toHex(sha256(utf8ToBytes(String(it.seq)))),
  }));
  await database.insert(schema.anchor).values(anchors);
}
