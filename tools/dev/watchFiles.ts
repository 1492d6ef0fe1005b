import { type FSWatcher, watch } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { TallystickError } from "tallystick-protocol/errors";

export type FileWatch = {
  /**
   * The files that changed since the last call, sorted by name. If none changed, it waits for the first
   * change.
   *
   * @throws the signal's reason when aborted; TallystickError `cannot_watch`
   */
  next: (signal: AbortSignal) => Promise<string[]>;
  close: () => void;
};

/**
 * Changes within this many milliseconds are one change, because editors write in several steps and programs
 * write several files.
 */
const TOGETHER_MS = 50;

/** Temporary files that editors and programs make beside the files that they write. */
const PASSING = /^\.|~$|\.(?:swp|swx|tmp|new)$|^4913$/;

/**
 * Watches files, and everything below folders. It watches folders, not files, because most editors replace a
 * file by a new file of the same name.
 *
 * @throws TallystickError `cannot_watch`
 */
export async function watchFiles(paths: readonly string[]): Promise<FileWatch> {
  const watchers = new Map<string, FSWatcher>();
  const changed = new Set<string>();
  let failure: TallystickError | undefined;
  let wake = Promise.withResolvers<void>();

  const note = (file: string) => {
    changed.add(file);
    wake.resolve();
  };
  const fail = (place: string, cause: unknown) => {
    failure = cannotWatch(place, cause);
    wake.resolve();
  };

  function open(folder: string, counts: (name: string) => boolean, onFolder?: (folder: string) => void) {
    if (watchers.has(folder)) return;
    const watcher = watch(folder, (event, name) => {
      if (name === null || !counts(name)) return;
      const file = path.join(folder, name);
      note(file);
      if (event === "rename") onFolder?.(file);
    });
    watcher.on("error", (cause) => {
      watcher.close();
      watchers.delete(folder);
      // The folder was removed, so it needs no watch.
      if ((cause as NodeJS.ErrnoException).code !== "ENOENT") fail(folder, cause);
    });
    watchers.set(folder, watcher);
  }

  /**
   * @param isNew the folder is new, and its files may be older than its watch, so all of them count as
   * changed
   */
  async function openTree(folder: string, isNew = false): Promise<void> {
    open(
      folder,
      (name) => !PASSING.test(name),
      (file) => void openIfFolder(file),
    );
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.name === "node_modules" || PASSING.test(entry.name)) continue;
      const inside = path.join(folder, entry.name);
      if (entry.isDirectory()) await openTree(inside, isNew);
      else if (isNew) note(inside);
    }
  }

  async function openIfFolder(file: string): Promise<void> {
    try {
      // A new folder may replace one of the same name. The old watches see nothing of it, so they are closed.
      for (const [folder, watcher] of watchers) {
        if (folder !== file && !folder.startsWith(file + path.sep)) continue;
        watcher.close();
        watchers.delete(folder);
      }
      if ((await stat(file)).isDirectory()) await openTree(file, true);
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== "ENOENT") fail(file, cause);
    }
  }

  for (const place of paths) {
    try {
      if ((await stat(place)).isDirectory()) await openTree(place);
      else open(path.dirname(place), (name) => name === path.basename(place));
    } catch (cause) {
      for (const watcher of watchers.values()) watcher.close();
      throw cannotWatch(place, cause);
    }
  }

  return {
    next: async (signal) => {
      const stopped = Promise.withResolvers<never>();
      stopped.promise.catch(() => {});
      const stop = () => stopped.reject(signal.reason);
      signal.addEventListener("abort", stop, { once: true });
      try {
        signal.throwIfAborted();
        if (changed.size === 0 && failure === undefined) await Promise.race([wake.promise, stopped.promise]);
        if (failure !== undefined) throw failure;
        for (let before = 0; before !== changed.size; ) {
          before = changed.size;
          await Promise.race([sleep(TOGETHER_MS), stopped.promise]);
        }
        const files = [...changed].sort();
        changed.clear();
        wake = Promise.withResolvers<void>();
        return files;
      } finally {
        signal.removeEventListener("abort", stop);
      }
    },
    close: () => {
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

function cannotWatch(place: string, cause: unknown): TallystickError {
  return new TallystickError({
    code: "cannot_watch",
    message: `${place} cannot be watched for changes: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: "Check that it exists. On Linux, fs.inotify.max_user_watches limits how much can be watched.",
    cause,
  });
}
