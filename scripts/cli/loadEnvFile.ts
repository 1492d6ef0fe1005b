import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseEnv } from "node:util";
import { repositoryRoot } from "../repositoryRoot.ts";

/**
 * Reads these settings from `.env` in the checkout, if there is one. An empty setting counts as absent, and
 * variables of the shell have priority. Nothing else of the file gets into this process, because the file has
 * the keys of all processes of a node.
 */
export function loadEnvFile(names: readonly string[], file = path.join(repositoryRoot, ".env")): void {
  if (names.length === 0 || !existsSync(file)) return;
  const found = parseEnv(readFileSync(file, "utf8"));
  for (const name of names) {
    const value = found[name];
    if (value && process.env[name] === undefined) process.env[name] = value;
  }
}
