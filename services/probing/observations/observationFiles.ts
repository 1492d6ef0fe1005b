import { closeSync, fstatSync, openSync, readdirSync, readSync, rmSync, writeSync } from "node:fs";
import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { hourOf } from "../schedule/slots.ts";
import { type Observation, readObservation, writeObservation } from "./observation.ts";

/** Limits of what is kept. The limit that is reached first applies. */
export type Keeping = { days: number; bytes: number };

/**
 * The number of the newest hours that are not compressed: the running hour, and hours whose reports may still be
 * sent.
 */
const PLAIN_HOURS = 4;

/**
 * Stores a prober's observations line by line, in one append-only file per hour. When `write` returns, the
 * operating system has the line, so a killed process loses none. Older hours are compressed, and the oldest
 * are deleted.
 */
export class ObservationFiles {
  readonly #folder: string;
  readonly #open = new Map<number, number>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  #pathOf(hour: number): string {
    return path.join(this.#folder, `${hour}.log`);
  }

  /** @throws the file system's error; then no request may be sent, because there would be no trace of it */
  write(observation: Observation): void {
    const hour = hourOf(observation.slot);
    let file = this.#open.get(hour);
    if (file === undefined) {
      file = openSync(this.#pathOf(hour), "a+");
      this.#open.set(hour, file);
      // A line that a crash cut off is ended here. It is not a valid line.
      const { size } = fstatSync(file);
      const last = Buffer.alloc(1);
      if (size > 0 && readSync(file, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a) writeSync(file, "\n");
    }
    const line = Buffer.from(writeObservation(observation));
    const written = writeSync(file, line);
    if (written === line.length) return;
    // The next write opens the file again, and ends this line first.
    this.#open.delete(hour);
    closeSync(file);
    throw new Error(`only ${written} of ${line.length} bytes were written`);
  }

  /** Reads the observations of an hour, also from a compressed file; none if there is no file. */
  async *read(hour: number): AsyncGenerator<Observation> {
    const lines = await this.#linesOf(hour);
    for await (const line of lines) {
      const observation = readObservation(line);
      if (observation !== undefined && hourOf(observation.slot) === hour) yield observation;
    }
  }

  async #linesOf(hour: number): Promise<AsyncIterable<string> | string[]> {
    const file = await open(this.#pathOf(hour)).catch(() => undefined);
    if (file !== undefined) return file.readLines();
    const packed = await readFile(`${this.#pathOf(hour)}.gz`).catch(() => undefined);
    return packed === undefined ? [] : (await promisify(gunzip)(packed)).toString("utf8").split("\n");
  }

  /** Compresses files that are older than a few hours, and deletes files above the limits. */
  async tidy(hour: number, { days, bytes }: Keeping): Promise<void> {
    for (const [open, file] of this.#open) {
      if (open >= hour - 1) continue;
      closeSync(file);
      this.#open.delete(open);
    }
    const names = (await readdir(this.#folder)).filter(isOfAnHour);
    const hours = names.map((name) => ({ name, hour: Number.parseInt(name, 10) }));
    hours.sort((a, b) => b.hour - a.hour);
    let total = 0;
    for (const { name, hour: of } of hours) {
      const file = path.join(this.#folder, name);
      if (of < hour - days * 24) {
        await rm(file, { force: true });
        continue;
      }
      const kept = name.endsWith(".log") && of <= hour - PLAIN_HOURS ? await pack(file) : file;
      total += (await stat(kept)).size;
      if (total > bytes && of < hour - PLAIN_HOURS) await rm(kept, { force: true });
    }
  }

  /**
   * Deletes the files of the hours after this one, which were written while the clock was wrong. A later process
   * would read them as observations of the real hours.
   */
  deleteAfter(hour: number): void {
    for (const [open, file] of this.#open) {
      if (open <= hour) continue;
      closeSync(file);
      this.#open.delete(open);
    }
    for (const name of readdirSync(this.#folder).filter(isOfAnHour))
      if (Number.parseInt(name, 10) > hour) rmSync(path.join(this.#folder, name), { force: true });
  }

  /** Bytes on the disk. */
  async size(): Promise<number> {
    const sizes = (await readdir(this.#folder)).map((name) =>
      stat(path.join(this.#folder, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    );
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  }

  close(): void {
    for (const file of this.#open.values()) closeSync(file);
    this.#open.clear();
  }
}

function isOfAnHour(name: string): boolean {
  return /^\d+\.log(\.gz)?$/.test(name);
}

async function pack(file: string): Promise<string> {
  const packed = `${file}.gz`;
  const draft = `${packed}.tmp`;
  const target = await open(draft, "w");
  try {
    await target.writeFile(await promisify(gzip)(await readFile(file)));
    await target.sync();
  } finally {
    await target.close();
  }
  await rename(draft, packed);
  await rm(file);
  return packed;
}
