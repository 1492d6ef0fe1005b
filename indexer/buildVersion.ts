import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Params } from "../protocol/records/params.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const SHARED = ["protocol", "runtime"];

/**
 * SHA-256 over what decides rows but lies outside the files Ponder hashes for its build id (config, schema and src/): the
 * sources of protocol/ and runtime/, and the first parameters, which name the ledgers that are followed. Where a ledger's bytes come
 * from is left out: the anchored root says what they must be.
 *
 * @returns 64 hex digits
 */
export function buildVersion(params: Params, root = ROOT, folders = SHARED): string {
  const hash = createHash("sha256");
  for (const file of folders.flatMap((folder) => sourcesIn(root, folder))) {
    // Lengths keep the end of one text and the beginning of the next apart.
    const text = readFileSync(path.join(root, file));
    hash.update(`${file}\0${text.length}\0`).update(text);
  }
  return hash.update(JSON.stringify(params)).digest("hex");
}

/**
 * Of all that makes answers out of rows: equal on every replica of one build, for the tags of cached answers.
 *
 * @returns 16 hex digits
 */
export function apiVersion(params: Params): string {
  return buildVersion(params).slice(0, 8) + buildVersion(params, ROOT, ["indexer/src"]).slice(0, 8);
}

function sourcesIn(root: string, folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file.split(path.sep).join("/")}`)
    .sort();
}
