/** The address to listen at, and the folder of the app. */
export type PonderParameters = { hostname: string; port: number; root?: string; flags?: string[] };

/**
 * The arguments that make `process.execPath` run Ponder. Most objects of a backfill live for one batch only.
 * With more space for young objects than Node's 16 MB they are collected before they are moved to the old
 * space.
 */
export function ponderProgram(
  command: "start" | "serve",
  { hostname, port, root = "indexer", flags = [] }: PonderParameters,
): string[] {
  const ponder = ["--max-semi-space-size=32", "node_modules/ponder/dist/esm/bin/ponder.js", "--root", root];
  return [...ponder, ...flags, command, "--hostname", hostname, "--port", String(port)];
}

/**
 * Settings of Ponder's own. Its cache holds rows of all tables. Rows that are written once soon leave it, and
 * rows that every event reads fit even with millions of transfers.
 */
export const ponderSettings = {
  PONDER_TELEMETRY_DISABLED: "1",
  PONDER_CACHE_BYTES: String(384 * 2 ** 20),
};
