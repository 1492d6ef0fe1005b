import { mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { bytesEqual } from "tallystick-protocol/hex";
import { formatTilePath, TILE_WIDTH, type Tile } from "tallystick-protocol/merkle/tilePath";
import { type Checkpoint, parseCheckpoint } from "tallystick-protocol/note/checkpoint";
import { parseSignedNote } from "tallystick-protocol/note/signedNote";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import { syncFolder } from "../ledger/syncFolder.ts";
import type { StoredCheckpoint } from "../proofs/checkpoints.ts";
import { readTile } from "../proofs/tiles.ts";

/** Name of the file that says how far the log goes. It is written last. */
export const CHECKPOINT_FILE = "checkpoint";

export type StaticLogParameters = {
  /** Where the log lies; made if needed. Any static host serves it as it is. */
  folder: string;
  /** What the ledger calls itself in its checkpoints. */
  origin: string;
  ledger: DiskLedger;
};

/**
 * A ledger as files in C2SP's form (tlog-tiles): tiles of hashes, bundles of entries, and a checkpoint. Full tiles never
 * change. Whatever moment a crash cuts it off at, the checkpoint in the folder is one that all its tiles are there for.
 */
export class StaticLog {
  readonly #parameters: StaticLogParameters;
  /** Entries that the checkpoint in the folder has; undefined until it was read. */
  #size: number | undefined;

  constructor(parameters: StaticLogParameters) {
    this.#parameters = parameters;
  }

  /**
   * Brings the folder up to a checkpoint. One at a time; an older one than the folder has is passed over, and one of the same
   * size replaces it, since it may carry more signatures.
   *
   * @throws TallystickError `static_log_contradicts` when the folder holds another log, or more of this one: then nothing is
   * changed. Errors of the disk come through as they are.
   */
  async write({ size, note }: StoredCheckpoint): Promise<void> {
    const { folder } = this.#parameters;
    const from = await this.check();
    if (size < from) return;
    const changed = new Set<string>();
    await makeParents(folder, folder, changed);
    for (const tile of newTiles(from, size)) await this.#writeTile(tile, changed);
    for (const parent of changed) await syncFolder(parent);
    await putFile(path.join(folder, CHECKPOINT_FILE), Buffer.from(note));
    await syncFolder(folder);
    this.#size = size;
    // Nobody with the new checkpoint asks for these; who has an older one finds the full tile in their place.
    for (const tile of fullTiles(from, size))
      await rm(`${this.#fileOf(tile)}.p`, { recursive: true, force: true });
  }

  /**
   * Holds what the folder has against the ledger.
   *
   * @returns how many entries it has
   * @throws TallystickError `static_log_contradicts`
   */
  async check(): Promise<number> {
    this.#size ??= await this.#readSize();
    return this.#size;
  }

  async #readSize(): Promise<number> {
    const { folder, ledger, origin } = this.#parameters;
    const file = path.join(folder, CHECKPOINT_FILE);
    const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (text === undefined) return 0;
    const there = readCheckpoint(text);
    const isOurs =
      there !== undefined &&
      there.origin === origin &&
      there.size <= ledger.size &&
      bytesEqual(there.root, ledger.tree.root(there.size));
    if (isOurs) return there.size;
    throw new TallystickError({
      code: "static_log_contradicts",
      message: `${file} is not of this ledger as it is here.`,
      hint: "If it has more entries, or others, this copy of the ledger is not the newest: compare them. Else name another folder.",
    });
  }

  async #writeTile(tile: Tile, changed: Set<string>): Promise<void> {
    const file = this.#fileOf(tile);
    const bytes = await readTile(this.#parameters.ledger, tile);
    if (bytes === undefined) throw new Error(`the ledger has no ${file}`);
    await makeParents(path.dirname(file), this.#parameters.folder, changed);
    await putFile(file, bytes);
  }

  #fileOf(tile: Tile): string {
    return path.join(this.#parameters.folder, "tile", formatTilePath(tile));
  }
}

/** The tiles and bundles that a log of `to` entries has and one of `from` had not, partial ones too. */
function* newTiles(from: number, to: number): Generator<Tile> {
  for (const { level, before, now } of levels(from, to)) {
    if (now === before) continue;
    for (let index = Math.floor(before / TILE_WIDTH); index * TILE_WIDTH < now; index++)
      yield { level, index, width: Math.min(TILE_WIDTH, now - index * TILE_WIDTH) };
  }
}

/** The tiles that are full in a log of `to` entries and were not in one of `from`. */
function* fullTiles(from: number, to: number): Generator<Tile> {
  for (const { level, before, now } of levels(from, to)) {
    for (let index = Math.floor(before / TILE_WIDTH); (index + 1) * TILE_WIDTH <= now; index++)
      yield { level, index, width: TILE_WIDTH };
  }
}

/** How many entries or hashes each level has, in a log of either size. */
function* levels(from: number, to: number): Generator<{ level: Tile["level"]; before: number; now: number }> {
  yield { level: "entries", before: from, now: to };
  let [before, now] = [from, to];
  for (let level = 0; now > 0; level++) {
    yield { level, before, now };
    before = Math.floor(before / TILE_WIDTH);
    now = Math.floor(now / TILE_WIDTH);
  }
}

/** Makes a folder and those above it, down to the log's own, and names those in which a name is new. */
async function makeParents(folder: string, root: string, changed: Set<string>): Promise<void> {
  const made = await mkdir(folder, { recursive: true });
  changed.add(folder);
  if (made === undefined) return;
  for (let at = folder; at.length >= root.length && at !== path.dirname(at); at = path.dirname(at))
    changed.add(path.dirname(at));
}

/** A file is whole, or not there. */
async function putFile(file: string, bytes: Uint8Array): Promise<void> {
  const unfinished = `${file}.unfinished`;
  const handle = await open(unfinished, "w", 0o644);
  try {
    await handle.writeFile(bytes);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
}

function readCheckpoint(text: string): Checkpoint | undefined {
  try {
    return parseCheckpoint(parseSignedNote(text).text);
  } catch (error) {
    if (error instanceof TallystickError) return undefined;
    throw error;
  }
}

/** Whether a folder holds a log in this form. */
export async function isStaticLog(folder: string): Promise<boolean> {
  return stat(path.join(folder, CHECKPOINT_FILE)).then(
    (found) => found.isFile(),
    () => false,
  );
}
