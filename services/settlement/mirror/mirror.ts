import { rm } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { bytesEqual, type Hex, toHex } from "tallystick-protocol/hex";
import type { ReleaseLock } from "tallystick-runtime/processes/lockFolder";
import type { Log } from "tallystick-runtime/stderrLog";
import { lockFolder } from "../ledger/lockFolder.ts";
import { hasMoreSignatures } from "../staticLog/hasMoreSignatures.ts";
import { LogFolder } from "../staticLog/logFolder.ts";
import {
  CHECKPOINT_FILE,
  checkpointOf,
  folderSource,
  type LogSource,
  MAX_CHECKPOINT_BYTES,
  openLogSource,
  type ReadCheckpoint,
  readCheckpointOf,
  readTileAt,
  UnreadableLogError,
} from "../staticLog/logSource.ts";
import { TreeEdge } from "../staticLog/treeEdge.ts";
import { checkpointObjection, type Trust } from "../staticLog/verifyStaticLog.ts";
import { keepEvidence } from "./evidence.ts";
import { findFork } from "./findFork.ts";
import { AnchorContradictsError, compareWithAnchor, growLog, SourceContradictsError } from "./growLog.ts";
import { beginning, type Position, readPosition } from "./position.ts";
import { readLines } from "./readLines.ts";

/** Name of the subfolder of a mirror's folder with the files that were fetched for a repair. */
const REPAIR_FOLDER = "repair";

/**
 * The path, from the log's address, at which a settlement service gives the newest checkpoint that its
 * witnesses cosigned.
 */
const WITNESSED_CHECKPOINT = "../v1/ledger/checkpoint?witnessed=true";

export type OpenMirrorParameters = {
  /** The folder of the copy; created if needed. */
  folder: string;
  /** Address of the log or of a settlement service, or a folder. */
  source: string;
  /** Which checkpoints are trusted. */
  trust: Trust;
  /** Reads the ledger from the contract; absent if the contract is not used. */
  askAnchor?: (() => Promise<{ size: number; root: Hex } | undefined>) | undefined;
  /** Unix seconds. */
  now: () => number;
  log: Log;
  /** Whether the whole copy is read again before new entries are added, and damaged files are fetched. */
  recheck?: boolean;
  onProgress?: ((size: number, of: number) => void) | undefined;
  /** As in `fetchBytes`. */
  pauseMs?: number | undefined;
  timeoutMs?: number | undefined;
};

/** The state of a mirror. `refusal`: why the source's new entries are refused. Times in unix seconds. */
export type MirrorState = {
  origin: string | undefined;
  size: number;
  root: Hex;
  /** When the source was last found to agree with the copy. */
  agreedAt: number | undefined;
  /** The number of entries that the source last named. Below `size`, the source has lost entries. */
  sourceSize: number | undefined;
  /** The number of entries that the contract last named. */
  anchoredSize: number | undefined;
  refusal: TallystickError | undefined;
};

/**
 * A verified copy of a log in a folder, in the log's own form (C2SP tlog-tiles), which follows a source. New
 * entries are added only if the signer signed them, every entry continues the one before, and the tree has
 * the signed root and the anchored root. So the copy only grows and never changes.
 */
export class Mirror {
  readonly folder: string;
  /** The copy, for reading. */
  readonly own: LogSource;
  readonly #parameters: OpenMirrorParameters;
  readonly #release: ReleaseLock;
  readonly #writing: LogFolder;
  #checkpoint: ReadCheckpoint | undefined;
  #position: Position;
  #recheckFirst: boolean;
  #comparedAnchor = "";
  #agreedAt: number | undefined;
  #sourceSize: number | undefined;
  #anchoredSize: number | undefined;
  #refusal: TallystickError | undefined;

  private constructor(
    parameters: OpenMirrorParameters,
    release: ReleaseLock,
    known: { checkpoint: ReadCheckpoint | undefined; position: Position },
  ) {
    this.folder = parameters.folder;
    this.own = folderSource(parameters.folder);
    this.#parameters = parameters;
    this.#release = release;
    this.#writing = new LogFolder(parameters.folder);
    this.#checkpoint = known.checkpoint;
    this.#position = known.position;
    this.#recheckFirst = parameters.recheck ?? false;
  }

  /**
   * Locks the folder and continues after the last run.
   *
   * @throws TallystickError `ledger_locked` when another process has the folder; `mirror_of_another`;
   * `mirror_damaged`
   */
  static async open(parameters: OpenMirrorParameters): Promise<Mirror> {
    const release = await lockFolder(parameters.folder);
    try {
      return new Mirror(parameters, release, await readKnown(parameters));
    } catch (error) {
      await release();
      throw error;
    }
  }

  get state(): MirrorState {
    return {
      origin: this.#checkpoint?.checkpoint.origin,
      size: this.#position.size,
      root: toHex(this.#position.edge.root()),
      agreedAt: this.#agreedAt,
      sourceSize: this.#sourceSize,
      anchoredSize: this.#anchoredSize,
      refusal: this.#refusal,
    };
  }

  /** The newest checkpoint of the copy, with its signatures; undefined before the first. */
  get note(): string | undefined {
    return this.#checkpoint?.text;
  }

  /** Hash of the last entry; 64 zeros without any. */
  get head(): string {
    return this.#position.head;
  }

  /**
   * Asks the source once, and adds what is new. Errors are in {@link state}; a new error is also logged.
   *
   * @returns whether the source agrees with the copy
   */
  async look(signal?: AbortSignal): Promise<boolean> {
    const { log, now } = this.#parameters;
    try {
      await this.#look(signal);
      if (this.#refusal) log("The source agrees again.", { size: this.#position.size });
      this.#refusal = undefined;
      this.#agreedAt = now();
      return true;
    } catch (error) {
      if (signal?.aborted) return false;
      const refusal = asRefusal(error, this.folder);
      if (this.#refusal?.message !== refusal.message)
        log("The source is not followed.", { code: refusal.code, error: refusal });
      this.#refusal = refusal;
      return false;
    }
  }

  /** Unlocks the folder. */
  async close(): Promise<void> {
    await this.#release();
  }

  async #look(signal: AbortSignal | undefined): Promise<void> {
    const { source, pauseMs, timeoutMs, log } = this.#parameters;
    const from = openLogSource({ source, signal, pauseMs, timeoutMs });
    const said = await this.#readCheckpoint(from);
    const anchored = await this.#askAnchor();
    const { size } = said.checkpoint;
    if (this.#recheckFirst) await this.#recheck(from, signal);
    if (this.#sourceSize === undefined || this.#sourceSize >= this.#position.size) {
      if (size < this.#position.size)
        log("The source has gone back: it may be an older copy.", { size, kept: this.#position.size });
    }
    this.#sourceSize = size;
    try {
      if (size <= this.#position.size) await this.#compare(said);
      const { size: here } = this.#position;
      if (anchored !== undefined && anchored.size <= here) await this.#compareAnchor(anchored);
      if (size > here) {
        const isAhead = anchored !== undefined && anchored.size > here;
        await this.#grow(from, said, isAhead ? anchored : undefined, signal);
      }
    } catch (error) {
      throw await this.#explain(error, from, said);
    }
  }

  /** Reads a checkpoint, if it can be trusted. */
  async #readCheckpoint(from: LogSource): Promise<ReadCheckpoint> {
    const { trust } = this.#parameters;
    const said = await readCheckpointOf(from);
    const objection = this.#objection(said);
    if (objection === undefined) return said;
    if (trust.policy !== undefined && trust.policy.quorum !== "none") {
      // The witnesses have not cosigned the newest checkpoint yet.
      const witnessed = await from
        .read(WITNESSED_CHECKPOINT, MAX_CHECKPOINT_BYTES)
        .then((bytes) => checkpointOf(bytes.toString("utf8")))
        .catch(() => undefined);
      if (witnessed !== undefined && this.#objection(witnessed) === undefined) return witnessed;
    }
    throw new TallystickError({
      code: "checkpoint_refused",
      message: `The checkpoint of ${from.where} is not accepted: ${objection.replace(/\.$/, "")}.`,
      hint: "Compare the key or the policy with what the ledger's operator publishes (GET /v1/ledger/key).",
    });
  }

  #objection({ note, checkpoint }: ReadCheckpoint): string | undefined {
    const { origin } = this.#checkpoint?.checkpoint ?? checkpoint;
    if (checkpoint.origin !== origin) return `it is of ${checkpoint.origin}, and the copy is of ${origin}`;
    return checkpointObjection(note, origin, this.#parameters.trust);
  }

  async #askAnchor(): Promise<{ size: number; root: Hex } | undefined> {
    const { askAnchor, log } = this.#parameters;
    if (askAnchor === undefined) return undefined;
    try {
      const anchored = await askAnchor();
      this.#anchoredSize = anchored?.size;
      return anchored;
    } catch (error) {
      log("The chain could not be asked; the next look tries again.", { error });
      return undefined;
    }
  }

  /**
   * Compares a checkpoint that is not newer with the copy. If a checkpoint of the same size has more
   * signatures than the copy's, it becomes the copy's checkpoint.
   */
  async #compare(said: ReadCheckpoint): Promise<void> {
    const { size, root } = said.checkpoint;
    if (!bytesEqual(await this.#rootAt(size), root))
      throw new SourceContradictsError(this.#parameters.source, `its root at ${size} entries is another`);
    if (size < this.#position.size || !hasMoreSignatures(said.note, this.#checkpoint?.note)) return;
    await this.#writing.publish(said.text, { from: size, size });
    this.#checkpoint = said;
  }

  async #compareAnchor(anchored: { size: number; root: Hex }): Promise<void> {
    const key = `${anchored.size} ${anchored.root}`;
    if (this.#comparedAnchor === key) return;
    compareWithAnchor(anchored, await this.#rootAt(anchored.size));
    this.#comparedAnchor = key;
  }

  async #grow(
    source: LogSource,
    said: ReadCheckpoint,
    anchored: { size: number; root: Hex } | undefined,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const from = this.#position;
    const next = await growLog({
      from,
      to: said.checkpoint,
      source,
      own: this.own,
      folder: this.#writing,
      usesOwn: "first",
      anchored,
      onProgress: this.#parameters.onProgress,
      signal,
    });
    await this.#writing.publish(said.text, { from: from.size, size: next.size });
    this.#checkpoint = said;
    this.#position = next;
  }

  /**
   * Reads the whole copy again up to its own checkpoint, and fetches damaged files. Fetched files stay in
   * another folder until all of them together give the checkpoint's root, so that a lying source cannot
   * replace good files here.
   */
  async #recheck(source: LogSource, signal: AbortSignal | undefined): Promise<void> {
    const to = this.#checkpoint?.checkpoint;
    if (to !== undefined) {
      const { own, folder } = this;
      const { onProgress } = this.#parameters;
      const aside = path.join(folder, REPAIR_FOLDER);
      const whole = { from: beginning(), to, own, usesOwn: "alone", signal } as const;
      await rm(aside, { recursive: true, force: true });
      await growLog({ ...whole, source, folder: new LogFolder(aside), onProgress });
      this.#position = await growLog({ ...whole, source: folderSource(aside), folder: this.#writing });
      await rm(aside, { recursive: true, force: true });
    }
    this.#recheckFirst = false;
  }

  /** Looks for the signed difference that causes a contradiction, and stores the evidence. */
  async #explain(error: unknown, from: LogSource, theirs: ReadCheckpoint): Promise<unknown> {
    const isAnchor = error instanceof AnchorContradictsError;
    if (!isAnchor && !(error instanceof SourceContradictsError)) return error;
    const ours = this.#checkpoint;
    const { folder, source, now } = this.#parameters;
    const { size } = this.#position;
    const fork = { log: from, checkpoint: theirs.checkpoint };
    const position = isAnchor
      ? undefined
      : await findFork({ log: this.own, size }, fork).catch(() => undefined);
    const entries = position === undefined ? undefined : await this.#bothEntries(from, position, theirs);
    const told = position === undefined ? error : forked(from.where, position, size, theirs);
    const kept = await keepEvidence(folder, {
      source,
      code: told.code,
      reason: told.message,
      position,
      entries,
      seenAt: Math.floor(now()),
      ours,
      theirs,
    }).catch((cause) => {
      this.#parameters.log("The evidence could not be kept.", { error: cause });
      return undefined;
    });
    if (kept !== undefined) this.#parameters.log("Evidence is kept.", { folder: kept });
    return told;
  }

  async #bothEntries(
    from: LogSource,
    position: number,
    theirs: ReadCheckpoint,
  ): Promise<{ ours: string; theirs: string } | undefined> {
    const one = { from: position, to: position + 1, mostBytes: 1 };
    const read = async (log: LogSource, size: number) =>
      (await readLines(log, { ...one, size })).lines[0] ?? "";
    try {
      const [mine, other] = [this.#position.size, theirs.checkpoint.size];
      return { ours: await read(this.own, mine), theirs: await read(from, other) };
    } catch {
      return undefined;
    }
  }

  async #rootAt(size: number): Promise<Uint8Array> {
    if (size === this.#position.size) return this.#position.edge.root();
    return (await TreeEdge.read(size, (tile) => readTileAt(this.own, this.#position.size, tile))).root();
  }
}

async function readKnown({
  folder,
  trust,
  recheck,
}: OpenMirrorParameters): Promise<{ checkpoint: ReadCheckpoint | undefined; position: Position }> {
  const own = folderSource(folder);
  const text = await own.read(CHECKPOINT_FILE, MAX_CHECKPOINT_BYTES).catch((error) => {
    if (error instanceof UnreadableLogError && error.isMissing) return undefined;
    throw error;
  });
  if (text === undefined) return { checkpoint: undefined, position: beginning() };
  const checkpoint = checkpointOf(text.toString("utf8"));
  const { origin } = checkpoint.checkpoint;
  const names = [...(trust.keys ?? []), ...(trust.policy?.logs.map(({ key }) => key) ?? [])];
  if (!names.some(({ name }) => name === origin)) {
    throw new TallystickError({
      code: "mirror_of_another",
      message: `${folder} is a copy of ${origin}, which is not the log of the given key.`,
      hint: "Give this mirror its own folder (MIRROR_DIR).",
    });
  }
  // Reading the whole copy finds what is damaged.
  if (recheck) return { checkpoint, position: beginning() };
  return { checkpoint, position: await readPosition(own, checkpoint.checkpoint) };
}

function forked(
  where: string,
  position: number,
  ours: number,
  { checkpoint }: ReadCheckpoint,
): TallystickError {
  return new TallystickError({
    code: "ledger_forked",
    message: `${where} has another entry ${position + 1} than the copy, and both are signed: the copy up to ${ours} entries, the other up to ${checkpoint.size}.`,
    hint: "The ledger has two histories: keep the evidence, and tell its operator and its followers. The copy stays as it is.",
  });
}

/** An error of the disk is reported as such. The next round may work. */
function asRefusal(error: unknown, folder: string): TallystickError {
  if (error instanceof TallystickError) return error;
  return new TallystickError({
    code: "mirror_unwritable",
    message: `The copy in ${folder} could not be written: ${(error as Error).message}.`,
    hint: "Check the disk (space, permissions). The mirror tries again by itself.",
    cause: error,
  });
}
