import { existsSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "../repositoryRoot.ts";

/** Takes settings from `.env` in the checkout, if there is one. What the shell has set stays. */
export function loadEnvFile(file = path.join(repositoryRoot, ".env")): void {
  if (existsSync(file)) process.loadEnvFile(file);
}
