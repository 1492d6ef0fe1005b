import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { gzipSync } from "node:zlib";

/** A file of the portal in the form in which it is sent. */
export type PortalFile = { bytes: Uint8Array; gzip: Uint8Array | null; type: string; tag: string };

const TYPES: { [ending: string]: string } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".json": "application/json",
  ".wasm": "application/wasm",
};

/**
 * Reads the built portal into memory, a few hundred kilobytes, by the paths of its files. So a request's text is
 * never used as a path on the disk. A new build does not change what a running node serves.
 *
 * @returns null if it is not built
 */
export function readPortal(folder: string): ReadonlyMap<string, PortalFile> | null {
  const files = new Map<string, PortalFile>();
  for (const name of namesBelow(folder)) {
    const type = TYPES[path.extname(name)];
    if (type === undefined) continue;
    const bytes = readFileSync(path.join(folder, name));
    const gzip = gzipSync(bytes, { level: 9 });
    const tag = `"${createHash("sha256").update(bytes).digest("base64url").slice(0, 27)}"`;
    files.set(name, { bytes, gzip: gzip.length < bytes.length ? gzip : null, type, tag });
  }
  return files.has("index.html") ? files : null;
}

function namesBelow(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((it) => it.isFile())
      .map((it) => path.relative(folder, path.join(it.parentPath, it.name)).replaceAll("\\", "/"));
  } catch {
    return [];
  }
}
