import { Gauge, type Registry } from "prom-client";
import type { Operations } from "../operations.ts";

const SEGMENT = "tallystick_blocked_at_segment_seconds";
const TRANSFERS = "tallystick_blocked_at_transfers_seconds";

/** Metrics are scraped also while the database does not answer. */
const PATIENCE_MS = 1_000;

/**
 * Adds to Ponder's `/metrics` how long the indexer has been waiting for a ledger segment, or for transfers: 0 when it is not. Read when it
 * is scraped, so that an API replica, which indexes nothing itself, tells the same.
 */
export function registerMetrics(
  registry: Registry | undefined,
  operations: Pick<Operations, "readBlocked" | "readBlockedTransfers">,
): void {
  if (registry === undefined || registry.getSingleMetric(SEGMENT) !== undefined) return;
  secondsSince(registry, {
    name: SEGMENT,
    help: "Seconds since the indexer began to wait for a ledger segment that is missing or contradicts its anchored root",
    read: operations.readBlocked,
  });
  secondsSince(registry, {
    name: TRANSFERS,
    help: "Seconds since the indexer began to wait for transfers that no source tells or that do not add up to a balance",
    read: operations.readBlockedTransfers,
  });
}

function secondsSince(
  registry: Registry,
  { name, help, read }: { name: string; help: string; read: () => Promise<{ since: number } | null> },
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const unknown = new Promise<number>((resolve) => {
        setTimeout(resolve, PATIENCE_MS, Number.NaN).unref();
      });
      const known = read().then(secondsBlocked, () => Number.NaN);
      this.set(await Promise.race([known, unknown]));
    },
  });
}

/** At least 1 while it waits, so that an alert on anything above 0 cannot miss the first second. */
function secondsBlocked(blocked: { since: number } | null): number {
  return blocked === null ? 0 : Math.max(1, Date.now() / 1000 - blocked.since);
}
