import { Agent } from "node:http";
import { ask } from "../drive.ts";
import type { Query } from "../queries.ts";

/** How long after its due time each request was answered, in milliseconds, and the reasons of failed ones. */
export type Times = { times: number[]; failures: string[] };

/** The other clients. Each asks 30 times a second, about half of what its limit allows. */
const CLIENTS = 3;
export const PER_SECOND = 30 * CLIENTS;

/**
 * The clients that do not flood. They send requests at a steady rate, whether or not earlier ones were
 * answered. Every second request uses a new connection.
 */
export async function askSteadily(
  port: number,
  query: Query,
  { seconds, isProxied }: { seconds: number; isProxied: boolean },
): Promise<Times> {
  const kept = new Agent({ keepAlive: true, maxSockets: 256 });
  const fresh = new Agent({ keepAlive: false });
  const result: Times = { times: [], failures: [] };
  const began = performance.now();
  const running: Promise<void>[] = [];
  for (let n = 0; n < seconds * PER_SECOND; n++) {
    const due = began + (n * 1000) / PER_SECOND;
    const wait = due - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    const address = `${isProxied ? "10" : "127"}.0.0.${2 + (n % CLIENTS)}`;
    running.push(
      ask(port, n % 2 === 0 ? kept : fresh, query.next(), { address, isProxied }).then(
        () => void result.times.push(performance.now() - due),
        (error) => void result.failures.push(String(error)),
      ),
    );
  }
  await Promise.all(running);
  kept.destroy();
  fresh.destroy();
  return result;
}

export function percentile({ times }: Times, percent: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? Number.NaN;
}
