/**
 * The look-ups of rows that Ponder's cache could not answer, so that the node waited for the database. Unlike times, the count
 * does not depend on how busy the machine is.
 */
export type LookUps = {
  count: number;
  /** How long the node waited for them. */
  seconds: number;
  /** The tables with the most look-ups, and how many each had. */
  tables: [table: string, count: number][];
};

/** Reads the look-ups from the text of Ponder's `/metrics` (Prometheus text format 0.0.4). */
export function readLookUps(metrics: string): LookUps {
  let seconds = 0;
  const tables: [string, number][] = [];
  for (const line of metrics.split("\n")) {
    const [, name, labels = "", value] = /^(\w+)\{(.*)\} (\S+)$/.exec(line) ?? [];
    if (name === "ponder_indexing_cache_requests_total" && labels.includes('type="miss"')) {
      tables.push([/table="(\w+)"/.exec(labels)?.[1] ?? "?", Number(value)]);
    }
    if (name === "ponder_indexing_cache_query_duration_sum" && labels.includes('method="find"')) {
      seconds += Number(value) / 1_000;
    }
  }
  tables.sort(([, a], [, b]) => b - a);
  return { count: tables.reduce((sum, [, count]) => sum + count, 0), seconds, tables };
}
