import { createHash } from "node:crypto";
import { open } from "node:fs/promises";
import { readAtMost } from "../readAtMost.ts";
import { JunitError } from "./junitError.ts";
import { type JunitRun, readJunit } from "./readJunit.ts";

/** The largest report, in bytes. One test takes a few hundred bytes, and printed text takes the rest. */
export const MAX_REPORT_BYTES = 32 * 1024 * 1024;

/** A run with the hash and the time of its file. */
export type Report = JunitRun & {
  file: string;
  /** SHA-256 of the file's bytes, 64 hex digits. */
  hash: string;
  /** When the file was written, unix seconds. */
  writtenAt: number;
};

/**
 * Reads a report from a file. A file of more than {@link MAX_REPORT_BYTES} is refused.
 *
 * @throws JunitError
 */
export async function readReport(file: string): Promise<Report> {
  const { bytes, writtenAt } = await readFileBytes(file);
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new JunitError(file, "is not UTF-8");
  }
  const hash = createHash("sha256").update(bytes).digest("hex");
  return { file, hash, writtenAt, ...readJunit(text, file) };
}

async function readFileBytes(file: string): Promise<{ bytes: Uint8Array; writtenAt: number }> {
  const handle = await open(file, "r").catch((cause: NodeJS.ErrnoException) => {
    throw new JunitError(file, cause.code === "ENOENT" ? "is not there" : `cannot be opened (${cause.code})`);
  });
  try {
    const { size, mtimeMs } = await handle.stat();
    const tooLarge = () =>
      new JunitError(file, `has more than ${MAX_REPORT_BYTES} bytes`, "Leave out what the tests print.");
    if (size > MAX_REPORT_BYTES) throw tooLarge();
    const bytes = await readAtMost(handle, MAX_REPORT_BYTES);
    if (bytes === undefined) throw tooLarge();
    return { bytes, writtenAt: Math.floor(mtimeMs / 1000) };
  } catch (cause) {
    if (cause instanceof JunitError) throw cause;
    throw new JunitError(file, `cannot be read (${(cause as NodeJS.ErrnoException).code})`);
  } finally {
    await handle.close();
  }
}
