import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { DeriveEvent } from "tallystick-derive/events";
import type { Row, TableName } from "tallystick-derive/tables";
import type { LoggedEvent, RowDatabase } from "../../../indexer/src/rows/projector.ts";

/**
 * A node's rows in a file, so that this process keeps only as much in memory as a node does. Counts the look-ups.
 */
export class SqliteRows implements RowDatabase {
  finds = 0;
  readonly #database: DatabaseSync;
  readonly #find: StatementSync;
  readonly #insert: StatementSync;
  readonly #update: StatementSync;
  readonly #log: StatementSync;
  readonly #isLogged: StatementSync;
  readonly #page: StatementSync;

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec(
      `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;
      CREATE TABLE rows (kind TEXT, id TEXT, json TEXT, PRIMARY KEY (kind, id)) WITHOUT ROWID;
      CREATE TABLE log (position TEXT PRIMARY KEY, json TEXT) WITHOUT ROWID; BEGIN`,
    );
    this.#find = this.#database.prepare("SELECT json FROM rows WHERE kind = ? AND id = ?");
    this.#insert = this.#database.prepare("INSERT INTO rows VALUES (?, ?, ?)");
    this.#update = this.#database.prepare("UPDATE rows SET json = ? WHERE kind = ? AND id = ?");
    this.#log = this.#database.prepare("INSERT INTO log VALUES (?, ?)");
    this.#isLogged = this.#database.prepare("SELECT 1 FROM log WHERE position = ?");
    this.#page = this.#database.prepare(
      "SELECT json FROM rows WHERE kind = ? AND id > ? AND id < ? ORDER BY id LIMIT ?",
    );
  }

  async find<T extends TableName>(table: T, id: string): Promise<Row<T> | null> {
    this.finds++;
    const found = this.#find.get(table, id) as { json: string } | undefined;
    return found === undefined ? null : (JSON.parse(found.json, withBigints) as Row<T>);
  }

  async insert<T extends TableName>(table: T, rows: Row<T>[]): Promise<void> {
    for (const row of rows) this.#insert.run(table, row.id, JSON.stringify(row, withoutBigints));
  }

  async update<T extends TableName>(table: T, _: Row<T>, after: Row<T>): Promise<void> {
    this.#update.run(JSON.stringify(after, withoutBigints), table, after.id);
  }

  async logEvents(events: { position: string; event: DeriveEvent }[]): Promise<void> {
    for (const { position, event } of events) this.#log.run(position, JSON.stringify(event));
  }

  async isLogged({ position, payment }: LoggedEvent): Promise<boolean> {
    if (payment !== null) return this.#find.get("payment", payment.id) !== undefined;
    return this.#isLogged.get(position) !== undefined;
  }

  async begin(): Promise<void> {}

  /** The first rows whose key begins with `prefix`, which ends in a slash. */
  page<T extends TableName>(table: T, prefix: string, count: number): Row<T>[] {
    const end = `${prefix.slice(0, -1)}0`;
    return this.#page
      .all(table, prefix, end, count)
      .map(({ json }) => JSON.parse(String(json), withBigints) as Row<T>);
  }

  count(table: TableName): number {
    const row = this.#database.prepare("SELECT count(*) AS n FROM rows WHERE kind = ?").get(table);
    return Number(row?.n);
  }

  close(): void {
    this.#database.exec("COMMIT");
    this.#database.close();
  }
}

const withoutBigints = (_: string, value: unknown) =>
  typeof value === "bigint" ? { big: `${value}` } : value;

function withBigints(_: string, value: unknown): unknown {
  const { big } = Object(value) as { big?: unknown };
  return typeof big === "string" ? BigInt(big) : value;
}
