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

  private constructor(file: FileHandle, name: string, size: number) {
    this.#file = file;
    this.name = name;
    this.#size = size;
  }

  /**
   * Opens the file, or creates it. A last line without a line break is the rest of an interrupted write, and
   * is removed.
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
      const whole = await endOfLines(file, size);
      if (whole < size) await file.truncate(whole);
      return new KeptLog(file, name, whole);
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  get isEmpty(): boolean {
    return this.#size === 0;
  }

  texts(): AsyncIterable<string> {
    return readWholeLines(this.name);
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
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    await this.#file.appendFile(bytes);
    this.#size += bytes.length;
  }

  close(): Promise<void> {
    return this.#file.close();
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
