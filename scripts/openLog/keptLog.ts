import { type FileHandle, open } from "node:fs/promises";
import { TallystickError } from "tallystick-protocol/errors";
import type { LogKeep } from "tallystick-sdk/openLog/nodeLog";
import { readWholeLines } from "../eventLog/readWholeLines.ts";

const CHUNK = 1 << 20;
const LINE_BREAK = 0x0a;

/** A node's log in a local file, which grows by whole pages. */
export class KeptLog implements LogKeep {
  readonly #file: FileHandle;
  /** The path of the file. */
  readonly name: string;
  #size: number;
  /** The position after the last line break. */
  #whole: number;

  private constructor(file: FileHandle, name: string, { size, whole }: { size: number; whole: number }) {
    this.#file = file;
    this.name = name;
    this.#size = size;
    this.#whole = whole;
  }

  /**
   * Opens the file, or creates it. A last line without a line break is the rest of an interrupted write, or another
   * process is writing it now. So it is not read now. It is removed later if it has not grown.
   */
  static async open(name: string): Promise<KeptLog> {
    const file = await open(name, "a+").catch((cause) => {
      throw new TallystickError({
        code: "unreadable_file",
        message: `${name} cannot be opened: ${cause instanceof Error ? cause.message : String(cause)}`,
        hint: "Give --keep the path of a file that may be written.",
        cause,
      });
    });
    try {
      const { size } = await file.stat();
      return new KeptLog(file, name, { size, whole: await endOfLines(file, size) });
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get isEmpty(): boolean {
    return this.#whole === 0;
  }

  texts(): AsyncIterable<string> {
    return readWholeLines(this.name, this.#whole);
  }

  /** @throws TallystickError `file_changed` when another process writes to the file */
  async append(lines: readonly string[]): Promise<void> {
    if ((await this.#file.stat()).size !== this.#size) {
      throw new TallystickError({
        code: "file_changed",
        message: `${this.name} is written by another process.`,
        hint: "Only one command at a time may write a log to a file.",
      });
    }
    if (this.#whole < this.#size) await this.#file.truncate(this.#whole);
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    await this.#file.appendFile(bytes);
    this.#whole += bytes.length;
    this.#size = this.#whole;
  }

  /** Closes the file. An unfinished last line that nobody has continued since {@link open} is removed. */
  async close(): Promise<void> {
    try {
      if (this.#whole < this.#size && (await this.#file.stat()).size === this.#size)
        await this.#file.truncate(this.#whole);
    } finally {
      await this.#file.close();
    }
  }
}

/** The position after the last line break; 0 if there is none. */
async function endOfLines(file: FileHandle, size: number): Promise<number> {
  const buffer = Buffer.alloc(CHUNK);
  for (let end = size; end > 0; ) {
    const start = Math.max(0, end - CHUNK);
    const { bytesRead } = await file.read(buffer, 0, end - start, start);
    const at = buffer.subarray(0, bytesRead).lastIndexOf(LINE_BREAK);
    if (at >= 0) return start + at + 1;
    end = start;
  }
  return 0;
}
