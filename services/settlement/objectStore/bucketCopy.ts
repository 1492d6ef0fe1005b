import { TallystickError } from "tallystick-protocol/errors";
import { bytesEqual } from "tallystick-protocol/hex";
import type { Tile } from "tallystick-protocol/merkle/tilePath";
import type { Log } from "tallystick-runtime/stderrLog";
import { hasMoreSignatures } from "../staticLog/hasMoreSignatures.ts";
import {
  CHECKPOINT_FILE,
  checkpointOf,
  type LogSource,
  MAX_CHECKPOINT_BYTES,
  nameOfTile,
  type ReadCheckpoint,
  readCheckpointOf,
  readTileAt,
} from "../staticLog/logSource.ts";
import { newTiles } from "../staticLog/logTiles.ts";
import { TreeEdge } from "../staticLog/treeEdge.ts";
import type { Bucket, PutCondition } from "./bucket.ts";

/** The number of objects that are written at the same time. */
const AT_ONCE = 8;

const TILE_FORM = {
  contentType: "application/octet-stream",
  cacheControl: "public, max-age=31536000, immutable",
};
const CHECKPOINT_FORM = { contentType: "text/plain; charset=utf-8", cacheControl: "no-cache" };

export type BucketCopyParameters = {
  /** A verified log. */
  from: LogSource;
  bucket: Bucket;
  log: Log;
};

/** The state of a copy in an object store. `size`: the entries of its checkpoint, if known. */
export type BucketCopyState = { where: string; size: number | undefined; code?: string; reason?: string };

/** The checkpoint in a bucket, and the tag that a replacement must name. */
type Shown = { checkpoint: ReadCheckpoint | undefined; condition: PutCondition };

/**
 * Copies a verified log into an object store. Each bundle and tile is written once and never replaces another
 * object. Then the new checkpoint replaces the one that was read. So objects of another log never change,
 * even if others write there too.
 */
export class BucketCopy {
  readonly #parameters: BucketCopyParameters;
  #size: number | undefined;
  #problem: TallystickError | undefined;

  constructor(parameters: BucketCopyParameters) {
    this.#parameters = parameters;
  }

  get state(): BucketCopyState {
    const { where } = this.#parameters.bucket;
    const problem = this.#problem && { code: this.#problem.code, reason: this.#problem.message };
    return { where, size: this.#size, ...problem };
  }

  /** Copies what is new, and returns whether that worked. Errors are in {@link state}; a new error is also logged. */
  async round(signal?: AbortSignal): Promise<boolean> {
    const { log, bucket } = this.#parameters;
    try {
      await this.#copy(signal);
      this.#problem = undefined;
      return true;
    } catch (error) {
      if (signal?.aborted) return false;
      if (!(error instanceof TallystickError)) throw error;
      if (this.#problem?.message !== error.message)
        log("The copy in the object store cannot be continued.", {
          where: bucket.where,
          code: error.code,
          error,
        });
      this.#problem = error;
      return false;
    }
  }

  async #copy(signal: AbortSignal | undefined): Promise<void> {
    const { from, bucket } = this.#parameters;
    const ours = await readCheckpointOf(from).catch(() => undefined);
    if (ours === undefined) return;
    const { size } = ours.checkpoint;
    const shown = await this.#shown(signal);
    const there = shown.checkpoint;
    this.#size = there?.checkpoint.size ?? 0;
    if (there !== undefined) await this.#requireSameLog(ours, there);
    if (this.#size > size || there?.text === ours.text) return;
    if (this.#size === size && there !== undefined && !hasMoreSignatures(ours.note, there.note)) return;
    const tiles = newTiles(this.#size, size);
    for (let batch = take(tiles, AT_ONCE); batch.length > 0; batch = take(tiles, AT_ONCE))
      await Promise.all(batch.map((tile) => this.#putTile(tile, size, signal)));
    const { condition } = shown;
    const text = Buffer.from(ours.text);
    const isWritten = await bucket.put(CHECKPOINT_FILE, text, { ...CHECKPOINT_FORM, condition, signal });
    // If the write was refused, the answer to an earlier attempt may have been lost. So the checkpoint is read again.
    // If somebody else wrote another one, or removed it, the next round sees that.
    const after = isWritten ? ours : (await this.#shown(signal)).checkpoint;
    if (after === undefined && there === undefined) throw hidden(bucket.where, CHECKPOINT_FILE);
    if (after?.text === ours.text) this.#size = size;
  }

  async #shown(signal: AbortSignal | undefined): Promise<Shown> {
    const { bucket } = this.#parameters;
    const found = await bucket.get(CHECKPOINT_FILE, MAX_CHECKPOINT_BYTES, signal);
    if (found === undefined) return { checkpoint: undefined, condition: { absent: true } };
    if (found.bytes === undefined)
      throw contradicts(bucket.where, "the object with the name checkpoint is too long for a checkpoint");
    try {
      const checkpoint = checkpointOf(found.bytes.toString("utf8"));
      return { checkpoint, condition: { etag: found.etag } };
    } catch (cause) {
      throw contradicts(bucket.where, "the object with the name checkpoint is not a checkpoint", cause);
    }
  }

  /** The shorter of the two logs must be the beginning of the longer one. */
  async #requireSameLog(ours: ReadCheckpoint, theirs: ReadCheckpoint): Promise<void> {
    const { from, bucket } = this.#parameters;
    const [mine, other] = [ours.checkpoint, theirs.checkpoint];
    if (mine.origin !== other.origin) throw contradicts(bucket.where, `it has the log ${other.origin}`);
    const isBehind = other.size <= mine.size;
    const [shorter, longer] = isBehind ? [other, mine] : [mine, other];
    const log = isBehind ? from : this.#asSource();
    const edge = await TreeEdge.read(shorter.size, (tile) => readTileAt(log, longer.size, tile));
    if (!bytesEqual(edge.root(), shorter.root))
      throw contradicts(bucket.where, `its ${other.size} entries are not those of this log`);
  }

  async #putTile(tile: Tile, size: number, signal: AbortSignal | undefined): Promise<void> {
    const { from, bucket } = this.#parameters;
    const bytes = (await readTileAt(from, size, tile)) as Buffer;
    const name = nameOfTile(tile);
    if (await bucket.put(name, bytes, { ...TILE_FORM, condition: { absent: true }, signal })) return;
    const there = await bucket.get(name, bytes.length, signal);
    if (there === undefined) throw hidden(bucket.where, name);
    if (there.bytes === undefined || !there.bytes.equals(bytes))
      throw contradicts(bucket.where, `it has another ${name}`);
  }

  /** The bucket as a log that can be read. */
  #asSource(): LogSource {
    const { bucket } = this.#parameters;
    return {
      where: bucket.where,
      read: async (name, most) => {
        const found = await bucket.get(name, most);
        if (found === undefined) throw contradicts(bucket.where, `${name} is missing`);
        if (found.bytes === undefined)
          throw contradicts(bucket.where, `${name} is longer than ${most} bytes`);
        return found.bytes;
      },
    };
  }
}

function take<T>(from: Generator<T>, count: number): T[] {
  const taken: T[] = [];
  while (taken.length < count) {
    const { value, done } = from.next();
    if (done) break;
    taken.push(value);
  }
  return taken;
}

/** An object that cannot be written, because it exists, and cannot be read either. */
function hidden(where: string, name: string): TallystickError {
  return new TallystickError({
    code: "bucket_unavailable",
    message: `${where} refuses to write ${name} because it exists, and does not give it to this key.`,
    hint: "Let the key read this object. If somebody has just deleted it, wait: the next round tries again.",
  });
}

function contradicts(where: string, reason: string, cause?: unknown): TallystickError {
  return new TallystickError({
    code: "bucket_contradicts",
    message: `${where} holds something else than this log: ${reason}.`,
    hint: "Nothing was overwritten. Give each log its own prefix in MIRROR_S3_URL, or compare the two with tallystick ledger fsck.",
    cause,
  });
}
