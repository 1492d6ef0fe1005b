/** Where it listens, and which app it is. */
export type PonderParameters = { hostname: string; port: number; root?: string; flags?: string[] };

/**
 * The arguments that make `process.execPath` run Ponder. Most of what a backfill makes lives for one batch only: with more
 * room for young objects than Node's 16 MB, they are gone before anybody moves them to the old ones.
 */
export function ponderProgram(
  command: "start" | "serve",
  { hostname, port, root = "indexer", flags = [] }: PonderParameters,
): string[] {
  const ponder = ["--max-semi-space-size=32", "node_modules/ponder/dist/esm/bin/ponder.js", "--root", root];
  return [...ponder, ...flags, command, "--hostname", hostname, "--port", String(port)];
}

/**
 * Settings of Ponder's own. Its cache holds whole tables: what is written once soon leaves it, and what every event reads
 * has room enough for millions of transfers.
 */
export const ponderSettings = {
  PONDER_TELEMETRY_DISABLED: "1",
  PONDER_CACHE_BYTES: String(384 * 2 ** 20),
};
