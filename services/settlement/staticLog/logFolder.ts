import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import type { Tile } from "tallystick-protocol/merkle/tilePath";
import { putFile } from "../ledger/putFile.ts";
import { syncFolder } from "../ledger/syncFolder.ts";
import { CHECKPOINT_FILE, nameOfTile } from "./logSource.ts";
import { fullTiles } from "./logTiles.ts";

/**
 * Writes a log's files into a folder that any static host serves. After a crash at any moment, all tiles of
 * the folder's checkpoint are there.
 */
export class LogFolder {
  readonly path: string;
  /** Folders with a new name that is not on disk yet. */
  readonly #changed = new Set<string>();

  constructor(folder: string) {
    this.path = folder;
  }

  /** Writes a tile or a bundle completely, or not at all. */
  async putTile(tile: Tile, bytes: Uint8Array): Promise<void> {
    const file = path.join(this.path, nameOfTile(tile));
    await this.#makeParents(path.dirname(file));
    await putFile(file, bytes);
  }

  /** Replaces the checkpoint of `from` with the one of `size`, once all its tiles are on disk. */
  async publish(note: string, { from, size }: { from: number; size: number }): Promise<void> {
    await this.#makeParents(this.path);
    for (const parent of this.#changed) await syncFolder(parent);
    this.#changed.clear();
    await putFile(path.join(this.path, CHECKPOINT_FILE), Buffer.from(note));
    await syncFolder(this.path);
    // A reader with the new checkpoint does not need these partial tiles. A reader with an older one uses the
    // full tile instead.
    for (const tile of fullTiles(from, size))
      await rm(`${path.join(this.path, nameOfTile(tile))}.p`, { recursive: true, force: true });
  }

  /** Makes a folder and its missing parents, and notes every folder in which a name is new. */
  async #makeParents(folder: string): Promise<void> {
    const made = await mkdir(folder, { recursive: true });
    this.#changed.add(folder);
    if (made === undefined) return;
    const root = this.path;
    for (let at = folder; at.length >= root.length && at !== path.dirname(at); at = path.dirname(at))
      this.#changed.add(path.dirname(at));
  }
}
