import type { DatabaseSync } from "node:sqlite";
import type { Address } from "tallystick-protocol/address";
import type { JsonFile } from "tallystick-protocol/erc8004/jsonFile";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { inTransaction } from "../sqlite/inTransaction.ts";
import { openDatabase } from "../sqlite/openDatabase.ts";

/**
 * Name of the file beside the ledger. It does not follow from entries, so copies of the ledger do not have
 * it.
 */
const FILES = "erc8004.sqlite";

/** The kind of a file. It decides who may ask this service to keep it. */
export type FileKind = "feedback" | "registration" | "response";

/**
 * The most files of one subject. The subject of a feedback is its receipt, of a registration its agent, of a
 * response its responder.
 */
const MAX_PER_SUBJECT: { readonly [kind in FileKind]: number } = {
  feedback: 4,
  registration: 8,
  response: 64,
};

/**
 * The most bytes of all files of a kind. Each kind has its own limit, so filling one kind takes no room from
 * the others. Feedback needs a receipt and a rating in the ledger, so it has the largest.
 */
const ROOM: { readonly [kind in FileKind]: number } = {
  feedback: 512 * 2 ** 20,
  registration: 128 * 2 ** 20,
  response: 128 * 2 ** 20,
};

/**
 * Files of ERC-8004 by their hash, on disk. Files never change. A file is only deleted when an agent
 * registers many times: then its oldest registrations go, because the chain leads to the newest one.
 */
export class FileStore {
  readonly #database: DatabaseSync;
  readonly #room: { readonly [kind in FileKind]: number };

  /** @param folder of the ledger. Without a folder, the files are in memory */
  constructor(folder?: string, room = ROOM) {
    this.#room = room;
    this.#database = openDatabase({
      folder,
      name: FILES,
      // These are in one transaction. Otherwise each statement would wait for the disk by itself.
      tables: `BEGIN;
       CREATE TABLE IF NOT EXISTS file (
         number INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, kind TEXT NOT NULL, subject TEXT NOT NULL, signer TEXT NOT NULL,
         bytes INTEGER NOT NULL, text TEXT NOT NULL
       );
       CREATE INDEX IF NOT EXISTS file_subject ON file (kind, subject, number);
       CREATE TABLE IF NOT EXISTS used (kind TEXT PRIMARY KEY, bytes INTEGER NOT NULL) WITHOUT ROWID;
       COMMIT`,
      loss: "Files of ERC-8004 that nobody else has are gone.",
    });
  }

  /**
   * Keeps a file.
   *
   * @param subject the number of files is limited for each subject
   * @returns false when the file is kept already
   * @throws TallystickError `too_many_files`, `files_full`, `disk_unavailable`; then nothing changed
   */
  keep(file: JsonFile, kind: FileKind, subject: string, signer: Address): boolean {
    const { hash, text } = file;
    if (this.find(hash) !== undefined) return false;
    const bytes = Buffer.byteLength(text);
    return inTransaction(this.#database, () => {
      if (this.#count(kind, subject) >= MAX_PER_SUBJECT[kind]) this.#makeRoom(kind, subject);
      const used = this.#used(kind);
      if (used + bytes > this.#room[kind]) throw full(kind);
      this.#database
        .prepare("INSERT INTO file (hash, kind, subject, signer, bytes, text) VALUES (?, ?, ?, ?, ?, ?)")
        .run(hash, kind, subject, signer, bytes, text);
      this.#setUsed(kind, used + bytes);
      return true;
    });
  }

  /** A file's text by its hash, undefined when it is not kept. */
  find(hash: Hex): string | undefined {
    const row = this.#database.prepare("SELECT text FROM file WHERE hash = ?").get(hash);
    return (row as { text: string } | undefined)?.text;
  }

  close(): void {
    this.#database.close();
  }

  #makeRoom(kind: FileKind, subject: string): void {
    if (kind !== "registration") {
      throw new TallystickError({
        code: "too_many_files",
        message: `${MAX_PER_SUBJECT[kind]} files of the kind ${kind} are kept for ${subject}, and no more.`,
        hint: "Use one of those, or keep the file elsewhere and name its address (--uri).",
      });
    }
    const oldest = this.#database
      .prepare("SELECT number, bytes FROM file WHERE kind = ? AND subject = ? ORDER BY number LIMIT 1")
      .get(kind, subject) as { number: number; bytes: number };
    this.#database.prepare("DELETE FROM file WHERE number = ?").run(oldest.number);
    this.#setUsed(kind, this.#used(kind) - oldest.bytes);
  }

  #count(kind: FileKind, subject: string): number {
    const row = this.#database
      .prepare("SELECT count(*) AS n FROM file WHERE kind = ? AND subject = ?")
      .get(kind, subject);
    return Number((row as { n: number }).n);
  }

  #used(kind: FileKind): number {
    const row = this.#database.prepare("SELECT bytes FROM used WHERE kind = ?").get(kind);
    return (row as { bytes: number } | undefined)?.bytes ?? 0;
  }

  #setUsed(kind: FileKind, bytes: number): void {
    this.#database.prepare("INSERT OR REPLACE INTO used VALUES (?, ?)").run(kind, bytes);
  }
}

function full(kind: FileKind): TallystickError {
  return new TallystickError({
    code: "files_full",
    message: `This node has no room for more files of the kind ${kind}.`,
    hint: "Keep the file elsewhere and name its address (--uri), or use another node.",
  });
}
