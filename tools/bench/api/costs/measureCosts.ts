import { readFile } from "node:fs/promises";
import { Agent } from "node:http";
import pg from "pg";
import { ask } from "../drive.ts";
import { startServer } from "../flood/processes.ts";
import type { MarketSize } from "../loadMarket.ts";
import { type Ask, asks } from "./asks.ts";

/** The cost of one request: microseconds of processor time, and the points that its client pays. */
export type Cost = { name: string; points: number; nodeUs: number; postgresUs: number };

const WARM = 8;
const REQUESTS = 40;

/**
 * Measures what requests cost, one after another: points, and processor time of the node and of Postgres. Processor time
 * does not depend on other work of the machine. Postgres's time comes from `/proc`, which only Linux has.
 */
export async function measureCosts(
  url: string,
  size: MarketSize & { kinds?: string[] | undefined },
  onCost: (cost: Cost) => void,
): Promise<Cost[]> {
  const pool = new pg.Pool({ connectionString: url, max: 1 });
  const server = await startServer(url, { isProxied: false, limits: "counted" });
  const agent = new Agent({ keepAlive: true });
  const costs: Cost[] = [];
  try {
    const postgresSeconds = postgresClock(pool);
    const used = async () => ({ ...(await server.used()), postgres: await postgresSeconds() });
    const chosen = asks(size).filter(
      ({ name }) => size.kinds === undefined || size.kinds.some((kind) => name.includes(kind)),
    );
    // The first requests of a process are slow, whatever they ask.
    for (let n = 0; n < WARM; n++) for (const one of chosen) await answerOf(server.port, agent, one);
    for (const one of chosen) {
      for (let n = 0; n < WARM; n++) await answerOf(server.port, agent, one);
      const before = await used();
      for (let n = 0; n < REQUESTS; n++) await answerOf(server.port, agent, one);
      const after = await used();
      const each = (name: "cpuSeconds" | "points" | "postgres") => (after[name] - before[name]) / REQUESTS;
      const cost = {
        name: one.name,
        points: each("points"),
        nodeUs: each("cpuSeconds") * 1e6,
        postgresUs: each("postgres") * 1e6,
      };
      onCost(cost);
      costs.push(cost);
    }
    return costs.toSorted((a, b) => perPoint(b) - perPoint(a));
  } finally {
    agent.destroy();
    await server.stop();
    await pool.end();
  }
}

/** Microseconds of processor time for a point. */
export function perPoint({ points, nodeUs, postgresUs }: Cost): number {
  return (nodeUs + postgresUs) / points;
}

/** Sends one request and reads its answer. The status 404 is accepted, because some requests name no real thing. */
async function answerOf(port: number, agent: Agent, { path, body }: Ask): Promise<void> {
  try {
    await ask(port, agent, { path, body });
  } catch (error) {
    if (!/^Error: 404 /.test(String(error))) throw error;
  }
}

/** Reads the processor time of all connections of the API, also of those that were closed because they were idle. */
function postgresClock(pool: pg.Pool): () => Promise<number> {
  const seconds = new Map<number, number>();
  return async () => {
    const { rows } = await pool.query<{ pid: number }>(
      "SELECT pid FROM pg_stat_activity WHERE application_name = 'public_api'",
    );
    for (const { pid } of rows) {
      const [nanoseconds] = (await readFile(`/proc/${pid}/schedstat`, "utf8")).split(" ");
      seconds.set(pid, Number(nanoseconds) / 1e9);
    }
    return [...seconds.values()].reduce((sum, it) => sum + it, 0);
  };
}
