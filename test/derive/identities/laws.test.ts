import { expect } from "chai";
import fc from "fast-check";
import { apply } from "tallystick-derive/apply";
import type { DeriveEvent } from "tallystick-derive/events";
import { identityTables } from "tallystick-derive/identities/tables";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { type TableName, tables } from "tallystick-derive/tables";
import { EventLog, wallet } from "../eventLog.ts";
import { generatedLog } from "../oracle/generatedLog.ts";
import { identityLog } from "../oracle/identityLog.ts";
import { stewardLog } from "../oracle/stewardLog.ts";
import { REGISTRIES, RegistryLog } from "./registryLog.ts";

/** Tables that identities may change: their own, those for look-ups, and the digest, which contains the root of identities. */
const OWN = new Set<string>([
  ...Object.keys(identityTables),
  "state",
  "list",
  "listPage",
  "digestNode",
  "digest",
]);
/** Tables of a union-find: each row names the next one. A look-up may shorten a path, but the path's end stays the same. */
const WAYS = new Set<string>(["cluster", "buyerGroup"]);

const isOfRegistry = ({ kind }: DeriveEvent) => /^(identity|feedback|registry)\./.test(kind);

/** All rows about agents, with the roots of SHP and of STEWARD at every tick. */
async function restOf(log: EventLog) {
  const { store, agents, clusters } = await log.derive();
  const rows = (Object.keys(tables) as TableName[])
    .filter((table) => !OWN.has(table) && !WAYS.has(table))
    .map((table) => [table, Object.fromEntries(store.rows(table))]);
  const roots = [...store.rows("digest").values()].map(({ id, root, stewardRoot }) => ({
    id,
    root,
    stewardRoot,
  }));
  return { agents, clusters, rows: Object.fromEntries(rows), roots };
}

/** A copy of a log with only some of its events, each in its place. `isAbout`: whether the copy names registries. */
function only(log: EventLog, keep: (event: DeriveEvent) => boolean, isAbout: boolean): EventLog {
  const copy = new EventLog();
  const [params, ...events] = log.events;
  const { registries: _, ...first } = params as DeriveEvent & { registries?: unknown };
  const about = (isAbout ? { ...first, registries: REGISTRIES } : first) as DeriveEvent;
  copy.events.splice(0, 1, about, ...events.filter(keep));
  return copy;
}

describe("laws of identities", () => {
  it("no event of a registry changes a field, a tier, or a root of SHP or STEWARD", async () => {
    const isFree = async (log: EventLog) => {
      const rest = await restOf(log);
      expect(await restOf(only(log, (it) => !isOfRegistry(it), true))).to.deep.equal(rest);
      expect(await restOf(only(log, (it) => !isOfRegistry(it), false))).to.deep.equal(rest);
    };
    await fc.assert(fc.asyncProperty(identityLog, isFree), { numRuns: 25 });
  }).timeout(0);

  it("no event of a registry changes anything when hires, audits, families and scores happen at the same time", async () => {
    const among = async (log: EventLog, other: EventLog) => {
      const mixed = mixOf(
        only(log, () => true, true),
        other,
      );
      expect(await restOf(mixed)).to.deep.equal(await restOf(only(log, () => true, true)));
    };
    await fc.assert(fc.asyncProperty(generatedLog, identityLog, among), { numRuns: 15 });
    await fc.assert(fc.asyncProperty(stewardLog, identityLog, among), { numRuns: 5 });
  }).timeout(0);

  it("a log without registries has the digest of the rules without identities, and no rows of identities", async () => {
    const log = new EventLog();
    for (let n = 2; n < 8; n++) log.after(60).hire(wallet(1), wallet(n));
    log.tick();
    const { digest, store } = await log.derive();
    // The result of the same rules without identities.
    expect(digest).to.equal("0x602c93cf7c759a680d1e4db06d7b46fd9a9973f0cd60600f5bf5ecf2a2f0273a");
    for (const table of Object.keys(identityTables) as TableName[])
      expect(store.rows(table).size, table).to.equal(0);
    expect(store.rows("list").has(`backs/${wallet(1)}/${wallet(2)}`)).to.equal(false);
  });

  it("an event costs the same after ten thousand others", async () => {
    const log = new RegistryLog();
    log.listing(wallet(1), "text.translate");
    log.register(1, wallet(1));
    const reads: number[] = [];
    const store = new MemoryStore();
    let count = 0;
    const get = store.get.bind(store);
    store.get = (table, id) => {
      count++;
      return get(table, id);
    };
    const play = async () => {
      count = 0;
      for (const event of log.events.splice(0)) apply(store, event, { trustSignatures: true });
      return count;
    };
    await play();
    for (let n = 0; n < 4; n++) {
      for (let i = 0; i < 500; i++) {
        const id = 2 + n * 500 + i;
        log.register(id, wallet(1_000 + id));
        log.feedback(1, wallet(2));
        log.feedback(id, wallet(2));
      }
      reads.push(await play());
      // The next tick costs as much as the events that it covers.
      log.after(60).tick();
      reads.push(await play());
    }
    const [first = 0, firstTick = 0] = reads;
    const [last = 0, lastTick = 0] = reads.slice(-2);
    expect(last / first).to.be.lessThan(1.1);
    expect(lastTick / firstTick).to.be.lessThan(1.6);
  }).timeout(0);
});

/** A copy of `log`, with the registry's events of `other` at the ends of its blocks, three in each block. */
function mixOf(log: EventLog, other: EventLog): EventLog {
  const mixed = new EventLog();
  const [first, ...rest] = log.events;
  const said = other.events.filter(isOfRegistry);
  mixed.events.splice(0, 1, first as DeriveEvent);
  for (const [n, event] of rest.entries()) {
    mixed.events.push(event);
    const next = rest[n + 1];
    if (event.kind === "tick" || next?.block === event.block) continue;
    for (let i = 0; i < 3; i++) {
      const it = said.shift();
      const { block, time } = event;
      if (it !== undefined) mixed.events.push({ ...it, block, time, log: 50_000 + i } as DeriveEvent);
    }
  }
  return mixed;
}
