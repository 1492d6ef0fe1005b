import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { formatTilePath, TILE_WIDTH, type Tile } from "tallystick-protocol/merkle/tilePath";
import { type Checkpoint, parseCheckpoint } from "tallystick-protocol/note/checkpoint";
import { parseSignedNote, type SignedNote } from "tallystick-protocol/note/signedNote";
import { MAX_ENTRY_BYTES } from "../ledger/diskLedger.ts";
import { fetchBytes, NotThereError } from "../ledger/fetchBytes.ts";
import { lineOf, type ReadLine } from "../ledger/verifyLines.ts";

/** Name of the file that says how far a log goes. It is written last. */
export const CHECKPOINT_FILE = "checkpoint";

/** Largest checkpoint, bundle of entries and tile of hashes, in bytes. */
export const MAX_CHECKPOINT_BYTES = 1_000_000;
const MAX_BUNDLE_BYTES = TILE_WIDTH * (2 + MAX_ENTRY_BYTES);
const MAX_TILE_BYTES = TILE_WIDTH * 32;

/** Where settlement has its log, below its own address. */
const BELOW_A_SERVICE = "/tlog";

/** A part of a log cannot be read. `isMissing`: it is not there. */
export class UnreadableLogError extends TallystickError {
  readonly isMissing: boolean;

  constructor(where: string, name: string, isMissing: boolean, cause: Error) {
    super({
      code: "unreadable_log",
      message: `${name} of ${where} cannot be read: ${cause.message}`,
      hint: "Give the folder of a static log, or its address, or that of a settlement service.",
      cause,
    });
    this.isMissing = isMissing;
  }
}

/** The source of a log in C2SP's form (tlog-tiles). Its data are not trusted. */
export type LogSource = {
  /** The folder or address of the log, for messages. */
  where: string;
  /**
   * @param name below the log's folder
   * @param most largest part that is read, in bytes
   * @throws UnreadableLogError
   */
  read: (name: string, most: number) => Promise<Buffer>;
};

export type OpenLogSourceParameters = {
  /** A folder, or an address: of the log itself, or of a settlement service. */
  source: string;
  signal?: AbortSignal | undefined;
  /** As in `fetchBytes`. */
  pauseMs?: number | undefined;
  timeoutMs?: number | undefined;
};

/** Opens a log for reading, from a folder or by HTTP. */
export function openLogSource(parameters: OpenLogSourceParameters): LogSource {
  const { source } = parameters;
  return isAddress(source) ? addressSource(parameters) : folderSource(source, parameters.signal);
}

/** Whether a log is named by its address. */
export function isAddress(source: string): boolean {
  return /^https?:\/\//.test(source);
}

/** A log in a folder, as a source that can be read. */
export function folderSource(folder: string, signal?: AbortSignal): LogSource {
  return {
    where: folder,
    read: async (name, most) => {
      signal?.throwIfAborted();
      try {
        const file = path.join(folder, name);
        const found = await stat(file);
        if (!found.isFile()) throw new Error("it is no file");
        if (found.size > most) throw new Error(`it has ${found.size} bytes, and may have at most ${most}`);
        return await readFile(file);
      } catch (cause) {
        const { code } = cause as NodeJS.ErrnoException;
        throw new UnreadableLogError(folder, name, code === "ENOENT" || code === "ENOTDIR", cause as Error);
      }
    },
  };
}

function addressSource({ source, ...patience }: OpenLogSourceParameters): LogSource {
  const where = source.replace(/\/+$/, "");
  let base = where;
  const get = (name: string, most: number) =>
    fetchBytes({ url: `${base}/${name}`, most, ...patience, read: (bytes) => bytes });
  return {
    where,
    read: async (name, most) => {
      try {
        return await get(name, most).catch((error) => {
          const isService = name === CHECKPOINT_FILE && base === where && error instanceof NotThereError;
          if (!isService) throw error;
          base = `${where}${BELOW_A_SERVICE}`;
          return get(name, most).catch(() => {
            base = where;
            throw error;
          });
        });
      } catch (cause) {
        patience.signal?.throwIfAborted();
        throw new UnreadableLogError(where, name, cause instanceof NotThereError, cause as Error);
      }
    },
  };
}

/** A checkpoint, and the note that says it. */
export type ReadCheckpoint = { checkpoint: Checkpoint; note: SignedNote; text: string };

/**
 * Reads the log's checkpoint, without checking any signature.
 *
 * @throws UnreadableLogError; InvalidInputError naming `checkpoint` when it is none
 */
export async function readCheckpointOf(log: LogSource): Promise<ReadCheckpoint> {
  return checkpointOf((await log.read(CHECKPOINT_FILE, MAX_CHECKPOINT_BYTES)).toString("utf8"));
}

/** @throws InvalidInputError naming `checkpoint` */
export function checkpointOf(text: string): ReadCheckpoint {
  const note = parseSignedNote(text, CHECKPOINT_FILE);
  return { text, note, checkpoint: parseCheckpoint(note.text, CHECKPOINT_FILE) };
}

/**
 * Reads a tile or a bundle. If the partial one is gone because the log has grown, it reads the full one.
 *
 * @throws UnreadableLogError
 */
export async function readLogTile(log: LogSource, tile: Tile): Promise<Buffer> {
  const most = tile.level === "entries" ? MAX_BUNDLE_BYTES : MAX_TILE_BYTES;
  const part = (width: number) => log.read(nameOfTile({ ...tile, width }), most);
  let bytes: Buffer;
  try {
    bytes = await part(tile.width);
  } catch (error) {
    if (tile.width === TILE_WIDTH || !(error instanceof UnreadableLogError && error.isMissing)) throw error;
    bytes = await part(TILE_WIDTH).catch(() => {
      throw error;
    });
  }
  if (tile.level === "entries" || bytes.length >= 32 * tile.width) return bytes;
  throw new UnreadableLogError(
    log.where,
    nameOfTile(tile),
    false,
    new Error("it is cut off before its last hash"),
  );
}

/**
 * Reads a tile with the requested width from a log that now has `size` entries.
 *
 * @returns undefined when the log is shorter
 * @throws UnreadableLogError; LedgerLineError when a bundle is cut off
 */
export async function readTileAt(
  log: LogSource,
  size: number,
  { level, index, width }: Tile,
): Promise<Buffer | undefined> {
  const count = level === "entries" ? size : Math.floor(size / TILE_WIDTH ** level);
  const there = Math.min(TILE_WIDTH, count - index * TILE_WIDTH);
  if (there < width) return undefined;
  const bytes = await readLogTile(log, { level, index, width: there });
  if (level !== "entries") return bytes.subarray(0, 32 * width);
  let end = 0;
  for (const line of bundleLines(bytes, index * TILE_WIDTH, width)) end += 2 + line.bytes.length;
  return bytes.subarray(0, end);
}

/** The name of a tile's file below the log's folder. */
export function nameOfTile(tile: Tile): string {
  return `tile/${formatTilePath(tile)}`;
}

/**
 * The first `count` entries of a bundle.
 *
 * @param from position of its first entry, for errors
 * @throws LedgerLineError when it ends before them
 */
export function* bundleLines(bundle: Buffer, from: number, count: number): Generator<ReadLine> {
  for (let at = 0, number = 0; number < count; number++) {
    const length = at + 2 <= bundle.length ? bundle.readUInt16BE(at) : Number.POSITIVE_INFINITY;
    if (at + 2 + length > bundle.length)
      throw new LedgerLineError(from + number + 1, "its bundle is cut off before it ends");
    yield lineOf(bundle.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
}
