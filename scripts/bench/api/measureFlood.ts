import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { nodeProgram } from "../../processes/nodeProgram.ts";
import { hammer, type Latencies, offerRate } from "./drive.ts";
import type { MarketSize } from "./loadMarket.ts";
import { queriesOf } from "./queries.ts";

export type Flood = {
  /** Of a client that asks ten times a second, alone. */
  alone: Latencies;
  /** The same while another client asks on 64 connections as fast as it is answered. */
  flooded: Latencies;
  /** The same flood at a server without limits. */
  unlimited: Latencies;
  /** How many of the flood's requests were answered, and refused, a second. */
  flood: { served: number; refused: number };
};

const CONNECTIONS = 64;
const PER_SECOND = 10;

/** What a flood by one client costs another, with the limits that a node has unless told otherwise. */
export async function measureFlood(
  url: string,
  options: MarketSize & { seconds: number },
  say: (text: string) => void,
): Promise<Flood> {
  const { seconds } = options;
  const [query] = queriesOf(options).filter(({ name }) => name.startsWith("agent"));
  if (query === undefined) throw new Error("the query of the flood is gone");
  const on = async <T>(points: number, work: (port: number) => Promise<T>): Promise<T> => {
    const args = nodeProgram("scripts/bench/api/apiServer.ts", [url, String(points)]);
    const server = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [line] = (await once(createInterface({ input: server.stdout }), "line")) as [string];
      const { port } = JSON.parse(line) as { port: number };
      await offerRate(port, query, { perSecond: PER_SECOND, seconds: 3, client: "10.0.0.9" });
      return await work(port);
    } finally {
      server.kill();
    }
  };
  const quiet = { perSecond: PER_SECOND, seconds, client: "10.0.0.1" };
  const loud = { connections: CONNECTIONS, seconds: seconds + 1, client: "10.0.0.2" };
  say("with limits …");
  const { alone, flooded, attack } = await on(6_000, async (port) => {
    const alone = await offerRate(port, query, quiet);
    const [attack, flooded] = await Promise.all([hammer(port, query, loud), offerRate(port, query, quiet)]);
    return { alone, flooded, attack };
  });
  say("without …");
  const unlimited = await on(0, async (port) => {
    const [, it] = await Promise.all([hammer(port, query, loud), offerRate(port, query, quiet)]);
    return it;
  });
  const refused = attack.failures.length / loud.seconds;
  return { alone, flooded, unlimited, flood: { served: attack.requests / loud.seconds, refused } };
}

export function reportFlood({ alone, flooded, unlimited, flood }: Flood): string {
  const line = (name: string, { p50, p99, requests, failures }: Latencies) =>
    `${name.padEnd(34)} p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms, ${(p99 / alone.p99).toFixed(2)} × alone; ${requests} answered, ${failures.length} failed`;
  return [
    line("alone", alone),
    line("beside a flood", flooded),
    line("beside a flood, no limits", unlimited),
    `the flood: ${flood.served.toFixed(0)} answered and ${flood.refused.toFixed(0)} refused a second, on ${CONNECTIONS} connections`,
    "",
  ].join("\n");
}
