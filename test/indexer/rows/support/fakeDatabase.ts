import { expect } from "chai";
import type { DeriveEvent } from "tallystick-derive/events";
import type { Row, TableName } from "tallystick-derive/tables";
import type { LoggedEvent, RowDatabase } from "../../../../indexer/src/rows/projector.ts";

/** A database in memory that can go back to an earlier state, and notes the rows that were asked for. */
export class FakeDatabase implements RowDatabase {
  rows = new Map<string, Row<TableName>>();
  log = new Map<string, string>();
  readonly asked: string[] = [];
  /** After this many more writes, every write fails. */
  writesLeft = Number.POSITIVE_INFINITY;

  async find<T extends TableName>(table: T, id: string): Promise<Row<T> | null> {
    this.asked.push(`${table} ${id}`);
    return (this.rows.get(`${table} ${id}`) as Row<T> | undefined) ?? null;
  }

  async insert<T extends TableName>(table: T, rows: Row<T>[]): Promise<void> {
    for (const row of rows) {
      if (this.rows.has(`${table} ${row.id}`)) throw new Error(`${table} ${row.id} is there already.`);
      this.#write(table, row);
    }
  }

  async update<T extends TableName>(table: T, before: Row<T>, after: Row<T>): Promise<void> {
    expect(this.rows.get(`${table} ${after.id}`), table).to.deep.equal(before);
    this.#write(table, after);
  }

  async begin(): Promise<void> {}

  async isLogged({ position, payment }: LoggedEvent): Promise<boolean> {
    return payment === null ? this.log.has(position) : this.rows.has(`payment ${payment.id}`);
  }

  async logEvents(events: { position: string; event: DeriveEvent }[]): Promise<void> {
    for (const { position, event } of events) {
      if (this.log.has(position)) throw new Error(`The log has ${position} already.`);
      this.log.set(position, JSON.stringify(event));
    }
  }

  save() {
    return { rows: new Map(this.rows), log: new Map(this.log) };
  }

  restore({ rows, log }: ReturnType<FakeDatabase["save"]>): void {
    this.rows = new Map(rows);
    this.log = new Map(log);
  }

  #write(table: TableName, row: Row<TableName>): void {
    if (this.writesLeft-- <= 0) throw new Error("The connection is lost.");
    this.rows.set(`${table} ${row.id}`, row);
  }
}
