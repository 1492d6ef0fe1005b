import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { TallystickError } from "tallystick-protocol/errors";
import { LedgerChain } from "tallystick-protocol/ledger/verifyLedger";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { INDEX_FILE, INDEXES, schemaOf, TABLES } from "../engine/indexDatabase.ts";
import { LedgerIndex } from "../engine/ledgerIndex.ts";
import { LEDGER_FILE } from "../ledger/diskLedger.ts";
import { ledgerLines, SMALL_PIECE } from "../ledger/ledgerLines.ts";
import type { StorePosition } from "../ledger/ledgerStore.ts";

/**
 * The folder, inside the ledger's, for the second index, which is made from the ledger's lines for the
 * comparison.
 */
export const CHECK_FOLDER = "index.checking";

/**
 * The number of rows that are compared in one read transaction on the index in use. During such a transaction the
 * write-ahead log of the index cannot shrink.
 */
const ROWS_AT_ONCE = 4_000;

/** Memory for pages of both indexes while they are compared, in KiB. */
const CACHE_KIB = 16_384;

/** Most characters of a row's key in a message. */
const MOST_OF_KEY = 80;

export type CompareIndexesParameters = {
  /** The ledger's folder. */
  folder: string;
  ledger: LedgerName;
  /** The salt of the index in use, as the service has it in memory. */
  salt: string;
  /** Called between small pieces of work. It may wait. */
  pace: () => Promise<void>;
  /** Called with the number of entries that were read so far. */
  onProgress?: (entries: number) => void;
};

/** The size of the comparison: the entries of the new index, and its rows. */
export type ComparedIndexes = { entries: number; rows: number };

/** How rows are found: by the primary key of a table, or through an index. */
type Way = { table: string; key: string[]; columns: string[]; only: string; through: string };

/**
 * Makes a new index from the ledger's lines, and compares every row of the index in use with it. Meanwhile
 * the service reads and writes the index in use. The lines are verified too. Memory does not grow with the
 * ledger.
 *
 * Each row of the new index is looked up in the index in use, in the same way as the service looks rows up.
 * Some thousand rows are compared at a time, while both indexes have the same entries. At the end both
 * indexes must have the same number of rows.
 *
 * @throws TallystickError `index_differs`; LedgerLineError for a line that was changed
 */
export async function compareIndexes(parameters: CompareIndexesParameters): Promise<ComparedIndexes> {
  const { folder, ledger, salt } = parameters;
  const checkFolder = path.join(folder, CHECK_FOLDER);
  rmSync(checkFolder, { recursive: true, force: true });
  mkdirSync(checkFolder);
  const made = new LedgerIndex(checkFolder, { ledger, salt, isScratch: true });
  let reader: DatabaseSync | undefined;
  try {
    const rebuilt = new RebuiltIndex(made, path.join(folder, LEDGER_FILE), parameters);
    reader = new DatabaseSync(path.join(folder, INDEX_FILE), { readOnly: true });
    await rebuilt.takeUntil(positionOf(reader, parameters));
    reader.exec(`PRAGMA trusted_schema = OFF; PRAGMA cache_size = -${CACHE_KIB}`);
    reader.prepare("ATTACH DATABASE ? AS made").run(path.join(checkFolder, INDEX_FILE));
    return await new Comparison(reader, rebuilt, parameters).run();
  } finally {
    reader?.close();
    made.close();
    rmSync(checkFolder, { recursive: true, force: true });
  }
}

/** The error when the index in use does not follow from the ledger. */
export function indexDiffers(where: string): TallystickError {
  return new TallystickError({
    code: "index_differs",
    message: `The ledger's index does not follow from the ledger (${where}).`,
    hint:
      "The index was removed. Stop the service, find out who changed it, and check the disk's health. Then start again: it makes" +
      " a new one.",
  });
}

/** An index that is made from the lines of a ledger. */
class RebuiltIndex {
  readonly #index: LedgerIndex;
  readonly #file: string;
  readonly #parameters: CompareIndexesParameters;
  readonly #chain = new LedgerChain({ sha256: sha256ByNode });
  readonly #tree: MerkleTree;
  readonly #ends;
  #size = 0;
  #end = 0;

  constructor(index: LedgerIndex, file: string, parameters: CompareIndexesParameters) {
    this.#index = index;
    this.#file = file;
    this.#parameters = parameters;
    const store = index.openStore();
    this.#tree = new MerkleTree(sha256ByNode, { size: 0, level: (level) => store.hashes(level) });
    this.#ends = store.ends();
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Takes the lines up to a position.
   *
   * @throws LedgerLineError; TallystickError `index_differs` when the ledger's lines do not agree with that position
   */
  async takeUntil({ size, end, head }: StorePosition): Promise<void> {
    if (size < this.#size || end < this.#end) throw indexDiffers("its position went back");
    for await (const lines of ledgerLines(this.#file, end, this.#end, SMALL_PIECE)) {
      for (const line of lines) {
        if (!line.terminated) throw indexDiffers(`its position is inside line ${this.#size + 1}`);
        const { entry, leafHash } = this.#chain.nextEntry(line);
        this.#tree.append(leafHash);
        this.#ends.push(line.end);
        this.#end = line.end;
        this.#index.add(entry, this.#size++, line.end);
      }
      this.#parameters.onProgress?.(this.#size);
      await this.#parameters.pace();
    }
    this.#index.commit();
    if (this.#size !== size || this.#end !== end || (size > 0 && this.#chain.head !== head))
      throw indexDiffers(`its position, ${size} entries in ${end} bytes`);
  }
}

/** Compares an index in use with a new one, in many read transactions. */
class Comparison {
  readonly #reader: DatabaseSync;
  readonly #rebuilt: RebuiltIndex;
  readonly #parameters: CompareIndexesParameters;

  constructor(reader: DatabaseSync, rebuilt: RebuiltIndex, parameters: CompareIndexesParameters) {
    this.#reader = reader;
    this.#rebuilt = rebuilt;
    this.#parameters = parameters;
  }

  async run(): Promise<ComparedIndexes> {
    if (schemaOf(this.#reader) !== schemaOf(this.#reader, "made"))
      throw indexDiffers("it has other tables, indexes or triggers");
    const ways = this.#ways();
    for (const way of ways) {
      let from: SQLInputValue[] | undefined;
      do {
        from = await this.#atOneState(() => this.#compareRows(way, from));
      } while (from !== undefined);
    }
    const rows = await this.#atOneState(() => ways.map((way) => this.#compareCounts(way)));
    return { entries: this.#rebuilt.size, rows: rows.reduce((sum, count) => sum + count, 0) };
  }

  /**
   * Runs work while both indexes are at one position. In the transaction, the reader keeps seeing the state at its
   * first read.
   */
  async #atOneState<T>(compare: () => T): Promise<T> {
    this.#reader.exec("BEGIN");
    try {
      await this.#rebuilt.takeUntil(positionOf(this.#reader, this.#parameters));
      return compare();
    } finally {
      this.#reader.exec("COMMIT");
      await this.#parameters.pace();
    }
  }

  #ways(): Way[] {
    const columnsOf = this.#reader.prepare("SELECT name FROM pragma_table_info(?)");
    const names = (list: string): string[] => list.split(", ");
    const tables = Object.entries(TABLES).map(([table, key]) => {
      const columns = columnsOf.all(table).map(({ name }) => name as string);
      return { table, key: names(key), columns, only: "TRUE", through: "NOT INDEXED" };
    });
    const indexes = Object.entries(INDEXES).map(([name, { table, columns, ...rest }]) => ({
      table,
      key: names(columns),
      columns: names(columns),
      only: "only" in rest ? rest.only : "TRUE",
      through: `INDEXED BY ${name}`,
    }));
    return [...tables, ...indexes];
  }

  /**
   * Looks up the next rows of the new index in the index in use.
   *
   * @param from the key of the last row that was compared
   * @returns the key of the last row now; undefined when there are no more
   */
  #compareRows(
    { table, key, columns, only, through }: Way,
    from?: SQLInputValue[],
  ): SQLInputValue[] | undefined {
    const keys = key.map((name) => `b.${name}`).join(", ");
    const compared = (sign: string) => `(${keys}) ${sign} (${key.map(() => "?").join(", ")})`;
    const after = from ? `AND ${compared(">")}` : "";
    const rows = `FROM made.${table} AS b ${through} WHERE ${only.replace(/^at /, "b.at ")} ${after}`;
    const last = this.#row(
      `SELECT ${keys} ${rows} ORDER BY ${keys} LIMIT 1 OFFSET ${ROWS_AT_ONCE - 1}`,
      from ?? [],
    );
    const to = last && Object.values(last);
    const isSame = columns
      .map((name) => `a.${name} ${key.includes(name) ? "=" : "IS"} b.${name}`)
      .join(" AND ");
    const found = this.#row(
      `SELECT ${keys} ${rows} ${to ? `AND ${compared("<=")}` : ""} AND NOT EXISTS (
         SELECT 1 FROM main.${table} AS a ${through} WHERE ${isSame} AND ${only.replace(/^at /, "a.at ")}
       ) LIMIT 1`,
      [...(from ?? []), ...(to ?? [])],
    );
    if (found) throw indexDiffers(`table ${table}, row ${textOf(Object.values(found))}`);
    return to;
  }

  #compareCounts({ table, only, through }: Way): number {
    const count = (database: string): bigint =>
      this.#row(`SELECT count(*) AS n FROM ${database}.${table} ${through} WHERE ${only}`, [])?.n as bigint;
    const [inUse, anew] = [count("main"), count("made")];
    if (inUse === anew) return Number(anew);
    throw indexDiffers(`table ${table} has ${inUse} rows in place of ${anew}`);
  }

  #row(query: string, values: SQLInputValue[]): { [column: string]: SQLInputValue } | undefined {
    const statement = this.#reader.prepare(query);
    statement.setReadBigInts(true);
    return statement.get(...values) as { [column: string]: SQLInputValue } | undefined;
  }
}

/** The position of the index in use, if it belongs to this ledger. */
function positionOf(reader: DatabaseSync, { ledger, salt }: CompareIndexesParameters): StorePosition {
  const rows = reader.prepare("SELECT * FROM meta").all() as (StorePosition & {
    ledger: string;
    salt: string;
  })[];
  const [meta] = rows;
  if (rows.length !== 1 || meta?.ledger !== ledger || meta.salt !== salt) throw indexDiffers("table meta");
  return meta;
}

function textOf(key: SQLInputValue[]): string {
  const text = key.map((value) =>
    ArrayBuffer.isView(value) ? Buffer.from(value.buffer).toString("hex") : value,
  );
  return text.join(" ").slice(0, MOST_OF_KEY);
}
