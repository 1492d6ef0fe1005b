import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { DatabaseSync } from "node:sqlite";
import type { DiskImage } from "./diskImage.ts";
import type { DiskWrite } from "./watchWrites.ts";

type File = { content: Buffer };

const SYNCS = ["sync", "datasync", "fsync", "fdatasync"];

/** If `PRAGMA synchronous` is at least this value, a commit returns only when it is on the disk. */
const FULL = 2;

/**
 * The state that a disk certainly has after a loss of power, by the strictest reading of POSIX. A file has the content
 * of its last sync. A folder has the names of its last sync, and each name means the file that it meant then.
 * Everything later is lost.
 */
export class LastingDisk {
  readonly #root: string;
  /** The file of every path at this moment; undefined if the path is a folder. */
  readonly #names = new Map<string, File | undefined>();
  /** The file of every path at the last sync of the folder that contains it; undefined if the path is a folder. */
  readonly #lasting = new Map<string, File | undefined>();

  /** @param start the lasting contents of the disk at the beginning */
  constructor(root: string, start: DiskImage) {
    this.#root = root;
    for (const [at, content] of start) {
      const kept = content && { content };
      this.#names.set(at, kept);
      this.#lasting.set(at, kept);
    }
  }

  /** Records a write that was made. */
  done(write: DiskWrite): void {
    const { name, paths, database, flushes } = write;
    const [at = "", to = ""] = paths.map((one) => path.relative(this.#root, one));
    if (database !== undefined) this.#committed(at, database);
    else if (SYNCS.includes(name)) this.#synced(at);
    else this.#named(name, at, to);
    if (flushes) this.#synced(at);
  }

  #named(name: string, at: string, to: string): void {
    switch (name) {
      case "rename":
        this.#names.set(to, this.#names.get(at));
        this.#names.delete(at);
        break;
      case "rm":
      case "rmdir":
      case "unlink":
        this.#names.delete(at);
        break;
      case "mkdir":
        for (let folder = at; folder !== "" && folder !== "."; folder = path.dirname(folder))
          this.#names.set(folder, undefined);
        break;
      default:
        if (!this.#names.has(at)) this.#names.set(at, { content: Buffer.alloc(0) });
    }
  }

  /** The contents of the disk after the loss of power. */
  image(): DiskImage {
    const image = new Map<string, Buffer | undefined>();
    for (const at of [...this.#lasting.keys()].sort()) {
      const folder = path.dirname(at);
      if (folder === "." || image.has(folder)) image.set(at, this.#lasting.get(at)?.content);
    }
    return image;
  }

  #synced(at: string): void {
    const file = this.#names.get(at);
    if (file !== undefined) {
      file.content = readFileSync(path.join(this.#root, at));
      return;
    }
    const inIt = (one: string): boolean => path.dirname(one) === (at === "" ? "." : at);
    for (const one of this.#lasting.keys()) if (inIt(one) && !this.#names.has(one)) this.#lasting.delete(one);
    for (const [one, what] of this.#names) if (inIt(one)) this.#lasting.set(one, what);
  }

  /**
   * Stores the files of a database after a write. If `synchronous` is at least {@link FULL}, SQLite syncs its files and
   * the names of new files with every commit. If an open database has a lower value, its commits count as not synced.
   */
  #committed(at: string, database: DatabaseSync): void {
    if (database.isOpen && isRelaxed(database)) return;
    for (const one of [at, `${at}-wal`]) {
      const file = path.join(this.#root, one);
      if (statSync(file, { throwIfNoEntry: false }) === undefined) {
        this.#names.delete(one);
        this.#lasting.delete(one);
        continue;
      }
      const kept = this.#names.get(one) ?? { content: Buffer.alloc(0) };
      kept.content = readFileSync(file);
      this.#names.set(one, kept);
      this.#lasting.set(one, kept);
    }
  }
}

function isRelaxed(database: DatabaseSync): boolean {
  const { synchronous } = database.prepare("PRAGMA synchronous").get() as { synchronous: number };
  return synchronous < FULL;
}
