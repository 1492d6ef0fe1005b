import { TallystickError } from "tallystick-protocol/errors";
import { ConsensusTable } from "./consensusTable.ts";
import { IndexDatabase, type IndexOptions } from "./indexDatabase.ts";

/** An open index: its database, and the functions that read and write its tables. */
export type IndexTables = ReturnType<typeof openTables>;

/** @param folder the folder of the index. Without a folder, the index is in memory */
export function openTables(folder: string | undefined, options: IndexOptions) {
  const database = new IndexDatabase(folder, options);
  const sql = (text: string) => database.prepare(text);
  return {
    database,
    consensus: new ConsensusTable(database),
    position: sql("SELECT at FROM position WHERE key = ?"),
    setPosition: sql("INSERT INTO position VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET at = excluded.at"),
    addPosition: sql("INSERT INTO position VALUES (?, ?) ON CONFLICT DO NOTHING"),
    earlier: sql("SELECT before FROM earlier WHERE at = ?"),
    setEarlier: sql("INSERT INTO earlier VALUES (?, ?)"),
    note: sql("SELECT value FROM note WHERE name = ?"),
    setNote: sql("INSERT OR REPLACE INTO note VALUES (?, ?)"),
    state: sql("SELECT value FROM state WHERE name = ?"),
    setState: sql("INSERT INTO state VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value"),
    addAction: sql("INSERT INTO action VALUES (?, ?)"),
    // The "+" makes SQLite search by time, and sort only what it finds. Otherwise it reads every action there ever was.
    actions: sql("SELECT at FROM action WHERE time > (SELECT max(time) FROM action) - ? ORDER BY +at"),
    listing: sql("SELECT issued_at AS issued FROM listing WHERE offer = ?"),
    setListing: sql(
      "INSERT INTO listing VALUES (?, ?) ON CONFLICT (offer) DO UPDATE SET issued_at = max(issued_at, excluded.issued_at)",
    ),
    review: sql('SELECT decision, hash, at AS "index" FROM review WHERE proposal = ?'),
    addReview: sql("INSERT INTO review VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"),
    openReleases: sql("SELECT review, proposal FROM release WHERE at IS NULL"),
    release: sql("SELECT at FROM release WHERE review = ?"),
    addRelease: sql("INSERT INTO release (review, proposal) VALUES (?, ?) ON CONFLICT DO NOTHING"),
    finishRelease: sql(
      "INSERT INTO release (review, at) VALUES (?, ?) ON CONFLICT (review) DO UPDATE SET at = excluded.at",
    ),
  };
}

/** The error (503) when the index cannot be used. */
export function indexUnavailable(cause: unknown): TallystickError {
  if (cause instanceof TallystickError) return cause;
  const { errstr, message } = cause as { errstr?: string; message: string };
  return new TallystickError({
    code: "index_unavailable",
    message: `The ledger's index cannot be used: ${errstr ?? message}.`,
    hint:
      "The operator checks the disk (space, permissions, health). The index follows from the ledger: while the service" +
      " is stopped, index.sqlite may be deleted.",
    cause,
  });
}
