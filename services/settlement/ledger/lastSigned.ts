import { readFile } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { z } from "zod";
import { putFile } from "./putFile.ts";
import { syncFolder } from "./syncFolder.ts";

/** Name of the file next to the ledger. */
export const LAST_SIGNED_FILE = "last-signed.json";

/**
 * Name of the file, on another disk than the ledger's, with the largest anchor that was signed for others to
 * send. Until this anchor is mined, only this file knows of it. Without the file, an older image of the
 * ledger's disk would look like the newest one.
 */
export const LAST_WORD_FILE = "last-word.json";

const schema = z.strictObject({
  version: z.literal(1),
  size: z.int().nonnegative(),
  root: z
    .string()
    .regex(/^0x[0-9a-f]{64}$/)
    .transform((text) => text as Hex),
});

/** The largest signed state of a ledger: its number of entries and their root. */
export type LastSigned = { size: number; root: Hex };

/**
 * Reads what was signed last from a folder; undefined when the file is not there.
 *
 * @throws TallystickError `bad_last_signed` when the file holds something else
 */
export async function readLastSigned(
  folder: string,
  name: string = LAST_SIGNED_FILE,
): Promise<LastSigned | undefined> {
  const file = path.join(folder, name);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  try {
    const { size, root } = schema.parse(JSON.parse(text));
    return { size, root };
  } catch (cause) {
    throw new TallystickError({
      code: "bad_last_signed",
      message: `${name} does not have a size and a root.`,
      hint: "Restore it from a copy together with the ledger, or remove it and run: tallystick ledger adopt",
      cause,
    });
  }
}

/**
 * Writes the state that is signed next. When this resolves, the file and its name are on disk. The signature
 * may leave only after that. A reader always finds the old content or the new one, also after a power
 * failure.
 */
export async function writeLastSigned(
  folder: string,
  { size, root }: LastSigned,
  name: string = LAST_SIGNED_FILE,
): Promise<void> {
  await putFile(path.join(folder, name), `${JSON.stringify({ version: 1, size, root })}\n`);
  await syncFolder(folder);
}
