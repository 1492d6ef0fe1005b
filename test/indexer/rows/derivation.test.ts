import { expect } from "chai";
import fc from "fast-check";
import type { DeriveEvent } from "../../../indexer/src/derive/events.ts";
import { type Row, type TableName, tables } from "../../../indexer/src/derive/tables.ts";
import { positionKey } from "../../../indexer/src/positionKey.ts";
import { Derivation, type RowDatabase } from "../../../indexer/src/rows/derivation.ts";
import { KnownRows } from "../../../indexer/src/rows/knownRows.ts";
import { EventLog, wallet } from "../derive/eventLog.ts";
import { generatedLog } from "../derive/oracle/generatedLog.ts";

const options = { trustSignatures: true };

/** A database in memory that can be put back to an earlier state, and counts what it is asked. */
class FakeDatabase implements RowDatabase {
  rows = new Map<string, Row<TableName>>();
  log = new Set<string>();
  readonly asked: string[] = [];
  /** After so many more writes, one fails. */
  writesLeft = Number.POSITIVE_INFINITY;

  async find<T extends TableName>(table: T, id: string): Promise<Row<T> | null> {
    this.asked.push(`${table} ${id}`);
    return (this.rows.get(`${table} ${id}`) as Row<T> | undefined) ?? null;
  }

  async insert<T extends TableName>(table: T, row: Row<T>): Promise<void> {
    if (this.rows.has(`${table} ${row.id}`)) throw new Error(`${table} ${row.id} is there already.`);
    this.#write(table, row);
  }

  async update<T extends TableName>(table: T, row: Row<T>): Promise<void> {
    if (!this.rows.has(`${table} ${row.id}`)) throw new Error(`${table} ${row.id} is not there.`);
    this.#write(table, row);
  }

  async begin(): Promise<void> {}

  async hasEvent(position: string): Promise<boolean> {
    return this.log.has(position);
  }

  save() {
    return { rows: new Map(this.rows), log: new Set(this.log) };
  }

  restore({ rows, log }: ReturnType<FakeDatabase["save"]>): void {
    this.rows = new Map(rows);
    this.log = new Set(log);
  }

  #write(table: TableName, row: Row<TableName>): void {
    if (this.writesLeft-- <= 0) throw new Error("The connection is lost.");
    this.rows.set(`${table} ${row.id}`, row);
  }
}

async function applyEvent(
  derivation: Derivation,
  database: FakeDatabase,
  event: DeriveEvent,
  fork: string,
): Promise<void> {
  const position = positionKey(event);
  database.log.add(position);
  await derivation.apply(database, event, { position, block: `${fork} ${event.block}` }, options);
}

/** All rows that a log gives, by table and id. */
async function rowsOf(log: DeriveEvent[]): Promise<Map<string, Row<TableName>>> {
  const database = new FakeDatabase();
  for (const event of log) await applyEvent(new Derivation(), database, event, "");
  return database.rows;
}

function expectSameRows(database: FakeDatabase, expected: Map<string, Row<TableName>>): void {
  expect(new Map([...database.rows].sort())).to.deep.equal(new Map([...expected].sort()));
}

describe("the derivation over a database", () => {
  it("writes the rows that it derives in memory", async () => {
    await fc.assert(
      fc.asyncProperty(generatedLog, async (log) => {
        const database = new FakeDatabase();
        const derivation = new Derivation();
        for (const event of log.events) await applyEvent(derivation, database, event, "");
        const { store } = await log.derive();
        for (const table of Object.keys(tables) as TableName[]) {
          for (const [id, row] of store.rows(table)) {
            expect(database.rows.get(`${table} ${id}`), `${table} ${id}`).to.deep.equal(row);
          }
        }
      }),
      { numRuns: 25 },
    );
  }).timeout(60_000);

  it("derives the same when its database goes back, to another fork or for another try", async () => {
    const setBack = fc.record({
      /** Where it happens, and how far back it goes, in shares of the log. */
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
        const derivation = new Derivation(new KnownRows({ rows: keep, payments: keep }));
        const upTo = Math.floor(at * events.length);
        const from = Math.floor(upTo * (1 - by));
        const saved: ReturnType<FakeDatabase["save"]>[] = [];
        for (const event of events.slice(0, upTo)) {
          saved.push(database.save());
          await applyEvent(derivation, database, event, "first");
        }
        if (writes !== null && upTo < events.length) {
          saved.push(database.save());
          database.writesLeft = writes;
          await applyEvent(derivation, database, events[upTo] as DeriveEvent, "first").catch(() => {});
          database.writesLeft = Number.POSITIVE_INFINITY;
        }
        const back = saved[from];
        if (back === undefined) return;
        database.restore(back);
        const rest = events.slice(from + lost);
        // No fork has the delivery of an escrow without its deposit.
        const expected = await rowsOf([...events.slice(0, from), ...rest]).catch(() => null);
        fc.pre(expected !== null);
        for (const event of rest) await applyEvent(derivation, database, event, "second");
        expectSameRows(database, expected ?? new Map());
      }),
      { numRuns: 100 },
    );
  }).timeout(120_000);

  it("asks the database for nothing that is not there, and of what is only for what is seldom read", async () => {
    const log = new EventLog();
    for (let n = 0; n < 30; n++) {
      log.after(60).transfer(wallet(n), wallet(n + 1), 5_000_000);
      log.after(60).hire(wallet(n % 7), wallet(40 + n));
    }
    log.after(60).tick();
    const database = new FakeDatabase();
    const derivation = new Derivation();
    for (const event of log.events) await applyEvent(derivation, database, event, "");
    const [first, ...others] = database.asked;
    expect(first).to.equal("state state");
    for (const name of others) expect(database.rows.has(name), name).to.equal(true);
    const seldom = ["hire", "receipt"];
    expect(
      others.map((name) => name.split(" ")[0]).filter((table) => !seldom.includes(table ?? "")),
    ).to.deep.equal([]);
  });

  it("asks a database that was not empty when it began", async () => {
    const log = new EventLog();
    log.after(60).hire(wallet(1), wallet(2));
    log.after(60).hire(wallet(1), wallet(2));
    log.after(60).tick();
    const database = new FakeDatabase();
    for (const event of log.events) await applyEvent(new Derivation(), database, event, "");
    expect(database.asked).to.include(`agent ${wallet(1)}`);
    expectSameRows(database, await rowsOf(log.events));
  });
});
