import { randomBytes } from "node:crypto";
import { closeSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from "node:fs";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";

/** Name of the file in the witness's folder. */
export const WITNESS_KEY_FILE = "witness.key";

/**
 * The Ed25519 seed of a witness, from its folder. It is made when the witness has cosigned nothing yet.
 *
 * @throws TallystickError `bad_witness_key`, or `witness_key_missing` when it has cosigned before: with a new
 * key, everybody who trusts it would see another witness
 */
export function witnessSeed(folder: string, { isNew }: { isNew: boolean }): Uint8Array {
  const file = path.join(folder, WITNESS_KEY_FILE);
  const text = readIfThere(file);
  if (text !== undefined) {
    if (/^[0-9a-f]{64}\n?$/.test(text)) return Uint8Array.from(Buffer.from(text.trimEnd(), "hex"));
    throw new TallystickError({
      code: "bad_witness_key",
      message: `${file} does not have a key of 64 hex digits.`,
      hint: "Restore it from a copy. Logs and readers know this witness by this key.",
    });
  }
  if (isNew) return makeSeed(folder, file);
  throw new TallystickError({
    code: "witness_key_missing",
    message: `${file} is missing, and this witness has cosigned before.`,
    hint: "Restore it from a copy, or set WITNESS_PRIVATE_KEY to 0x and its 64 hex digits. If it is lost, begin as another witness: a new folder and a new name.",
  });
}

/** The key is complete, or missing. Nothing starts with half a key. */
function makeSeed(folder: string, file: string): Uint8Array {
  const seed = randomBytes(32);
  const unfinished = `${file}.unfinished`;
  const handle = openSync(unfinished, "w", 0o600);
  try {
    writeSync(handle, `${seed.toString("hex")}\n`);
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  renameSync(unfinished, file);
  const parent = openSync(folder, "r");
  try {
    fsyncSync(parent);
  } finally {
    closeSync(parent);
  }
  return Uint8Array.from(seed);
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
