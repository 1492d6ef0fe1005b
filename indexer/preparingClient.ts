import pg from "pg";

/** Asked this often, a statement is worth keeping. */
const OFTEN = 10;

/** How many are kept, by each connection: a plan takes some ten kilobytes. */
const MAX_KEPT = 100;

/** How many different ones are counted before the counting starts again. */
const COUNTED = 1_000;

/** Postgres, when a kept statement gives other columns since its tables or views were made anew. */
const STALE = "0A000";

type Config = { text: string; name?: string };
type Callback = (error: Error | null, result?: unknown) => void;
type Query = (config: Config, values: unknown, callback: Callback) => unknown;

/**
 * Clients for one pool that keep the statements asked most often prepared: Postgres reads and plans each of them once for a
 * connection, not every time. What is named already keeps its name. Statements that went stale are prepared anew, unnoticed.
 */
export function preparingClient(): typeof pg.Client {
  const counts = new Map<string, number>();
  const kept = new Map<string, string>();
  let generation = 0;

  const nameOf = ({ name, text }: Config): string | undefined => {
    const known = name ?? kept.get(text);
    if (known !== undefined || kept.size >= MAX_KEPT) return known;
    const count = (counts.get(text) ?? 0) + 1;
    if (counts.size >= COUNTED) counts.clear();
    counts.set(text, count);
    if (count >= OFTEN) kept.set(text, `kept ${kept.size}`);
    return undefined;
  };

  class PreparingClient extends pg.Client {}
  const query = pg.Client.prototype.query as unknown as Query;
  // What a pool sends has these three; anything else goes its way as it is.
  const prepare: Query = function (this: PreparingClient, config, values, callback) {
    const isPlain = typeof config?.text === "string" && typeof callback === "function";
    const name = isPlain ? nameOf(config) : undefined;
    if (name === undefined) return query.call(this, config, values, callback);
    const current = generation;
    const retry: Callback = (error, result) => {
      if ((error as { code?: string } | null)?.code !== STALE) return callback(error, result);
      if (generation === current) generation++;
      const { name: _, ...unnamed } = config;
      query.call(this, unnamed, values, callback);
    };
    return query.call(this, { ...config, name: `${name} ${current}` }, values, retry);
  };
  Object.assign(PreparingClient.prototype, { query: prepare });
  return PreparingClient;
}
