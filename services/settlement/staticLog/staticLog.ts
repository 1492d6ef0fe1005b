import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { bytesEqual } from "tallystick-protocol/hex";
import type { Tile } from "tallystick-protocol/merkle/tilePath";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import type { StoredCheckpoint } from "../proofs/checkpoints.ts";
import { readTile } from "../proofs/tiles.ts";
import { joinSignatures } from "./joinSignatures.ts";
import { LogFolder } from "./logFolder.ts";
import { CHECKPOINT_FILE, checkpointOf, nameOfTile, type ReadCheckpoint } from "./logSource.ts";
import { newTiles } from "./logTiles.ts";

export type StaticLogParameters = {
  /** The folder of the log; created if needed. Any static host can serve it. */
  folder: string;
  /** The ledger's name in its checkpoints. */
  origin: string;
  ledger: DiskLedger;
};

/**
 * A ledger as files in C2SP's form (tlog-tiles): tiles of hashes, bundles of entries, and a checkpoint. Full
 * tiles never change. After a crash at any moment, all tiles of the folder's checkpoint are there.
 */
export class StaticLog {
  readonly #parameters: StaticLogParameters;
  readonly #folder: LogFolder;
  /** The folder's checkpoint; null without one, undefined until it was read. */
  #shown: ReadCheckpoint | null | undefined;

  constructor(parameters: StaticLogParameters) {
    this.#parameters = parameters;
    this.#folder = new LogFolder(parameters.folder);
  }

  /**
   * Brings the folder up to a checkpoint, one call at a time. A checkpoint that is older than the folder's is
   * ignored. One of the same size adds its signatures to those of the folder's checkpoint.
   *
   * @throws TallystickError `static_log_contradicts` when the folder has another log, or more of this one.
   * Then nothing changes. Errors of the disk are passed on unchanged.
   */
  async write({ size, note: given }: StoredCheckpoint): Promise<void> {
    const from = await this.check();
    if (size < from) return;
    const shown = this.#shown?.checkpoint.size === size ? this.#shown : undefined;
    const note = shown ? joinSignatures(checkpointOf(given).note, shown.note) : given;
    if (note === undefined) return;
    for (const tile of newTiles(from, size)) await this.#writeTile(tile);
    await this.#folder.publish(note, { from, size });
    this.#shown = checkpointOf(note);
  }

  /**
   * Compares the folder with the ledger.
   *
   * @returns how many entries it has
   * @throws TallystickError `static_log_contradicts`
   */
  async check(): Promise<number> {
    if (this.#shown === undefined) this.#shown = await this.#read();
    return this.#shown?.checkpoint.size ?? 0;
  }

  async #read(): Promise<ReadCheckpoint | null> {
    const { folder, ledger, origin } = this.#parameters;
    const file = path.join(folder, CHECKPOINT_FILE);
    const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
      if (error.code === "ENOENT") return undefined;
      throw error;
    });
    if (text === undefined) return null;
    const read = readCheckpoint(text);
    const there = read?.checkpoint;
    const isOurs =
      there !== undefined &&
      there.origin === origin &&
      there.size <= ledger.size &&
      bytesEqual(there.root, ledger.tree.root(there.size));
    if (read !== undefined && isOurs) return read;
    throw new TallystickError({
      code: "static_log_contradicts",
      message: "The checkpoint in STATIC_LOG_DIR does not belong to this copy of the ledger.",
      hint: "If it has more entries, or other ones, this copy of the ledger is not the newest: compare them. Otherwise name another folder.",
    });
  }

  async #writeTile(tile: Tile): Promise<void> {
    const bytes = await readTile(this.#parameters.ledger, tile);
    if (bytes === undefined) throw new Error(`the ledger has no ${nameOfTile(tile)}`);
    await this.#folder.putTile(tile, bytes);
  }
}

function readCheckpoint(text: string): ReadCheckpoint | undefined {
  try {
    return checkpointOf(text);
  } catch (error) {
    if (error instanceof TallystickError) return undefined;
    throw error;
  }
}

/** Whether a folder has a log in this form. */
export async function isStaticLog(folder: string): Promise<boolean> {
  return stat(path.join(folder, CHECKPOINT_FILE)).then(
    (found) => found.isFile(),
    () => false,
  );
}
