import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/**
 * The contents of a disk at one moment: every folder (undefined) and file under a root, by its path below the root.
 */
export type DiskImage = ReadonlyMap<string, Buffer | undefined>;

/** SQLite's shared-memory index. It is derived from the write-ahead log, and changes when somebody reads. */
const SHARED_MEMORY = /-shm$/;

/** Reads everything under a folder. */
export function takeImage(root: string): DiskImage {
  const image = new Map<string, Buffer | undefined>();
  const read = (below: string): void => {
    for (const entry of readdirSync(path.join(root, below), { withFileTypes: true })) {
      const at = path.join(below, entry.name);
      if (SHARED_MEMORY.test(at)) continue;
      image.set(at, entry.isDirectory() ? undefined : readFileSync(path.join(root, at)));
      if (entry.isDirectory()) read(at);
    }
  };
  read("");
  return image;
}

/** Writes an image into an empty folder. */
export function putImage(image: DiskImage, root: string): void {
  for (const [at, content] of image) {
    if (content === undefined) mkdirSync(path.join(root, at), { recursive: true });
    else writeFileSync(path.join(root, at), content);
  }
}

/** The paths at which two images differ. */
export function changedPaths(before: DiskImage, after: DiskImage): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((at) => {
    const [old, now] = [before.get(at), after.get(at)];
    if (before.has(at) !== after.has(at)) return true;
    return old !== now && !(old && now && old.equals(now));
  });
}

/** A name of an image. Equal images have the same name. */
export function nameOf(image: DiskImage): string {
  const hash = createHash("sha256");
  for (const at of [...image.keys()].sort()) {
    const content = image.get(at);
    hash.update(`${at}\0${content === undefined ? "folder" : content.length}\0`);
    if (content) hash.update(content);
  }
  return hash.digest("hex");
}
