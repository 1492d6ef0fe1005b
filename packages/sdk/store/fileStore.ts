import { randomUUID } from "node:crypto";
import { link, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import type { KeyValueStore } from "./keyValueStore.ts";

/** What keys may consist of, so that every key is a file name on every system. */
const KEY = /^[a-z]+\/[A-Za-z0-9_.-]{1,200}$/;

/** The name of a temporary file of {@link fileStore}. */
const DRAFT = /\.json\.[0-9a-f]{8}-[0-9a-f-]{27}\.tmp$/;

/** A draft of this age belongs to a process that was killed, in milliseconds. Writing a draft takes much less. */
const DRAFT_MS = 600_000;

/** Errors of a single file. Others may be errors of the whole disk, and pass. */
const OF_THE_FILE = new Set(["EACCES", "EPERM", "EISDIR"]);

/**
 * A store in a folder, one file for each key. A value is on the disk before the promise resolves. A file is
 * written under another name and then renamed, so a process that is killed at any moment leaves only complete
 * files. Several processes may share the folder; `putNew` lets exactly one of them win. The temporary files of killed
 * processes are deleted when a later process first uses their folder.
 */
export function fileStore(folder: string): KeyValueStore {
  const fileOf = (key: string): string => {
    if (KEY.test(key) && !key.includes("..")) return path.join(folder, `${key}.json`);
    throw new TallystickError({
      code: "invalid_key",
      message: `${key} is not a valid key of a store`,
      field: "key",
    });
  };

  const swept = new Set<string>();

  /** Deletes what killed processes left in a folder of this store, once. */
  async function sweep(place: string): Promise<void> {
    if (swept.has(place)) return;
    swept.add(place);
    for (const name of (await unlessMissing(readdir(place))) ?? []) {
      if (!DRAFT.test(name)) continue;
      const draft = path.join(place, name);
      const written = await stat(draft).catch(() => undefined);
      if (written && Date.now() - written.mtimeMs > DRAFT_MS)
        await rm(draft, { force: true }).catch(() => {});
    }
  }

  /** Writes a value to a temporary file, and returns its name. */
  async function write(file: string, value: unknown): Promise<string> {
    await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
    await sweep(path.dirname(file));
    const draft = `${file}.${randomUUID()}.tmp`;
    const handle = await open(draft, "w", 0o600);
    try {
      await handle.writeFile(JSON.stringify(value));
      await handle.sync();
    } finally {
      await handle.close();
    }
    return draft;
  }

  return {
    get: async <T>(key: string) => {
      const reading = readFile(fileOf(key), "utf8").catch((error: NodeJS.ErrnoException) => {
        throw OF_THE_FILE.has(error.code ?? "") ? unreadable(key, error) : error;
      });
      const text = await unlessMissing(reading);
      if (text === undefined) return undefined;
      try {
        return JSON.parse(text) as T;
      } catch (error) {
        throw unreadable(key, error);
      }
    },
    put: async (key, value) => {
      const file = fileOf(key);
      await rename(await write(file, value), file);
      await syncFolder(path.dirname(file));
    },
    putNew: async (key, value) => {
      const file = fileOf(key);
      const draft = await write(file, value);
      try {
        await link(draft, file);
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
        throw error;
      } finally {
        await rm(draft, { force: true });
      }
      await syncFolder(path.dirname(file));
      return true;
    },
    delete: (key) => rm(fileOf(key), { force: true }),
    keys: async (name) => {
      await sweep(path.join(folder, name));
      const files = (await unlessMissing(readdir(path.join(folder, name)))) ?? [];
      return files
        .filter((file) => file.endsWith(".json"))
        .map((file) => `${name}/${file.slice(0, -".json".length)}`);
    },
  };
}

function unreadable(key: string, cause: unknown): TallystickError {
  return new TallystickError({
    code: "unreadable_value",
    message: `The file ${key}.json of a store is damaged, or this account may not read it.`,
    hint: "Give it back to this account, or put a copy in its place. If nothing needs it, move it away.",
    cause,
  });
}

/**
 * Makes a file's new name survive a loss of power. Systems that do not allow fsync on a folder do this in
 * another way.
 */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => undefined);
  await handle?.sync().catch(() => {});
  await handle?.close();
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
