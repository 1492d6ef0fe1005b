import pg from "pg";

/** After so many calls a statement is kept prepared. */
const OFTEN = 10;

/** The most prepared statements of one connection that are named here. A plan takes some ten kilobytes. */
const MAX_KEPT = 100;

/** The most statements with names of their own that are kept prepared. */
const MAX_NAMED = 200;

/** The highest number of different statements that are counted. Then the counts start again. */
const COUNTED = 1_000;

/**
 * The error of Postgres when a prepared statement has other columns now, because its tables or views were
 * made again.
 */
const STALE = "0A000";

type Config = { text: string; name?: string };
type Callback = (error: Error | null, result?: unknown) => void;
type Query = (config: Config, values: unknown, callback: Callback) => unknown;

/**
 * A client class for one pool that keeps frequent statements prepared. Postgres then parses and plans each of
 * them once for a connection, and not every time. A statement that already has a name keeps it, up to {@link MAX_NAMED}
 * names. A statement that no longer fits its tables is prepared again automatically.
 */
export function preparingClient(): typeof pg.Client {
  const counts = new Map<string, number>();
  const kept = new Map<string, string>();
  const named = new Set<string>();
  let generation = 0;

  const nameOf = ({ name, text }: Config): string | undefined => {
    if (name !== undefined) {
      if (named.size < MAX_NAMED) named.add(name);
      return named.has(name) ? name : undefined;
    }
    const known = kept.get(text);
    if (known !== undefined || kept.size >= MAX_KEPT) return known;
    const count = (counts.get(text) ?? 0) + 1;
    if (counts.size >= COUNTED) counts.clear();
    counts.set(text, count);
    if (count >= OFTEN) kept.set(text, `kept ${kept.size}`);
    return undefined;
  };

  class PreparingClient extends pg.Client {}
  const query = pg.Client.prototype.query as unknown as Query;
  // The queries of a pool have these three arguments. All other calls are passed on unchanged.
  const prepare: Query = function (this: PreparingClient, config, values, callback) {
    const isPlain = typeof config?.text === "string" && typeof callback === "function";
    const name = isPlain ? nameOf(config) : undefined;
    if (!isPlain) return query.call(this, config, values, callback);
    const { name: own, ...unnamed } = config;
    if (name === undefined) return query.call(this, own === undefined ? config : unnamed, values, callback);
    const current = generation;
    const retry: Callback = (error, result) => {
      if ((error as { code?: string } | null)?.code !== STALE) return callback(error, result);
      if (generation === current) generation++;
      query.call(this, unnamed, values, callback);
    };
    return query.call(this, { ...config, name: `${name} ${current}` }, values, retry);
  };
  Object.assign(PreparingClient.prototype, { query: prepare });
  return PreparingClient;
}
