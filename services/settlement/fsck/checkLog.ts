import { readdir } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { bytesEqual, toHex } from "tallystick-protocol/hex";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { parseTilePath, TILE_WIDTH, type Tile } from "tallystick-protocol/merkle/tilePath";
import type { ReadLine } from "../ledger/verifyLines.ts";
import { EVIDENCE_FOLDER } from "../mirror/evidence.ts";
import {
  bundleLines,
  CHECKPOINT_FILE,
  isAddress,
  type LogSource,
  nameOfTile,
  openLogSource,
  readCheckpointOf,
  readLogTile,
  UnreadableLogError,
} from "../staticLog/logSource.ts";
import { hashesOf, TreeEdge } from "../staticLog/treeEdge.ts";
import { checkpointObjection, type Trust } from "../staticLog/verifyStaticLog.ts";
import { FaultList, type Findings } from "./fault.ts";
import { TolerantChain } from "./tolerantChain.ts";

const REPAIR =
  "If a mirror keeps this log, start it with --recheck: it fetches what is damaged. If it is the folder of STATIC_LOG_DIR, stop the service, remove the file named checkpoint, and start it again: it writes all files again.";
const NEWER = "Take the log from another place, and compare the two.";

export type CheckLogParameters = Trust & {
  /** A folder or an address. */
  source: string;
  onProgress?: ((checked: number, size: number) => void) | undefined;
  signal?: AbortSignal | undefined;
  /** As in `fetchBytes`. */
  pauseMs?: number | undefined;
};

/**
 * Checks a whole static log: the checkpoint, every bundle, every entry, every tile of hashes, and the root.
 * It continues after a fault, reports each fault with its place, and writes nothing.
 *
 * @throws UnreadableLogError when there is no checkpoint, or the log cannot be read; TallystickError
 * `log_invalid` when the checkpoint is malformed
 */
export async function checkLog(parameters: CheckLogParameters): Promise<Findings> {
  const { source, onProgress, signal } = parameters;
  const log = openLogSource(parameters);
  const { checkpoint, note } = await readCheckpointOf(log).catch((cause) => {
    if (cause instanceof UnreadableLogError) throw cause;
    throw new TallystickError({
      code: "log_invalid",
      message: `${source} does not verify: it has no valid checkpoint.`,
      hint: NEWER,
      cause,
    });
  });
  const { origin, size, root } = checkpoint;
  const faults = new FaultList();
  const objection = checkpointObjection(note, origin, parameters);
  if (objection !== undefined) faults.add({ file: CHECKPOINT_FILE, what: objection, todo: NEWER });

  const checking = new LogCheck(log, size, faults);
  for (let index = 0; index * TILE_WIDTH < size; index++) {
    signal?.throwIfAborted();
    await checking.bundle(index);
    onProgress?.(Math.min(size, (index + 1) * TILE_WIDTH), size);
  }
  await checking.end(root);
  return {
    kind: "log",
    entries: size,
    root: toHex(root),
    origin,
    trusted: parameters.keys !== undefined || parameters.policy !== undefined,
    faults: faults.faults,
    faultCount: faults.count,
    notes: isAddress(source) ? [] : await notesOf(source, size),
  };
}

/** An entry for which the bundle and the tile differ. */
type Difference = { line: number; bundle: string; tile: string };

/**
 * If a bundle and a tile differ, builds the tree twice, once from each. The root shows which of the two is
 * damaged.
 */
class LogCheck {
  readonly #log: LogSource;
  readonly #size: number;
  readonly #faults: FaultList;
  readonly #chain = new TolerantChain();
  #byLines = new TreeEdge();
  /** The tree of the tiles' leaves, once they differ from the bundles. */
  #byTiles: TreeEdge | undefined;
  readonly #differences: Difference[] = [];
  /** Entries that were already reported as faults. */
  readonly #reported = new Set<number>();

  constructor(log: LogSource, size: number, faults: FaultList) {
    this.#log = log;
    this.#size = size;
    this.#faults = faults;
  }

  async bundle(index: number): Promise<void> {
    const start = index * TILE_WIDTH;
    const width = Math.min(TILE_WIDTH, this.#size - start);
    const tile = { level: 0, index, width };
    const leaves = await this.#leavesOf({ level: "entries", index, width }, start);
    const hashes = await this.#hashesOf(tile);
    const full: [Tile, Uint8Array[]][] = [];
    for (let at = 0; at < width; at++) {
      const leaf = leaves[at] ?? hashes?.[at] ?? new Uint8Array(32);
      const hash = hashes?.[at] ?? leaf;
      if (!bytesEqual(leaf, hash)) {
        this.#byTiles ??= this.#byLines.clone();
        if (this.#differences.length < 1_000 && !this.#reported.has(start + at + 1))
          this.#differences.push({
            line: start + at + 1,
            bundle: nameOfTile({ level: "entries", index, width }),
            tile: nameOfTile(tile),
          });
      }
      this.#byLines.append(leaf, (made, bytes) => full.push([made, [bytes]]));
      let next = 0;
      this.#byTiles?.append(hash, (_made, bytes) => full[next++]?.[1].push(bytes));
    }
    for (const [made, expected] of full) if (made.level !== 0) await this.#compareTile(made, expected);
  }

  /** Compares the rest: unfinished tiles above the lowest level, and the root. */
  async end(root: Uint8Array): Promise<void> {
    const others = new Map(
      [...(this.#byTiles?.partialTiles() ?? [])].map(([tile, bytes]) => [tile.level, bytes]),
    );
    for (const [tile, bytes] of this.#byLines.partialTiles()) {
      const other = others.get(tile.level);
      if (tile.level !== 0) await this.#compareTile(tile, other === undefined ? [bytes] : [bytes, other]);
    }
    const linesHold = bytesEqual(this.#byLines.root(), root);
    const tilesHold = bytesEqual((this.#byTiles ?? this.#byLines).root(), root);
    for (const { line, bundle, tile } of this.#differences) {
      const what = linesHold
        ? "its hash in the tile is another one"
        : tilesHold
          ? "it is another entry than the one that is signed"
          : "bundle and tile differ, and neither gives the checkpoint's root";
      this.#faults.add({ file: linesHold ? tile : bundle, line, what, todo: REPAIR });
    }
    if (linesHold || tilesHold) return;
    const what = `its ${this.#size} entries do not have the checkpoint's root`;
    this.#faults.add({ file: CHECKPOINT_FILE, what, todo: NEWER });
  }

  /** The leaves of a bundle's entries, as far as the bundle can be read. */
  async #leavesOf(tile: Tile, start: number): Promise<Uint8Array[]> {
    const file = nameOfTile(tile);
    const leaves: Uint8Array[] = [];
    const bytes = await this.#read(tile);
    let end = 0;
    if (bytes !== undefined) {
      const lines = bundleLines(bytes, start, tile.width);
      for (;;) {
        const line = this.#nextLine(lines, file);
        if (line === undefined) break;
        end += 2 + line.bytes.length;
        const { leaf, reason } = this.#chain.next(line);
        leaves.push(leaf);
        if (reason === undefined) continue;
        this.#reported.add(start + leaves.length);
        this.#faults.add({ file, line: start + leaves.length, what: reason, todo: REPAIR });
      }
      const isExact = leaves.length < tile.width || end === bytes.length || tile.width < TILE_WIDTH;
      if (!isExact) this.#faults.add({ file, what: "it has more bytes than entries", todo: REPAIR });
    }
    this.#chain.skip(tile.width - leaves.length);
    return leaves;
  }

  #nextLine(lines: Generator<ReadLine>, file: string): ReadLine | undefined {
    try {
      return lines.next().value as ReadLine | undefined;
    } catch (error) {
      if (!(error instanceof LedgerLineError)) throw error;
      this.#faults.add({ file, line: error.line, what: error.reason, todo: REPAIR });
      return undefined;
    }
  }

  async #hashesOf(tile: Tile): Promise<Uint8Array[] | undefined> {
    const bytes = await this.#read(tile);
    return bytes && hashesOf(bytes, tile.width);
  }

  async #compareTile(tile: Tile, expected: Uint8Array[]): Promise<void> {
    const bytes = await this.#read(tile);
    if (bytes === undefined) return;
    const there = bytes.subarray(0, 32 * tile.width);
    if (expected.some((one) => bytesEqual(one, there))) return;
    this.#faults.add({
      file: nameOfTile(tile),
      what: "it does not have the hashes of its entries",
      todo: REPAIR,
    });
  }

  /**
   * A file of the log. If it is missing or damaged, this reports a fault and returns undefined. If the source
   * does not answer, the check ends.
   */
  async #read(tile: Tile): Promise<Buffer | undefined> {
    try {
      return await readLogTile(this.#log, tile);
    } catch (error) {
      if (!(error instanceof UnreadableLogError)) throw error;
      if (!error.isMissing && isAddress(this.#log.where)) throw error;
      const what = error.isMissing ? "it is missing" : (error.cause as Error).message;
      this.#faults.add({ file: nameOfTile(tile), what, todo: REPAIR });
      return undefined;
    }
  }
}

/** Other files in a log's folder. */
async function notesOf(folder: string, size: number): Promise<string[]> {
  const found = await readdir(path.join(folder, "tile"), { recursive: true, withFileTypes: true }).catch(
    () => [],
  );
  let left = 0;
  for (const file of found.filter((one) => one.isFile())) {
    const name = path.relative(path.join(folder, "tile"), path.join(file.parentPath, file.name));
    const tile = parseTilePath(name.replaceAll(path.sep, "/"));
    const count =
      tile?.level === "entries" ? size : Math.floor(size / TILE_WIDTH ** Number(tile?.level ?? 0));
    if (tile === undefined || tile.index * TILE_WIDTH + tile.width > count) left++;
  }
  const pieces = await readdir(path.join(folder, EVIDENCE_FOLDER)).catch(() => []);
  return [
    ...(left > 0
      ? [
          `${left} files of entries after the checkpoint are there. An interrupted write left them, and they do no harm.`,
        ]
      : []),
    ...(pieces.length > 0
      ? [
          `A source gave other answers before. The evidence is in ${EVIDENCE_FOLDER}/: ${pieces.slice(0, 10).join(", ")}.`,
        ]
      : []),
  ];
}
