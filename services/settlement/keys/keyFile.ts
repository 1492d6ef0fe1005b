import { createHash, randomBytes } from "node:crypto";
import { chmod, open, readFile, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { tryLock } from "fs-native-extensions";
import { type Address, addressSchema } from "tallystick-protocol/address";
import { base32 } from "tallystick-protocol/base32";
import { TallystickError } from "tallystick-protocol/errors";
import { z } from "zod";
import { keepOwner } from "../ledger/keepOwner.ts";
import { makeFolder } from "../ledger/makeFolder.ts";
import { syncFolder } from "../ledger/syncFolder.ts";

const keySchema = z.strictObject({
  id: z.string(),
  name: z.string(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  created_at: z.int(),
  revoked_at: z.int().nullable(),
  /** The agent that uses the key for its proposals. */
  agent: addressSchema.optional(),
});
const fileSchema = z.strictObject({ version: z.literal(1), keys: z.array(keySchema) });

/** A stored key: its SHA-256 and its owner. Times in unix seconds. The key itself is shown once and stored nowhere. */
export type StoredKey = z.output<typeof keySchema>;

/** How long a change of the file waits for another change, and the pause between two attempts, in milliseconds. */
const TURN_MS = 10_000;
const LOOK_MS = 20;

/** SHA-256 of a key, 64 hex digits. Keys are 160 random bits, so a plain hash is safe. */
export function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/**
 * The keys in a file; none when there is no file.
 *
 * @throws TallystickError `keys_unreadable` when the file cannot be read, or is not a key file
 */
export async function readKeyFile(file: string): Promise<StoredKey[]> {
  const text = await readFile(file, "utf8").catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === "ENOENT") return undefined;
    throw new TallystickError({
      code: "keys_unreadable",
      message: `${file} cannot be read: ${cause.message}`,
      hint: "The user that runs settlement must own it.",
      cause,
    });
  });
  if (text === undefined) return [];
  try {
    return fileSchema.parse(JSON.parse(text)).keys;
  } catch (cause) {
    throw new TallystickError({
      code: "keys_unreadable",
      message: `${file} is not a file of API keys.`,
      hint: "Restore it from a copy, or remove it and make new keys with tallystick keys add.",
      cause,
    });
  }
}

/**
 * Makes a key, keeps its hash, and returns both. The key is `tsk_` and 32 base 32 characters.
 *
 * @param agent the agent that uses the key. The results of its proposals count for this agent. Default:
 * nobody
 */
export async function addKey(
  file: string,
  name: string,
  now: number,
  agent?: Address,
): Promise<{ key: string; stored: StoredKey }> {
  const key = `tsk_${base32(randomBytes(20))}`;
  const id = base32(randomBytes(5));
  const stored: StoredKey = {
    ...{ id, name, sha256: hashKey(key), created_at: Math.floor(now), revoked_at: null },
    ...(agent !== undefined && { agent }),
  };
  await change(file, (keys) => keys.push(stored));
  return { key, stored };
}

/**
 * Revokes a key permanently. A running service notices within a second.
 *
 * @throws TallystickError `unknown_key` when there is none with this id; `keys_busy`
 */
export function revokeKey(file: string, id: string, now: number): Promise<StoredKey> {
  return change(file, (keys) => {
    const found = keys.find((key) => key.id === id);
    if (!found) {
      throw new TallystickError({
        code: "unknown_key",
        message: `There is no key ${id} in ${file}.`,
        hint: "tallystick keys list shows their ids.",
      });
    }
    found.revoked_at ??= Math.floor(now);
    return found;
  });
}

/**
 * Changes the keys of a file. Only one process at a time can do this. Otherwise one process could revoke a key while
 * another adds one, and the second would write the revoked key back.
 *
 * @throws TallystickError `keys_busy` when another process does not end its change
 */
async function change<T>(file: string, work: (keys: StoredKey[]) => T): Promise<T> {
  await makeFolder(path.dirname(file));
  const lock = await open(`${file}.lock`, "a", 0o600);
  try {
    await keepOwner(`${file}.lock`);
    const end = performance.now() + TURN_MS;
    while (!tryLock(lock.fd)) {
      if (performance.now() > end) {
        throw new TallystickError({
          code: "keys_busy",
          message: `Another process is changing ${file}.`,
          hint: "Nothing was changed. Try again when the other process has ended.",
        });
      }
      await sleep(LOOK_MS);
    }
    const keys = await readKeyFile(file);
    const result = work(keys);
    await writeKeyFile(file, keys);
    return result;
  } finally {
    await lock.close();
  }
}

/** The new file is written next to the old one and then renamed, so that a reader never sees half a file. */
async function writeKeyFile(file: string, keys: StoredKey[]): Promise<void> {
  const folder = path.dirname(file);
  const next = `${file}.next`;
  await writeFile(next, `${JSON.stringify({ version: 1, keys }, null, 2)}\n`, { mode: 0o600, flush: true });
  await chmod(next, 0o600);
  await keepOwner(next, file);
  await rename(next, file);
  // A revoked key must not come back after a power failure.
  await syncFolder(folder);
}
