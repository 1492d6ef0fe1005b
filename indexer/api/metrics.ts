import { Gauge, type Registry } from "prom-client";
import type { Operations } from "../operations.ts";

const SEGMENT = "tallystick_blocked_at_segment_seconds";
const TRANSFERS = "tallystick_blocked_at_transfers_seconds";
const RULING = "tallystick_sla_ruling_due_seconds";

/** The time limit for the database. Metrics are also scraped while it does not answer. */
const PATIENCE_MS = 1_000;

/**
 * Adds to Ponder's `/metrics` how long the indexer has been waiting for a ledger segment, and for transfers; 0 while
 * it does not wait. It also adds the deadline for the next ruling on an SLA. The values are read at each scrape. So
 * an API replica, which indexes nothing itself, gives the same values. A value that cannot be read is NaN.
 *
 * @param rulingDue unix seconds; null when nobody waits for a ruling
 */
export function registerMetrics(
  registry: Registry | undefined,
  operations: Pick<Operations, "readBlocked" | "readBlockedTransfers">,
  rulingDue: () => Promise<number | null>,
): void {
  if (registry === undefined || registry.getSingleMetric(SEGMENT) !== undefined) return;
  gauge(registry, {
    name: SEGMENT,
    help: "Seconds since the indexer began to wait for a ledger segment that is missing or contradicts its anchored root",
    read: async () => secondsBlocked(await operations.readBlocked()),
  });
  gauge(registry, {
    name: TRANSFERS,
    help: "Seconds since the indexer began to wait for transfers that no source gives, or that do not add up to a balance",
    read: async () => secondsBlocked(await operations.readBlockedTransfers()),
  });
  gauge(registry, {
    name: RULING,
    help: "When the earliest disputed breach of an SLA is upheld by itself, unix seconds; 0 while none waits for a ruling",
    read: async () => (await rulingDue()) ?? 0,
  });
}

function gauge(
  registry: Registry,
  { name, help, read }: { name: string; help: string; read: () => Promise<number> },
): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    async collect() {
      const unknown = new Promise<number>((resolve) => {
        setTimeout(resolve, PATIENCE_MS, Number.NaN).unref();
      });
      const known = read().catch(() => Number.NaN);
      this.set(await Promise.race([known, unknown]));
    },
  });
}

/** At least 1 while the indexer waits, so an alert on values above 0 does not miss the first second. */
function secondsBlocked(blocked: { since: number } | null): number {
  return blocked === null ? 0 : Math.max(1, Date.now() / 1000 - blocked.since);
}
