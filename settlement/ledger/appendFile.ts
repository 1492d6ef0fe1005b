import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "../../protocol/errors.ts";

type Waiting = { bytes: Buffer; resolve: () => void; reject: (error: Error) => void };

/**
 * A file that only grows, written with group commit: what comes in while one fsync is under way goes into the next, so
 * that many writers share the cost of each.
 *
 * After a failed write or fsync nobody knows what is on the disk (the kernel may have dropped the pages), so the file
 * takes nothing more: everything that waits is refused and `onFailure` is told. The next start reads what is there.
 */
export class AppendFile {
  readonly #file: FileHandle;
  readonly #onFailure: (error: Error) => void;
  #waiting: Waiting[] = [];
  #flushing: Promise<void> | undefined;
  #failure: TallystickError | undefined;
  #closed = false;

  private constructor(file: FileHandle, onFailure: (error: Error) => void) {
    this.#file = file;
    this.#onFailure = onFailure;
  }

  /** Opens the file, making it if needed; a new file's name is on disk too when this resolves. */
  static async open(filePath: string, onFailure: (error: Error) => void): Promise<AppendFile> {
    const file = await open(filePath, "a+");
    const folder = await open(path.dirname(filePath), "r");
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
    return new AppendFile(file, onFailure);
  }

  /**
   * Appends text (ASCII) and resolves once it is on disk. Appends resolve in the order in which they were made.
   *
   * @throws TallystickError `ledger_unavailable` (503) when it could not be written, or after an earlier failure
   */
  append(text: string): Promise<void> {
    if (this.#failure) return Promise.reject(this.#failure);
    if (this.#closed) return Promise.reject(unavailable("The file is closed."));
    const written = new Promise<void>((resolve, reject) => {
      this.#waiting.push({ bytes: Buffer.from(text, "latin1"), resolve, reject });
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
      try {
        await this.#file.appendFile(Buffer.concat(batch.map(({ bytes }) => bytes)));
        await this.#file.datasync();
      } catch (cause) {
        this.#fail(batch, cause);
        break;
      }
      for (const { resolve } of batch) resolve();
    }
    this.#flushing = undefined;
  }

  #fail(batch: Waiting[], cause: unknown): void {
    const reason = cause instanceof Error ? cause.message : String(cause);
    this.#failure = unavailable(`The ledger cannot be written: ${reason}.`, cause);
    for (const { reject } of [...batch, ...this.#waiting]) reject(this.#failure);
    this.#waiting = [];
    this.#onFailure(this.#failure);
  }
}

function unavailable(message: string, cause?: unknown): TallystickError {
  return new TallystickError({
    code: "ledger_unavailable",
    message,
    hint: "See to the disk (space, permissions, health), then start the service again: it checks what was written.",
    cause,
  });
}
