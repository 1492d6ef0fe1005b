import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Params } from "../protocol/records/params.ts";

const PROTOCOL = fileURLToPath(new URL("../protocol", import.meta.url));
const INDEXER = fileURLToPath(new URL("./src", import.meta.url));

/**
 * SHA-256 over what decides rows but lies outside the files Ponder hashes for its build id (config, schema and src/): the
 * sources of protocol/, and the first parameters, which name the ledgers that are followed. Where a ledger's bytes come
 * from is left out: the anchored root says what they must be.
 *
 * @returns 64 hex digits
 */
export function buildVersion(params: Params, folder = PROTOCOL): string {
  const hash = createHash("sha256");
  for (const file of sourcesIn(folder)) {
    // Lengths keep the end of one text and the beginning of the next apart.
    const text = readFileSync(path.join(folder, file));
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
  return buildVersion(params).slice(0, 8) + buildVersion(params, INDEXER).slice(0, 8);
}

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => file.split(path.sep).join("/"))
    .sort();
}
