import { randomBytes } from "node:crypto";
import { open, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "../../protocol/errors.ts";
import { syncFolder } from "../ledger/syncFolder.ts";

/** Name of the file beside the ledger. */
export const CHECKPOINT_KEY_FILE = "checkpoint.key";

/**
 * The Ed25519 seed that signs a ledger's checkpoints, out of its folder; undefined when it is missing. Whoever follows
 * the ledger knows it by its public half, so it stays with the ledger.
 *
 * @throws TallystickError `bad_checkpoint_key` when the file holds something else
 */
export async function readCheckpointKey(folder: string): Promise<Uint8Array | undefined> {
  const file = path.join(folder, CHECKPOINT_KEY_FILE);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  if (/^[0-9a-f]{64}\n?$/.test(text)) return Uint8Array.from(Buffer.from(text.trim(), "hex"));
  throw new TallystickError({
    code: "bad_checkpoint_key",
    message: `${file} does not hold a key of 64 hex digits.`,
    hint: "Restore it from a copy. Followers of this ledger know it by this key.",
  });
}

/** Makes the key of a ledger that has none yet. It and its name are on disk when this resolves. */
export async function makeCheckpointKey(folder: string): Promise<Uint8Array> {
  const seed = randomBytes(32);
  // Beside it first: a crash in the middle would leave half a key, with which nothing starts.
  const file = path.join(folder, CHECKPOINT_KEY_FILE);
  const unfinished = `${file}.unfinished`;
  const handle = await open(unfinished, "w", 0o600);
  try {
    await handle.writeFile(`${seed.toString("hex")}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(unfinished, file);
  await syncFolder(folder);
  return Uint8Array.from(seed);
}

/**
 * The key of a ledger's folder; made when the ledger has no entries yet.
 *
 * @throws TallystickError `checkpoint_key_missing` when it is gone beside a ledger with entries: a new one would make it
 * another ledger to all who follow it
 */
export async function checkpointKey(folder: string, { size }: { size: number }): Promise<Uint8Array> {
  const key = await readCheckpointKey(folder);
  if (key !== undefined) return key;
  if (size === 0) return makeCheckpointKey(folder);
  throw new TallystickError({
    code: "checkpoint_key_missing",
    message: `${path.join(folder, CHECKPOINT_KEY_FILE)} is missing, and the ledger has ${size} entries.`,
    hint:
      "Restore it from a copy: followers know the ledger by it. If it is lost, set CHECKPOINT_PRIVATE_KEY to a new key (0x" +
      " and 64 random hex digits) and tell them its verifier key (GET /v1/ledger/key).",
  });
}
