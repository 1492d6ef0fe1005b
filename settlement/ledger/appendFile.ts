import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "../../protocol/errors.ts";

type Waiting = { bytes: Buffer; resolve: (position: number) => void; reject: (error: Error) => void };

/** What an {@link AppendFile} does with its file. Node's `FileHandle` is one. */
export type AppendTarget = Pick<
  FileHandle,
  "appendFile" | "datasync" | "read" | "stat" | "truncate" | "close"
>;

export type OpenAppendFileParameters = {
  filePath: string;
  /** Told when nobody knows any more what is on the disk: the file takes nothing more, the process should end. */
  onFailure: (error: Error) => void;
  /**
   * Told when a write was refused (no space, read-only) and undone: everything that waited is rejected, and the next
   * append will follow what is on disk.
   */
  onUndone?: (error: Error) => void;
  /** How the file is opened; replaced in tests by a disk that fails. */
  openFile?: (filePath: string) => Promise<AppendTarget>;
};

/**
 * A file that only grows, written with group commit: what comes in while one fsync is under way goes into the next, so
 * that many writers share the cost of each.
 *
 * When a write is refused (the disk is full, the file system read-only), what it left half-written is cut off again,
 * everything that waits is rejected, and the next append tries anew. After a failed fsync, or when the cut fails as well,
 * nobody knows what is on the disk (the kernel may have dropped the pages): then the file takes nothing more and
 * `onFailure` is told. The next start reads what is there.
 */
export class AppendFile {
  readonly #file: AppendTarget;
  readonly #parameters: OpenAppendFileParameters;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #failure: TallystickError | undefined;
  #closed = false;
  #waitingBytes = 0;
  /** Bytes that are on disk for sure. */
  #end: number;

  private constructor(file: AppendTarget, end: number, parameters: OpenAppendFileParameters) {
    this.#file = file;
    this.#end = end;
    this.#parameters = parameters;
  }

  /** Opens the file, making it if needed; a new file's name is on disk too when this resolves. */
  static async open(parameters: OpenAppendFileParameters): Promise<AppendFile> {
    const { filePath, openFile = (at) => open(at, "a+") } = parameters;
    const file = await openFile(filePath);
    try {
      await syncFolder(path.dirname(filePath));
      return new AppendFile(file, (await file.stat()).size, parameters);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** Bytes that are to be written and are not on disk yet. */
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
    this.#flushing ??= this.#flush();
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

  /** Waits until everything appended so far is on disk, then closes the file. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#flushing;
    await this.#file.close();
  }

  async #flush(): Promise<void> {
    // Lets the requests that are being answered in this turn of the event loop join the first write.
    await new Promise((resolve) => setImmediate(resolve));
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      const bytes = Buffer.concat(batch.map((one) => one.bytes));
      try {
        await this.#file.appendFile(bytes);
      } catch (cause) {
        await this.#undo(batch, cause);
        continue;
      }
      try {
        await this.#file.datasync();
      } catch (cause) {
        this.#fail(batch, cause);
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

  /** Cuts off what a refused write left, and rejects it with everything that was to follow it. */
  async #undo(batch: Waiting[], cause: unknown): Promise<void> {
    try {
      if ((await this.#file.stat()).size !== this.#end) {
        await this.#file.truncate(this.#end);
        await this.#file.datasync();
        if ((await this.#file.stat()).size !== this.#end) throw new Error("the file was not cut");
      }
    } catch {
      return this.#fail(batch, cause);
    }
    const error = refusal(cause);
    this.#parameters.onUndone?.(error);
    this.#reject(batch, error);
  }

  #fail(batch: Waiting[], cause: unknown): void {
    this.#failure = refusal(cause);
    this.#reject(batch, this.#failure);
    this.#parameters.onFailure(this.#failure);
  }

  #reject(batch: Waiting[], error: Error): void {
    for (const { reject } of [...batch, ...this.#waiting]) reject(error);
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}

/** Puts the names in a folder on disk. */
async function syncFolder(folderPath: string): Promise<void> {
  const folder = await open(folderPath, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function refusal(cause: unknown): TallystickError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return unavailable(`The ledger cannot be written: ${reason}.`, cause);
}

/** The refusal of a write: 503, nothing of it is kept. */
export function unavailable(message: string, cause?: unknown): TallystickError {
  return new TallystickError({
    code: "ledger_unavailable",
    message,
    hint: "Nothing of this was written. It is for the operator to see to the disk (space, permissions, health).",
    cause,
  });
}
