import { expect } from "chai";
import fc from "fast-check";
import { apply, applyInParts } from "tallystick-derive/apply";
import { openNotes } from "tallystick-derive/applyContext";
import type { DeriveEvent } from "tallystick-derive/events";
import { append, itemsOf } from "tallystick-derive/lists";
import { forEachRow, LoadedRows } from "tallystick-derive/loadedRows";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { type TableName, tables } from "tallystick-derive/tables";
import { Transaction } from "tallystick-derive/transaction";
import { EventLog, wallet } from "./eventLog.ts";
import { applyLater, laterRows } from "./laterRows.ts";
import { generatedLog } from "./oracle/generatedLog.ts";

/** How often a tick on sixty agents may wait for rows. */
const FEW = 40;

describe("rows that are read while the derivation waits", () => {
  it("give the same results as rows in memory, also with notes that an earlier event left", async () => {
    await fc.assert(
      fc.asyncProperty(generatedLog, async ({ events }) => {
        const [atHand, later] = [new MemoryStore(), new MemoryStore()];
        const notes = openNotes(atHand);
        for (const event of events) {
          // Notes that an event leaves when it fails in the middle.
          notes.touchedAgents.add("0xnobody");
          notes.wallets.set("0xnobody", { row: null, stored: null });
          apply(atHand, event, { trustSignatures: true }, notes);
          await applyLater(later, event);
        }
        for (const table of Object.keys(tables) as TableName[])
          expect(later.rows(table), table).to.deep.equal(atHand.rows(table));
      }),
      { numRuns: 10 },
    );
  });

  it("are read for all items of a loop together, also when an item needs a second row", async () => {
    const store = new MemoryStore();
    for (let n = 0; n < 1_000; n++) {
      store.insert("list", { id: `${n}`, length: 1, tail: `next ${n}` });
      store.insert("list", { id: `next ${n}`, length: 1, tail: `${n}` });
    }
    const later = laterRows(store);
    const rows = new LoadedRows(later);
    let attempts = 0;
    const found = await rows.run(() => {
      attempts++;
      const tails: string[] = [];
      forEachRow(Array(1_000).keys(), (n) => {
        const next = rows.get("list", `${n}`)?.tail ?? "";
        tails.push(rows.get("list", next)?.tail ?? "");
      });
      return tails;
    });
    expect(found).to.deep.equal([...Array(1_000).keys()].map(String));
    expect({ attempts, reads: later.reads }).to.deep.equal({ attempts: 3, reads: 2 });
  });

  it("are read for a long list in two steps: its end, and all its pages", async () => {
    const store = new MemoryStore();
    const items = [...Array(1_000).keys()].map(String);
    for (const item of items) append(store, "long", item);
    const later = laterRows(store);
    const rows = new LoadedRows(later);
    expect(await rows.run(() => [...itemsOf(rows, "long")])).to.deep.equal(items);
    expect(later.reads).to.equal(2);
  });

  it("are read for one part of a tick after the other, and a part that lacks rows does not repeat the others", async () => {
    const log = new EventLog();
    const agents = Array.from({ length: 60 }, (_, n) => wallet(100 + n));
    for (const agent of agents) log.listing(agent, "text.translate");
    log.tick();
    for (const agent of agents) log.transfer(wallet(1), agent, 250_000, { authorized: true });
    log.after(86_401).tick();
    const store = new MemoryStore();
    const tick = log.events.at(-1) as DeriveEvent;
    for (const event of log.events.slice(0, -1)) apply(store, event, { trustSignatures: true });
    const [inParts, atOnce] = [laterRows(store), laterRows(store)];
    const partly = new LoadedRows(inParts);
    const changes = await applyInParts(partly, tick, { trustSignatures: true }, (work) => partly.run(work));
    const wholly = new LoadedRows(atOnce);
    const same = await wholly.run(() => {
      const attempt = new Transaction(wholly);
      apply(attempt, tick, { trustSignatures: true });
      return attempt;
    });
    const byRow = (all: Transaction) =>
      new Map(all.changes().map((it) => [`${it.table} ${it.after.id}`, it]));
    expect(byRow(changes)).to.deep.equal(byRow(same));
    expect(inParts.gets).to.be.below(0.6 * atOnce.gets);
    expect(inParts.reads).to.be.below(FEW);
  });

  it("pass on errors of the work, except errors of an attempt that lacked a row", async () => {
    const store = new MemoryStore();
    store.insert("list", { id: "a", length: 1, tail: "is there" });
    const rows = new LoadedRows(laterRows(store));
    const read = () => {
      let tail: string | undefined;
      forEachRow(["a"], (id) => (tail = rows.get("list", id)?.tail));
      return tail;
    };
    const hasty = () => {
      const seen: (string | undefined)[] = [];
      try {
        seen.push(read());
      } catch {
        throw new Error("This attempt knows nothing yet.");
      }
      return seen;
    };
    expect(await rows.run(hasty)).to.deep.equal(["is there"]);
    const wrong = rows.run(() => {
      throw new Error(`It ${read()}, and is wrong.`);
    });
    expect(await wrong.catch((error) => error.message)).to.equal("It is there, and is wrong.");
  });
});

describe("a transaction", () => {
  it("remembers the former value of a row that is written as a whole, and writes the row once", () => {
    const store = new MemoryStore();
    store.insert("list", { id: "old", length: 1, tail: "a" });
    const transaction = new Transaction(store);
    transaction.put("list", { id: "old", length: 2, tail: "b" });
    transaction.put("list", { id: "new", length: 1, tail: "c" });
    transaction.put("list", { id: "new", length: 2, tail: "d" });
    transaction.update("list", "old", { length: 3 });
    expect(transaction.changes().map(({ before, after }) => [before, after])).to.deep.equal([
      [
        { id: "old", length: 1, tail: "a" },
        { id: "old", length: 3, tail: "b" },
      ],
      [null, { id: "new", length: 2, tail: "d" }],
    ]);
    expect(store.get("list", "new")).to.equal(null);
    transaction.commitTo(store);
    expect([store.get("list", "old"), store.get("list", "new")]).to.deep.equal([
      { id: "old", length: 3, tail: "b" },
      { id: "new", length: 2, tail: "d" },
    ]);
  });
});
