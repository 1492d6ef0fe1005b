import { createHash, type Hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { IndexerConfig } from "./config.ts";

/** What of the configuration decides rows. */
type Decides = Pick<IndexerConfig, "params" | "registries">;

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** What decides rows: the rooms that handlers run, and what starts them. */
const DECIDE_ROWS = ["packages/protocol", "packages/derive", "packages/runtime", "indexer"];
/** Makes answers out of rows, and changes none. */
const API = "indexer/api";

/**
 * SHA-256 over what decides rows: the sources of protocol, derive, runtime and indexer without its API, the first parameters,
 * which name the ledgers that are followed, and the registries of ERC-8004. Ponder's own build id sees config, schema and `src/` alone. Where a ledger's bytes come
 * from is left out: the anchored root says what they must be.
 *
 * @returns 64 hex digits
 */
export function buildVersion({ params, registries }: Decides, root = ROOT): string {
  return hashOf(root, DECIDE_ROWS, (file) => !file.startsWith(`${API}/`))
    .update(JSON.stringify([params, registries]))
    .digest("hex");
}

/**
 * Of all that makes answers out of rows: equal on every replica of one build, for the tags of cached answers.
 *
 * @returns 16 hex digits
 */
export function apiVersion(config: Decides, root = ROOT): string {
  return (
    buildVersion(config, root).slice(0, 8) +
    hashOf(root, [API], () => true)
      .digest("hex")
      .slice(0, 8)
  );
}

function hashOf(root: string, folders: string[], counts: (file: string) => boolean): Hash {
  const hash = createHash("sha256");
  for (const file of folders.flatMap((folder) => sourcesIn(root, folder)).filter(counts)) {
    // Lengths keep the end of one text and the beginning of the next apart.
    const text = readFileSync(path.join(root, file));
    hash.update(`${file}\0${text.length}\0`).update(text);
  }
  return hash;
}

function sourcesIn(root: string, folder: string): string[] {
  return readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => `${folder}/${file.split(path.sep).join("/")}`)
    .sort();
}
