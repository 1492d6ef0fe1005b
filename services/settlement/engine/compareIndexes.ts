import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as pause } from "node:timers/promises";
import { TallystickError } from "tallystick-protocol/errors";
import { type LedgerEntry, parseEntryLine } from "tallystick-protocol/ledger/entry";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import type { FileLine } from "../ledger/ledgerLines.ts";
import { INDEX_FILE, removeIndex, TABLES } from "./indexDatabase.ts";
import { LedgerIndex } from "./ledgerIndex.ts";

/** The folder, inside the ledger's, where an index is rebuilt for the comparison. */
export const CHECK_FOLDER = "index.checking";

/** Rows that are compared before other work has its turn. */
const ROWS_AT_ONCE = 500;

type Row = { [column: string]: unknown };

/** An index that is rebuilt from a ledger's lines, to be compared with the one in use. */
export type IndexComparison = {
  /** Takes verified lines; `first` is the position of the first one. */
  add: (lines: readonly FileLine[], first: number) => void;
  /**
   * Takes the rest, and compares every row.
   *
   * @throws TallystickError `index_differs`. The file in use is deleted then, so the next start makes a new one
   */
  finish: () => Promise<void>;
  close: () => void;
};

/** Begins to rebuild an index while the other one is used and written. */
export function compareIndexes(index: LedgerIndex, ledger: DiskLedger, signal: AbortSignal): IndexComparison {
  const folder = path.join(ledger.folder, CHECK_FOLDER);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const made = new LedgerIndex(folder, { ledger: index.ledgerName, salt: index.salt });
  const store = made.openStore();
  const tree = new MerkleTree(sha256ByNode, { size: 0, level: (level) => store.hashes(level) });
  const ends = store.ends();
  const take = (bytes: Uint8Array, entry: LedgerEntry, at: number, end: number) => {
    tree.append(leafHash(bytes, sha256ByNode));
    ends.push(end);
    made.add(entry, at, end);
  };
  const add = (lines: readonly FileLine[], first: number) => {
    for (const [n, { bytes, text, end }] of lines.entries())
      take(bytes, parseEntryLine(text), first + n, end);
  };

  async function finish(): Promise<void> {
    const live = openToRead(ledger.folder);
    let anew: DatabaseSync | undefined;
    try {
      // From the first read on it sees what was committed then.
      live.exec("BEGIN");
      const { size } = live.prepare("SELECT size FROM meta").get() as { size: number };
      let at = made.size;
      for await (const lines of ledger.linesOf(at, size)) {
        signal.throwIfAborted();
        add(lines, at);
        at += lines.length;
        await pause(0);
      }
      made.commit();
      anew = openToRead(folder);
      for (const [table, order] of Object.entries(TABLES)) {
        const query = `SELECT * FROM ${table} ORDER BY ${order}`;
        if (await isSame(rowsOf(live, query), rowsOf(anew, query), signal)) continue;
        removeIndex(ledger.folder);
        throw new TallystickError({
          code: "index_differs",
          message: `The ledger's index is not what follows from the ledger (table ${table}).`,
          hint: "It was taken away. Start the service again: it makes a new one. Look at the disk's health.",
        });
      }
    } finally {
      anew?.close();
      live.close();
    }
  }

  const close = () => {
    made.close();
    rmSync(folder, { recursive: true, force: true });
  };
  return { add, finish, close };
}

function openToRead(folder: string): DatabaseSync {
  return new DatabaseSync(path.join(folder, INDEX_FILE), { readOnly: true });
}

function rowsOf(database: DatabaseSync, query: string): Iterator<Row> {
  const statement = database.prepare(query);
  statement.setReadBigInts(true);
  return statement.iterate() as Iterator<Row>;
}

async function isSame(rows: Iterator<Row>, others: Iterator<Row>, signal: AbortSignal): Promise<boolean> {
  for (let count = 1; ; count++) {
    const [row, other] = [rows.next(), others.next()];
    if (row.done || other.done) return row.done === other.done;
    const columns = Object.keys(row.value);
    if (!columns.every((column) => isEqual(row.value[column], other.value[column]))) return false;
    if (count % ROWS_AT_ONCE === 0) {
      await pause(0);
      signal.throwIfAborted();
    }
  }
}

function isEqual(a: unknown, b: unknown): boolean {
  if (a instanceof Uint8Array && b instanceof Uint8Array) return Buffer.compare(a, b) === 0;
  return a === b;
}
