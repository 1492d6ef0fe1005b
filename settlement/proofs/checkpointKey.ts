import { randomBytes } from "node:crypto";
import { open, readFile } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "../../protocol/errors.ts";

/** Name of the file beside the ledger. */
export const CHECKPOINT_KEY_FILE = "checkpoint.key";

/**
 * The Ed25519 seed that signs a ledger's checkpoints, out of its folder; made there when it is missing. Whoever follows
 * the ledger knows it by its public half, so it stays with the ledger.
 *
 * @throws TallystickError `bad_checkpoint_key` when the file holds something else
 */
export async function checkpointKey(folder: string): Promise<Uint8Array> {
  const file = path.join(folder, CHECKPOINT_KEY_FILE);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text !== undefined) {
    if (/^[0-9a-f]{64}\n?$/.test(text)) return Uint8Array.from(Buffer.from(text.trim(), "hex"));
    throw new TallystickError({
      code: "bad_checkpoint_key",
      message: `${file} does not hold a key of 64 hex digits.`,
      hint: "Restore it from a copy. Followers of this ledger know it by this key.",
    });
  }
  const seed = randomBytes(32);
  const handle = await open(file, "wx", 0o600);
  try {
    await handle.writeFile(`${seed.toString("hex")}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  return Uint8Array.from(seed);
}
