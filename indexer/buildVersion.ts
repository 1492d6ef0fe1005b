import { createHash, type Hash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { IndexerConfig } from "./config.ts";

/** The settings that affect rows. */
type Decides = Pick<IndexerConfig, "params" | "registries" | "token" | "transfers">;

const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** The sources that affect rows: the folders with the code of handlers, and the files that start them. */
const DECIDE_ROWS = ["packages/protocol", "packages/derive", "packages/runtime", "indexer"];
/** The sources that make answers from rows. They change no row. */
const API = "indexer/api";

/**
 * SHA-256 over everything that affects rows. These are the sources of protocol, derive, runtime and indexer, without
 * the indexer's API. The registries of ERC-8004 and the token with its first block are included too, and so are the
 * first parameters, which name the followed ledgers. Ponder's own build id covers only config, schema and `src/`, and a
 * relevant log's token is not in that config. The source of a ledger's bytes is not included, because the anchored root
 * fixes these bytes.
 *
 * @returns 64 hex digits
 */
export function buildVersion({ params, registries, token, transfers }: Decides, root = ROOT): string {
  const firstBlock = transfers.form === "relevant" ? transfers.firstBlock : null;
  return hashOf(root, DECIDE_ROWS, (file) => !file.startsWith(`${API}/`))
    .update(JSON.stringify([params, registries, token, firstBlock]))
    .digest("hex");
}

/**
 * A hash over everything that makes answers from rows, for the tags of cached answers. It is equal on every
 * replica of one build.
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
    // The length before each text marks its end.
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
