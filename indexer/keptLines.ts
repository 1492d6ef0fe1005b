import { promisify } from "node:util";
import { constants, gunzip, gzip } from "node:zlib";
import type pg from "pg";

const zip = promisify(gzip);
const unzip = promisify(gunzip);

/** The number of entries in one row. */
export const LINES_PER_ROW = 256;

/** The number of rows that are read, compressed and written together, if they are not too large. */
const ROWS_TOGETHER = 64;

/**
 * The most bytes of lines that are written together. So a statement stays far below the largest size of Postgres, and ends in
 * time, also for the longest lines. A single row may have this many.
 */
const BYTES_TOGETHER = 16 << 20;

/**
 * The most bytes of a row. A service of this project writes no line of more than 65,535 bytes. The writer of a followed ledger
 * may use another one.
 */
const MAX_ROW_BYTES = LINES_PER_ROW * 65_536;

const TABLE = "ops.ledger_lines";

/** What a reader knows of a row that it read. */
export type KeptRow = { lines: number; bytes: number };

/** The SQL that makes the table. */
export const CREATE_KEPT_LINES = `
  CREATE TABLE IF NOT EXISTS ${TABLE} (
    ledger text NOT NULL,
    part bigint NOT NULL,
    lines bytea NOT NULL,
    PRIMARY KEY (ledger, part)
  )`;

/**
 * The verified canonical lines of the followed ledgers, gzipped, 256 in a row. This node can give them to an operator
 * that lost its ledger. They are not derived, so Ponder's rollback does not remove them. Instead a new segment
 * replaces the old one, and the ledger's row says up to where the lines are valid. Several indexers on one database
 * share them, so the second one need not read them again.
 */
export class KeptLines {
  readonly #pool: pg.Pool;
  readonly #ready: () => Promise<unknown>;

  /** @param ready resolves when the table is there */
  constructor(pool: pg.Pool, ready: () => Promise<unknown>) {
    this.#pool = pool;
    this.#ready = ready;
  }

  /**
   * Stores the lines of the entries from `from` on, without their newlines. If the same lines are already
   * stored, they stay, together with all later ones. If they differ, the stored lines belong to another
   * history and are deleted.
   *
   * @returns false if lines are not stored: because the lines just before are missing, or because a row would be too large
   */
  async keep(ledger: string, from: number, lines: readonly string[]): Promise<boolean> {
    if (lines.length === 0) return true;
    await this.#ready();
    const client = await this.#pool.connect();
    let failure: Error | undefined;
    try {
      await client.query("BEGIN");
      await client.query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`${TABLE} ${ledger}`]);
      const isWhole = await keepRows(client, ledger, from, lines);
      await client.query("COMMIT");
      return isWhole;
    } catch (error) {
      failure = error as Error;
      throw error;
    } finally {
      // A failed connection is closed, which rolls back its transaction.
      client.release(failure);
    }
  }
}

/**
 * The lines of [from, to), up to the first gap and up to about `maxBytes`. If the first row exists, it is
 * always included.
 *
 * @param rowOf reads the stored bytes of a row; undefined if it is not there
 * @param onRow called after each row. Reading a row takes the same work, however few of its lines are wanted
 */
export async function readKeptLines(
  rowOf: (part: number) => Promise<Buffer | undefined>,
  { from, to, maxBytes }: { from: number; to: number; maxBytes: number },
  onRow: (row: KeptRow) => void = () => {},
): Promise<string[]> {
  const lines: string[] = [];
  let bytes = 0;
  for (let part = partOf(from); to > from && part <= partOf(to - 1); part++) {
    const stored = await rowOf(part);
    const row = stored === undefined ? [] : await unpack(stored);
    onRow({ lines: row.length, bytes: bytesOf(row) });
    const first = part * LINES_PER_ROW;
    const wanted = row.slice(Math.max(0, from - first), to - first);
    lines.push(...wanted);
    bytes += bytesOf(wanted);
    if (row.length < LINES_PER_ROW || bytes >= maxBytes) break;
  }
  return lines;
}

/** The bytes of lines with their newlines. */
function bytesOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length + 1, 0);
}

/** The first lines of a row, as many as it may have. */
function fittingOf(lines: string[]): string[] {
  let bytes = 0;
  const end = lines.findIndex((line) => {
    bytes += line.length + 1;
    return bytes > MAX_ROW_BYTES;
  });
  return end < 0 ? lines : lines.slice(0, end);
}

function partOf(index: number): number {
  return Math.floor(index / LINES_PER_ROW);
}

async function keepRows(
  client: pg.PoolClient,
  ledger: string,
  from: number,
  lines: readonly string[],
): Promise<boolean> {
  let isWhole = true;
  for (const group of groupsOf(from, lines)) {
    const parts = group.map(({ part }) => part);
    const kept = await readRows(client, ledger, parts);
    const written: { part: number; lines: string[] }[] = [];
    let divergesAt: number | undefined;
    for (const { part, fresh } of group) {
      const first = part * LINES_PER_ROW;
      const before = divergesAt === undefined ? (kept.get(part) ?? []) : [];
      const skipped = Math.max(0, from - first);
      if (before.length < skipped) {
        isWhole = false;
        continue;
      }
      const isSame = fresh.every((line, n) => n + skipped >= before.length || before[n + skipped] === line);
      if (isSame && before.length >= skipped + fresh.length) continue;
      const row = fittingOf([...before.slice(0, skipped), ...fresh]);
      if (row.length < skipped + fresh.length) isWhole = false;
      written.push({ part, lines: row });
      if (!isSame) divergesAt ??= part;
    }
    if (divergesAt !== undefined)
      await client.query(`DELETE FROM ${TABLE} WHERE ledger = $1 AND part > $2`, [ledger, divergesAt]);
    await writeRows(client, ledger, written);
  }
  return isWhole;
}

type FreshRow = { part: number; fresh: readonly string[] };

/** The lines by rows, and the rows in groups that are written together. */
function* groupsOf(from: number, lines: readonly string[]): Generator<FreshRow[]> {
  let group: FreshRow[] = [];
  let bytes = 0;
  for (let at = 0; at < lines.length; ) {
    const part = partOf(from + at);
    const fresh = lines.slice(at, (part + 1) * LINES_PER_ROW - from);
    const size = bytesOf(fresh);
    if (group.length === ROWS_TOGETHER || (group.length > 0 && bytes + size > BYTES_TOGETHER)) {
      yield group;
      [group, bytes] = [[], 0];
    }
    group.push({ part, fresh });
    bytes += size;
    at += fresh.length;
  }
  yield group;
}

async function readRows(
  client: pg.PoolClient,
  ledger: string,
  parts: number[],
): Promise<Map<number, string[]>> {
  const { rows } = await client.query(
    `SELECT part, lines FROM ${TABLE} WHERE ledger = $1 AND part = ANY($2::bigint[])`,
    [ledger, parts],
  );
  return new Map(
    await Promise.all(rows.map(async (row) => [Number(row.part), await unpack(row.lines)] as const)),
  );
}

async function writeRows(
  client: pg.PoolClient,
  ledger: string,
  rows: { part: number; lines: string[] }[],
): Promise<void> {
  if (rows.length === 0) return;
  const packed = await Promise.all(rows.map(({ lines }) => pack(lines)));
  await client.query(
    `INSERT INTO ${TABLE} (ledger, part, lines)
     SELECT $1, part, lines FROM unnest($2::bigint[], $3::bytea[]) AS given(part, lines)
     ON CONFLICT (ledger, part) DO UPDATE SET lines = excluded.lines`,
    [ledger, rows.map(({ part }) => part), packed],
  );
}

function pack(lines: readonly string[]): Promise<Buffer> {
  // The fast level, because a backfill waits for the compression. The result is a fifth of the ledger's size.
  return zip(Buffer.from(lines.map((line) => `${line}\n`).join(""), "latin1"), {
    level: constants.Z_BEST_SPEED,
  });
}

async function unpack(bytes: Buffer): Promise<string[]> {
  const text = (await unzip(bytes, { maxOutputLength: MAX_ROW_BYTES })).toString("latin1");
  return text === "" ? [] : text.slice(0, -1).split("\n");
}
