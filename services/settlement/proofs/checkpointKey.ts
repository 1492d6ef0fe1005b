import { randomBytes } from "node:crypto";
import { open, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { keepOwner } from "../ledger/keepOwner.ts";
import { syncFolder } from "../ledger/syncFolder.ts";

/** Name of the file next to the ledger. */
export const CHECKPOINT_KEY_FILE = "checkpoint.key";

/** The name of the file with the next key. As long as it exists, both keys sign the checkpoints. */
export const NEXT_KEY_FILE = "checkpoint.key.next";

/**
 * The shortest time in which two keys sign, in seconds. Followers of the ledger need this time to learn the
 * next key.
 */
export const ROTATION_SECONDS = 30 * 86_400;

/**
 * A key that signs checkpoints: its 32-byte Ed25519 seed, and its period of use in unix seconds, if known.
 */
export type CheckpointKey = { seed: Uint8Array; from?: number; until?: number };

/**
 * The key that signs a ledger's checkpoints, from its folder; undefined when it is missing. Followers of the ledger know
 * its public half, so it stays with the ledger.
 *
 * @throws TallystickError `bad_checkpoint_key` when the file holds something else
 */
export async function readCheckpointKey(
  folder: string,
  name: string = CHECKPOINT_KEY_FILE,
): Promise<CheckpointKey | undefined> {
  const file = path.join(folder, name);
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  const match = /^([0-9a-f]{64})(?: ([0-9]{1,11}))?\n?$/.exec(text);
  if (match) {
    const [, seed = "", from] = match;
    return {
      seed: Uint8Array.from(Buffer.from(seed, "hex")),
      ...(from !== undefined && { from: Number(from) }),
    };
  }
  throw new TallystickError({
    code: "bad_checkpoint_key",
    message: `${file} does not have a key of 64 hex digits.`,
    hint: "Restore it from a copy. Followers of this ledger know it by this key.",
  });
}

/** Makes the key of a ledger that has none yet. It and its name are on disk when this resolves. */
export function makeCheckpointKey(folder: string): Promise<CheckpointKey> {
  return writeNewKey(folder, CHECKPOINT_KEY_FILE);
}

/** A new key file is complete, or not there. The service could not start with half a key. */
async function writeNewKey(folder: string, name: string, from?: number): Promise<CheckpointKey> {
  const seed = randomBytes(32);
  const file = path.join(folder, name);
  const unfinished = `${file}.unfinished`;
  const handle = await open(unfinished, "w", 0o600);
  try {
    await handle.writeFile(`${seed.toString("hex")}${from === undefined ? "" : ` ${from}`}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  await keepOwner(unfinished, file);
  await rename(unfinished, file);
  await syncFolder(folder);
  return { seed: Uint8Array.from(seed), ...(from !== undefined && { from }) };
}

/**
 * Returns the keys that sign a ledger's checkpoints, from its folder, the present key first. If there is no key and the
 * ledger has no entries yet, makes a key.
 *
 * @param given the present key, when it is kept somewhere else
 * @throws TallystickError `checkpoint_key_missing` when the key is missing but the ledger has entries: with a new
 * key, its followers would take it for another ledger. `checkpoint_key_differs` when the folder has another key than
 * `given`
 */
export async function checkpointKeys(
  folder: string,
  { size }: { size: number },
  given?: Uint8Array,
): Promise<CheckpointKey[]> {
  const next = await readCheckpointKey(folder, NEXT_KEY_FILE);
  const present = given ? await presentKey(folder, given) : await readCheckpointKey(folder);
  if (present !== undefined) return next ? [{ ...present, until: rotationEnd(next) }, next] : [present];
  if (size === 0) return [await makeCheckpointKey(folder)];
  throw new TallystickError({
    code: "checkpoint_key_missing",
    message: `${path.join(folder, CHECKPOINT_KEY_FILE)} is missing, and the ledger has ${size} entries.`,
    hint:
      "Restore it from a copy: followers know the ledger by it. If it is lost, set CHECKPOINT_PRIVATE_KEY to a new key (0x" +
      " and 64 random hex digits) and tell them its verifier key (GET /v1/ledger/key).",
  });
}

/** The given key, if the folder has no other one. A damaged file is as good as none. */
async function presentKey(folder: string, given: Uint8Array): Promise<CheckpointKey> {
  const kept = await readCheckpointKey(folder).catch((error: unknown) => {
    if (error instanceof TallystickError) return undefined;
    throw error;
  });
  if (kept === undefined || Buffer.compare(kept.seed, given) === 0) return { seed: given };
  throw new TallystickError({
    code: "checkpoint_key_differs",
    message: `CHECKPOINT_PRIVATE_KEY is another key than that in ${path.join(folder, CHECKPOINT_KEY_FILE)}.`,
    hint:
      "Followers know the ledger by one of the two, and stop at the other one. If it is the key in the file, remove the" +
      " setting. If it is the key of the setting, move the file to another folder.",
  });
}

/** The time from which the present key may be removed. */
function rotationEnd({ from = 0 }: CheckpointKey): number {
  return from + ROTATION_SECONDS;
}

/**
 * Makes the next key. After the next start, both keys sign. The folder has to be locked.
 *
 * @param now unix seconds
 * @throws TallystickError `rotation_under_way` when there is one already
 */
export async function startKeyRotation(folder: string, now: number): Promise<CheckpointKey> {
  const next = await readCheckpointKey(folder, NEXT_KEY_FILE);
  if (next !== undefined) {
    throw new TallystickError({
      code: "rotation_under_way",
      message: `${path.join(folder, NEXT_KEY_FILE)} exists: the next key was already made.`,
      hint: `From ${isoDay(rotationEnd(next))} on, tallystick ledger rotate-key --finish replaces the present key.`,
    });
  }
  return writeNewKey(folder, NEXT_KEY_FILE, Math.floor(now));
}

/**
 * Replaces the present key with the next one. The present key is deleted. This is one step on the disk: after
 * a crash at any moment, either both keys are there, or only the next one. The folder has to be locked.
 *
 * @param now unix seconds
 * @param early whether to do this before the end of {@link ROTATION_SECONDS}, because somebody has stolen the present
 * key
 * @throws TallystickError `no_rotation`, `rotation_too_early`
 */
export async function finishKeyRotation(folder: string, now: number, early = false): Promise<CheckpointKey> {
  const next = await readCheckpointKey(folder, NEXT_KEY_FILE);
  if (next === undefined) {
    throw new TallystickError({
      code: "no_rotation",
      message: `There is no ${path.join(folder, NEXT_KEY_FILE)}.`,
      hint: "Begin with tallystick ledger rotate-key, without --finish.",
    });
  }
  if (!early && now < rotationEnd(next)) {
    throw new TallystickError({
      code: "rotation_too_early",
      message: `Both keys sign until ${isoDay(rotationEnd(next))}: until then followers learn the next key.`,
      hint: "If somebody else has the present key, add --now, and tell the followers.",
    });
  }
  await rename(path.join(folder, NEXT_KEY_FILE), path.join(folder, CHECKPOINT_KEY_FILE));
  await syncFolder(folder);
  return next;
}

function isoDay(seconds: number): string {
  return `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
}
