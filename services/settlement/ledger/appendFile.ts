import type { BigIntStats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import path from "node:path";
import { tryLock } from "fs-native-extensions";
import { TallystickError } from "tallystick-protocol/errors";
import { asOurOwn } from "tallystick-runtime/http/requestScope";
import { syncFolder } from "./syncFolder.ts";
import { committedElsewhere, isOutcomeUnknown, perhapsWritten, refusal, unavailable } from "./writeErrors.ts";

/**
 * Called with the bytes of each group before they are written, if another system must have them first. When it throws,
 * nothing of the group is written, and the file accepts nothing more. If the other system perhaps has the group, it
 * throws `outcome_unknown` with the reason as its cause. Only the group gets this error. Later appends get the cause.
 */
export type CommitGroup = (bytes: Buffer) => Promise<void>;

type Waiting = { bytes: Buffer; resolve: (position: number) => void; reject: (error: Error) => void };

/** What an {@link AppendFile} does with its file. Node's `FileHandle` is one. */
export type AppendTarget = Pick<
  FileHandle,
  "fd" | "appendFile" | "datasync" | "read" | "stat" | "truncate" | "close"
>;

export type OpenAppendFileParameters = {
  filePath: string;
  /**
   * Called once, when the content of the disk is no longer known or the caller gave the file up. The file accepts nothing
   * more, and the process should end.
   */
  onFailure: (error: Error) => void;
  /**
   * Called when a write was refused (no space, read-only) and undone. Everything that waited is rejected, and the next
   * append follows what is on disk.
   */
  onUndone?: (error: Error) => void;
  /** Called after every write that is on disk, with the time that the disk took, in seconds. */
  onSynced?: (seconds: number) => void;
  /** Runs once the file is locked, before anything is appended. */
  prepare?: () => Promise<void>;
  /** How the file is opened; replaced in tests by a disk that fails. */
  openFile?: (filePath: string) => Promise<AppendTarget>;
};

/**
 * A file that only grows, written with group commit. Everything that arrives during one fsync goes into the
 * next fsync, so many writers share its cost. The file itself is locked, in addition to its folder. Before a
 * write is reported as done, the path must still lead to the written file, with the right length. Otherwise
 * an entry could be lost or settled twice, because somebody deleted, replaced or changed the file.
 *
 * A write is refused when the disk is full or the file system is read-only. Then its half-written bytes are cut
 * off, everything that waits is rejected, and the next append tries again. After a failed fsync, or when
 * the cut fails too, nobody knows what is on the disk (the kernel may have dropped the pages). Then the file
 * accepts nothing more and `onFailure` is called. The next start reads what is there.
 */
export class AppendFile {
  readonly #file: AppendTarget;
  /** The identity of the file. */
  readonly #inode: Inode;
  readonly #parameters: OpenAppendFileParameters;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #failure: TallystickError | undefined;
  #commit: { group: CommitGroup; mostBytes: number } | undefined;
  #closed = false;
  #waitingBytes = 0;
  /** Bytes that are certainly on disk. */
  #end: number;

  private constructor(file: AppendTarget, opened: BigIntStats, parameters: OpenAppendFileParameters) {
    this.#file = file;
    this.#inode = opened;
    this.#end = Number(opened.size);
    this.#parameters = parameters;
  }

  /**
   * Opens the file, creates it if needed, and locks it. When this resolves, a new file's name is on disk too.
   *
   * @throws TallystickError `ledger_locked` when another process has it open for writing; `ledger_unavailable` when another
   * file took its place meanwhile
   */
  static async open(parameters: OpenAppendFileParameters): Promise<AppendFile> {
    const { filePath, prepare, openFile = (at) => open(at, "a+") } = parameters;
    const file = await openFile(filePath);
    try {
      if (!tryLock(file.fd)) throw locked(filePath);
      await syncFolder(path.dirname(filePath));
      await prepare?.();
      const opened = await file.stat({ bigint: true });
      const wrong = await differenceOf(filePath, opened, (size) => size === opened.size);
      if (wrong !== undefined) throw refusal(new Error(wrong));
      return new AppendFile(file, opened, parameters);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /**
   * From now on, each group is committed before it is written.
   *
   * @param mostBytes of one group, unless its first append alone has more
   */
  commitBy(group: CommitGroup, mostBytes: number): void {
    this.#commit = { group, mostBytes };
  }

  /** Bytes that wait and are not on disk yet. */
  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  /**
   * Appends text (ASCII) and resolves once it is on disk, with the offset where it begins. Appends resolve in the order
   * in which they were made.
   *
   * @throws TallystickError `ledger_unavailable` (503) when it could not be written
   */
  append(text: string): Promise<number> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#closed) return Promise.reject(unavailable("The file is closed."));
    const written = new Promise<number>((resolve, reject) => {
      const bytes = Buffer.from(text, "latin1");
      this.#waitingBytes += bytes.length;
      this.#waiting.push({ bytes, resolve, reject });
    });
    // One write serves all waiting requests, so its errors do not belong to the request that started it.
    this.#flushing ??= asOurOwn(() => this.#flush());
    return written;
  }

  /** Reads up to `length` bytes from `position`; fewer at the end of the file. */
  async read(position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const { bytesRead } = await this.#file.read(buffer, filled, length - filled, position + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return buffer.subarray(0, filled);
  }

  /**
   * Checks that the file under the path is still the open one, and has the length that was written here. Otherwise
   * later reads could return wrong bytes, so the file accepts nothing more, and `onFailure` is called.
   *
   * @throws TallystickError `ledger_unavailable` (503)
   */
  async check(): Promise<void> {
    if (this.#failure) throw this.#failure;
    const [end, isQuiet] = [this.#end, this.#flushing === undefined];
    const wrong = await this.#difference((size) => {
      // During a write the length of the file is not fixed.
      const isExact = isQuiet && this.#flushing === undefined && this.#end === end;
      return isExact ? size === BigInt(end) : size >= BigInt(end);
    });
    if (wrong === undefined) return;
    throw this.abandon(wrong);
  }

  /**
   * Accepts nothing more. What waits is refused, because nothing of it is written anywhere. A group that is being written is
   * still finished. Call this when the content of the disk is unknown, or when the caller can no longer follow the file.
   *
   * @returns the error of every later append
   */
  abandon(cause: unknown): TallystickError {
    const isFirst = this.#failure === undefined;
    this.#failure ??= asError(cause);
    this.#rejectWaiting(this.#failure);
    if (isFirst) this.#parameters.onFailure(this.#failure);
    return this.#failure;
  }

  #difference(isLength: (size: bigint) => boolean): Promise<string | undefined> {
    return differenceOf(this.#parameters.filePath, this.#inode, isLength);
  }

  /** Waits until everything appended so far is on disk, then closes the file. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#flushing;
    await this.#file.close();
  }

  async #flush(): Promise<void> {
    // Lets the requests of this turn of the event loop join the first write.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#takeGroup();
      const bytes = Buffer.concat(batch.map((one) => one.bytes));
      try {
        await this.#commit?.group(bytes);
      } catch (cause) {
        this.#reject(batch, asError(cause));
        // With `outcome_unknown`, the other system perhaps has the group. Later appends get only its cause.
        this.abandon(isOutcomeUnknown(cause) ? cause.cause : cause);
        break;
      }
      // A committed group cannot be undone. The next start takes it from the shared store.
      const told = this.#commit ? committedElsewhere : perhapsWritten;
      try {
        await this.#file.appendFile(bytes);
      } catch (cause) {
        if (this.#commit) {
          this.#reject(batch, told(cause));
          this.abandon(cause);
          break;
        }
        await this.#undo(batch, bytes.length, cause);
        continue;
      }
      try {
        const start = performance.now();
        await this.#file.datasync();
        this.#parameters.onSynced?.((performance.now() - start) / 1_000);
      } catch (cause) {
        this.#reject(batch, told(cause));
        this.abandon(cause);
        break;
      }
      // This check comes after the write, because an earlier check would say nothing about the write.
      const end = BigInt(this.#end + bytes.length);
      const wrong = await this.#difference((size) => size === end);
      if (wrong !== undefined) {
        this.#reject(batch, told(wrong));
        this.abandon(wrong);
        break;
      }
      for (const { bytes, resolve } of batch) {
        resolve(this.#end);
        this.#end += bytes.length;
        this.#waitingBytes -= bytes.length;
      }
    }
    this.#flushing = undefined;
  }

  /** Takes the waiting appends, up to the largest group. */
  #takeGroup(): Waiting[] {
    const most = this.#commit?.mostBytes ?? Number.POSITIVE_INFINITY;
    let [count, length] = [0, 0];
    for (const { bytes } of this.#waiting) {
      length += bytes.length;
      if (count > 0 && length > most) break;
      count++;
    }
    return this.#waiting.splice(0, count);
  }

  /** Cuts off the bytes of a refused write, and rejects it together with everything after it. */
  async #undo(batch: Waiting[], length: number, cause: unknown): Promise<void> {
    try {
      // We must not cut bytes that somebody else wrote.
      const most = BigInt(this.#end + length);
      const wrong = await this.#difference((size) => size >= BigInt(this.#end) && size <= most);
      if (wrong !== undefined) throw new Error(wrong);
      if ((await this.#file.stat()).size !== this.#end) {
        await this.#file.truncate(this.#end);
        await this.#file.datasync();
        if ((await this.#file.stat()).size !== this.#end) throw new Error("the file was not cut");
      }
    } catch (reason) {
      // Some of its lines may be complete, and then the next start takes them.
      this.#reject(batch, perhapsWritten(reason));
      this.abandon(reason);
      return;
    }
    const error = refusal(cause);
    this.#parameters.onUndone?.(error);
    this.#reject(batch, error);
    this.#rejectWaiting(error);
  }

  #rejectWaiting(error: Error): void {
    this.#reject(this.#waiting.splice(0), error);
  }

  #reject(batch: Waiting[], error: Error): void {
    for (const { bytes, reject } of batch) {
      this.#waitingBytes -= bytes.length;
      reject(error);
    }
  }
}

function asError(cause: unknown): TallystickError {
  return cause instanceof TallystickError ? cause : refusal(cause);
}

type Inode = Pick<BigIntStats, "dev" | "ino">;

/**
 * What is wrong with the file under a path, as a clause; undefined when it is the opened file and has the
 * right length.
 */
async function differenceOf(
  filePath: string,
  { dev, ino }: Inode,
  isLength: (size: bigint) => boolean,
): Promise<string | undefined> {
  // Clients see the message too, and they need not know the folder.
  const name = path.basename(filePath);
  let found: BigIntStats;
  try {
    found = await stat(filePath, { bigint: true });
  } catch (error) {
    return `${name} is no longer there (${(error as NodeJS.ErrnoException).code})`;
  }
  if (found.dev !== dev || found.ino !== ino) return `${name} is another file than the one that was opened`;
  return isLength(found.size)
    ? undefined
    : `${name} has ${found.size} bytes, which are not all this service's own`;
}

function locked(filePath: string): TallystickError {
  return new TallystickError({
    code: "ledger_locked",
    message: `Another process writes ${filePath}.`,
    hint: "Stop the other settlement process, or give this one its own LEDGER_DIR.",
  });
}
