import { expect } from "chai";
import fc from "fast-check";
import type { DeriveEvent } from "tallystick-derive/events";
import { type Row, type TableName, tables } from "tallystick-derive/tables";
import { mergedLog } from "../../../indexer/src/mergedLog.ts";
import { Projector } from "../../../indexer/src/rows/projector.ts";
import { RowCache } from "../../../indexer/src/rows/rowCache.ts";
import { EventLog, TOKEN, wallet } from "../../derive/eventLog.ts";
import { generatedLog } from "../../derive/oracle/generatedLog.ts";
import { FakeDatabase } from "./support/fakeDatabase.ts";

const options = { trustSignatures: true };

async function applyEvent(
  projector: Projector,
  database: FakeDatabase,
  event: DeriveEvent,
  fork: string,
): Promise<void> {
  await projector.apply(database, [event], `${fork} ${event.block}`, options);
}

/** Cuts a log into pieces. The events of a piece are in one block, and there are at most `most` of them. */
function piecesOf(events: readonly DeriveEvent[], most: number): DeriveEvent[][] {
  const pieces: DeriveEvent[][] = [];
  for (const event of events) {
    const last = pieces.at(-1);
    if (last === undefined || last.length === most || last[0]?.block !== event.block) pieces.push([event]);
    else last.push(event);
  }
  return pieces;
}

/** All rows that a log gives, by table and id. */
async function rowsOf(log: DeriveEvent[]): Promise<Map<string, Row<TableName>>> {
  const database = new FakeDatabase();
  for (const event of log) await applyEvent(new Projector(), database, event, "");
  return database.rows;
}

function expectSameRows(database: FakeDatabase, expected: Map<string, Row<TableName>>): void {
  expect(new Map([...database.rows].sort())).to.deep.equal(new Map([...expected].sort()));
}

/** The lines that an export of the database would write. */
async function exported({ log, rows }: FakeDatabase): Promise<string[]> {
  const payments = [...rows].flatMap(([key, row]) => (/^payment /.test(key) ? [row as Row<"payment">] : []));
  async function* logged() {
    for (const [position, json] of [...log].sort(([a], [b]) => (a < b ? -1 : 1))) yield { position, json };
  }
  async function* inOrder() {
    yield* payments.sort((a, b) => a.block - b.block || a.log - b.log);
  }
  const lines: string[] = [];
  for await (const line of mergedLog(logged(), inOrder(), TOKEN)) lines.push(line);
  return lines;
}

describe("the derivation over a database", () => {
  it("asks for at most 1,000 rows at once, also if an event needs many more", async () => {
    const log = new EventLog();
    for (let n = 0; n < 1_100; n++) log.listing(wallet(100 + n), "text.translate");
    const database = new FakeDatabase();
    await new Projector().apply(database, log.events, "block", options);
    let open = 0;
    let most = 0;
    const find = database.find.bind(database);
    database.find = async (table, id) => {
      most = Math.max(most, ++open);
      await Promise.resolve();
      open--;
      return find(table, id);
    };
    log.tick();
    await applyEvent(new Projector(), database, log.events.at(-1) as DeriveEvent, "");
    expect(most).to.equal(1_000);
  });

  it("stores every event once and in order: a transfer that is a payment as its payment, and any other event in the log", async () => {
    let kept = { payments: 0, others: 0 };
    await fc.assert(
      fc.asyncProperty(generatedLog, async ({ events }) => {
        const database = new FakeDatabase();
        const projector = new Projector();
        for (const event of events) await applyEvent(projector, database, event, "");
        expect(await exported(database)).to.deep.equal(events.map((event) => JSON.stringify(event)));
        const transfers = [...database.log.values()].filter((json) => JSON.parse(json).kind === "transfer");
        const payments = [...database.rows.keys()].filter((key) => key.startsWith("payment "));
        kept = { payments: kept.payments + payments.length, others: kept.others + transfers.length };
      }),
      { numRuns: 40 },
    );
    expect(kept.payments, "payments").to.be.greaterThan(0);
    expect(kept.others, "transfers that are no payments").to.be.greaterThan(0);
  });

  it("notices that a reorg removed a transfer that is only stored as a payment", async () => {
    const log = new EventLog();
    log.after(60).transfer(wallet(1), wallet(2), 5_000_000);
    log.after(60).transfer(wallet(3), wallet(2), 7_000_000);
    log.transfer(wallet(4), wallet(2), 9_000_000);
    const [, kept, lost, next] = log.events as [DeriveEvent, DeriveEvent, DeriveEvent, DeriveEvent];
    const database = new FakeDatabase();
    const projector = new Projector();
    await applyEvent(projector, database, kept, "first");
    const fork = database.save();
    await applyEvent(projector, database, lost, "first");
    expect([...database.log.keys()], "events in the log").to.deep.equal([]);
    database.restore(fork);
    await applyEvent(projector, database, next, "second");
    expectSameRows(database, await rowsOf([kept, next]));
    expect(await exported(database)).to.deep.equal([kept, next].map((event) => JSON.stringify(event)));
  });

  it("writes the same rows as a derivation in memory, event by event or many together", async () => {
    await fc.assert(
      fc.asyncProperty(generatedLog, fc.constantFrom(1, 2, 5, 100), async (log, most) => {
        const database = new FakeDatabase();
        const projector = new Projector();
        for (const piece of piecesOf(log.events, most)) {
          await projector.apply(database, piece, String(piece[0]?.block), options);
        }
        const { store } = await log.derive();
        for (const table of Object.keys(tables) as TableName[]) {
          for (const [id, row] of store.rows(table)) {
            expect(database.rows.get(`${table} ${id}`), `${table} ${id}`).to.deep.equal(row);
          }
        }
      }),
      { numRuns: 25 },
    );
  });

  it("derives the same rows after its database goes back, to another fork or for another attempt", async () => {
    const setBack = fc.record({
      /** The place where the database goes back, and how far it goes back, in shares of the log. */
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      by: fc.double({ min: 0, max: 1, noNaN: true }),
      /** Events that the other fork does not have. */
      lost: fc.nat(3),
      keep: fc.constantFrom(1, 3, 20, 1_000),
      writes: fc.option(fc.nat(40), { nil: null }),
    });
    await fc.assert(
      fc.asyncProperty(generatedLog, setBack, async ({ events }, { at, by, lost, keep, writes }) => {
        const database = new FakeDatabase();
        const projector = new Projector(new RowCache({ rows: keep, readAgain: keep, payments: keep }));
        const upTo = Math.floor(at * events.length);
        const from = Math.floor(upTo * (1 - by));
        const saved: ReturnType<FakeDatabase["save"]>[] = [];
        for (const event of events.slice(0, upTo)) {
          saved.push(database.save());
          await applyEvent(projector, database, event, "first");
        }
        if (writes !== null && upTo < events.length) {
          saved.push(database.save());
          database.writesLeft = writes;
          await applyEvent(projector, database, events[upTo] as DeriveEvent, "first").catch(() => {});
          database.writesLeft = Number.POSITIVE_INFINITY;
        }
        const back = saved[from];
        if (back === undefined) return;
        database.restore(back);
        const rest = events.slice(from + lost);
        // Leaves out forks that are impossible, such as the delivery of an escrow without its deposit.
        const expected = await rowsOf([...events.slice(0, from), ...rest]).catch(() => null);
        fc.pre(expected !== null);
        for (const event of rest) await applyEvent(projector, database, event, "second");
        expectSameRows(database, expected ?? new Map());
      }),
      { numRuns: 40 },
    );
  });

  it("ends when the database lost a block that is still on the chain, also if the next block is tried twice", async () => {
    const log = new EventLog();
    for (let n = 0; n < 4; n++) log.after(60).transfer(wallet(1), wallet(2), 5_000_000);
    const [first, second, lost, next] = log.events.slice(1) as [
      DeriveEvent,
      DeriveEvent,
      DeriveEvent,
      DeriveEvent,
    ];
    for (const isTriedBefore of [false, true]) {
      for (const isOnChain of [true, false]) {
        const database = new FakeDatabase();
        const asked: string[] = [];
        const projector = new Projector(new RowCache(), async (block) => {
          asked.push(block);
          return isOnChain;
        });
        for (const event of [first, second]) await applyEvent(projector, database, event, "first");
        const older = database.save();
        await applyEvent(projector, database, lost, "first");
        // The first try of the next block ends with the connection to the old server.
        if (isTriedBefore) await applyEvent(projector, database, next, "first");
        database.restore(older);
        const code = await applyEvent(projector, database, next, "first").then(
          () => "applied",
          (error) => error.code,
        );
        expect(code).to.equal(isOnChain ? "database_went_back" : "applied");
        expect(asked).to.deep.equal([`first ${lost.block}`]);
      }
    }
  });

  it("does not ask the chain while nothing is missing, nor when a block is tried again", async () => {
    const log = new EventLog();
    for (let n = 0; n < 4; n++) log.after(60).transfer(wallet(1), wallet(2), 5_000_000);
    const database = new FakeDatabase();
    const projector = new Projector(new RowCache(), () => {
      throw new Error("The chain was asked.");
    });
    for (const event of log.events.slice(1)) {
      const before = database.save();
      for (let n = 0; n < 3; n++) {
        database.restore(before);
        await applyEvent(projector, database, event, "first");
      }
    }
    // A whole batch of the history is tried again.
    const fresh = new FakeDatabase();
    const again = new Projector(new RowCache(), () => {
      throw new Error("The chain was asked.");
    });
    const empty = fresh.save();
    for (let n = 0; n < 2; n++) {
      fresh.restore(empty);
      for (const event of log.events.slice(1)) await applyEvent(again, fresh, event, "first");
    }
    expectSameRows(fresh, await rowsOf(log.events.slice(1)));
  });

  it("makes no request for rows that cannot exist, and few requests for rare rows", async () => {
    const log = new EventLog();
    for (let n = 0; n < 30; n++) {
      log.after(60).transfer(wallet(n), wallet(n + 1), 5_000_000);
      log.after(60).hire(wallet(n % 7), wallet(40 + n));
    }
    log.after(60).tick();
    const database = new FakeDatabase();
    const projector = new Projector();
    for (const event of log.events) await applyEvent(projector, database, event, "");
    const [first, ...others] = database.asked;
    expect(first).to.equal("state state");
    for (const name of others) expect(database.rows.has(name), name).to.equal(true);
    const seldom = ["hire", "receipt"];
    expect(
      others.map((name) => name.split(" ")[0]).filter((table) => !seldom.includes(table ?? "")),
    ).to.deep.equal([]);
  });

  it("reads from a database that was not empty at the start", async () => {
    const log = new EventLog();
    log.after(60).hire(wallet(1), wallet(2));
    log.after(60).hire(wallet(1), wallet(2));
    log.after(60).tick();
    const database = new FakeDatabase();
    for (const event of log.events) await applyEvent(new Projector(), database, event, "");
    expect(database.asked).to.include(`agent ${wallet(1)}`);
    expectSameRows(database, await rowsOf(log.events));
  });
});
