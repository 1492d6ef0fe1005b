import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { Agent } from "node:http";
import { availableParallelism, cpus, loadavg } from "node:os";
import { createInterface } from "node:readline";
import { nodeProgram } from "../../../../scripts/processes/nodeProgram.ts";
import { ask } from "../drive.ts";
import type { MarketSize } from "../loadMarket.ts";
import { type Query, queriesOf } from "../queries.ts";
import { type FloodKind, floodKinds } from "./kinds.ts";

export type FloodOptions = MarketSize & {
  /** How long each phase takes. */
  seconds: number;
  /** Quiet and flooded phases, in turn. */
  rounds: number;
  /** A part of the name of the kinds to measure. Default: all kinds. */
  kind?: string;
  /** Clients come through a proxy that the server trusts, not from addresses of their own. */
  proxied?: boolean;
  /** The server has no limits. */
  unlimited?: boolean;
};

/** The other client's figures: how long after its due time each request was answered, in milliseconds. */
type Times = { times: number[]; failures: string[] };

export type FloodFigures = {
  kind: string;
  quiet: Times;
  /** The figures while the flood uses up its burst, and afterwards. */
  first: Times;
  flooded: Times;
  /** The results of the flood's requests in a second, and the share of a core that the server used. */
  flood: { answered: number; refused: number; closed: number; cores: number };
};

/** The default limits of a node. */
const LIMITS = { points: 6_000, streams: 32, sockets: 256 };
/** Requests a second of the other client: about half of its limit. */
const PER_SECOND = 30;
const WARM_SECONDS = 2;
/** After this time a flood has used up its burst. */
const FIRST_SECONDS = 5;

/**
 * Measures what a flood by one client costs another client. For every kind, quiet and flooded phases take
 * turns, so that both are measured under the same conditions. Each flooded phase continues the one before. The
 * other client sends requests at a steady rate, every second one on a new connection.
 */
export async function measureFlood(
  url: string,
  options: FloodOptions,
  say: (text: string) => void,
): Promise<FloodFigures[]> {
  const { seconds, rounds, proxied = false, unlimited = false } = options;
  const [query] = queriesOf(options).filter(({ name }) => name.startsWith("agent"));
  if (query === undefined) throw new Error("the query of the other client is gone");
  const figures: FloodFigures[] = [];
  for (const [n, kind] of floodKinds(options).entries()) {
    if (options.kind !== undefined && !kind.name.includes(options.kind)) continue;
    const server = await startServer(url, { proxied, unlimited });
    const other = (duration: number) =>
      askSteadily(server.port, query, duration, proxied ? "10.0.0.1" : undefined);
    const of: FloodFigures = {
      kind: kind.name,
      quiet: { times: [], failures: [] },
      first: { times: [], failures: [] },
      flooded: { times: [], failures: [] },
      flood: { answered: 0, refused: 0, closed: 0, cores: 0 },
    };
    try {
      const network = `${proxied ? "10.0" : "127.0"}.${n + 1}`;
      // The first requests of a process are slow, whoever sends them, so they come before the measurement.
      const early = await startFlooder(server.port, kind, `${network}.2`, proxied);
      early.begin();
      await other(WARM_SECONDS);
      await early.stop();
      await other(WARM_SECONDS);
      const address = `${network}.1`;
      const flooder = await startFlooder(server.port, kind, address, proxied);
      try {
        add(of.quiet, await other(seconds));
        flooder.begin();
        add(of.first, await other(FIRST_SECONDS));
        for (let round = 0; round < rounds; round++) {
          const [before, cpuBefore, from] = [flooder.counts(), await server.cpuSeconds(), performance.now()];
          add(of.flooded, await other(seconds));
          const [after, cpuAfter] = [flooder.counts(), await server.cpuSeconds()];
          const took = ((performance.now() - from) / 1000) * rounds;
          for (const key of ["answered", "refused", "closed"] as const)
            of.flood[key] += (after[key] - before[key]) / took;
          of.flood.cores += (cpuAfter - cpuBefore) / took;
          flooder.pause();
          await settle();
          add(of.quiet, await other(seconds));
          flooder.goOn();
          await settle();
        }
      } finally {
        await flooder.stop();
      }
    } finally {
      await server.stop();
    }
    say(lineOf(of));
    figures.push(of);
  }
  return figures;
}

/** Sends requests at a steady rate, whether or not earlier ones were answered. */
async function askSteadily(
  port: number,
  query: Query,
  seconds: number,
  client: string | undefined,
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
    const from = performance.now();
    running.push(
      ask(port, n % 2 === 0 ? kept : fresh, query.next(), client).then(
        () => void result.times.push(performance.now() - from),
        (error) => void result.failures.push(String(error)),
      ),
    );
  }
  await Promise.all(running);
  kept.destroy();
  fresh.destroy();
  return result;
}

async function startServer(url: string, { proxied, unlimited }: { proxied: boolean; unlimited: boolean }) {
  const limits = unlimited ? { points: 0, streams: 0, sockets: 0 } : LIMITS;
  const args = nodeProgram("tools/bench/api/apiServer.ts", [
    url,
    JSON.stringify(limits),
    proxied ? "1" : "0",
  ]);
  const server = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: server.stdout });
  const [line] = (await once(lines, "line")) as [string];
  const { port } = JSON.parse(line) as { port: number };
  return {
    port,
    cpuSeconds: async () => {
      server.stdin.write("\n");
      return Number((await once(lines, "line"))[0]);
    },
    stop: () => end(server),
  };
}

async function startFlooder(port: number, kind: FloodKind, address: string, proxied: boolean) {
  const args = [String(port), proxied ? "127.0.0.1" : address, proxied ? address : "", JSON.stringify(kind)];
  const program = nodeProgram("tools/bench/api/flood/flooder.ts", args);
  const flooder = spawn(process.execPath, program, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: flooder.stdout });
  await once(lines, "line");
  let last = { answered: 0, refused: 0, closed: 0 };
  lines.on("line", (line) => {
    last = JSON.parse(line);
  });
  return {
    begin: () => void flooder.stdin.write("go\n"),
    counts: () => last,
    pause: () => void flooder.kill("SIGSTOP"),
    goOn: () => void flooder.kill("SIGCONT"),
    stop: () => end(flooder),
  };
}

/** Waits until the requests of the previous phase have ended. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 500));
}

async function end(child: ChildProcess): Promise<void> {
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

function add(sum: Times, { times, failures }: Times): void {
  sum.times.push(...times);
  sum.failures.push(...failures);
}

function percentile({ times }: Times, percent: number): number {
  const sorted = times.toSorted((a, b) => a - b);
  return sorted[Math.ceil((sorted.length * percent) / 100) - 1] ?? Number.NaN;
}

function lineOf({ kind, quiet, first, flooded, flood }: FloodFigures): string {
  const ms = (of: Times) => [50, 95, 99].map((it) => percentile(of, it).toFixed(1)).join("/");
  const ratio = (of: Times) =>
    [95, 99].map((it) => (percentile(of, it) / percentile(quiet, it)).toFixed(2)).join("/");
  const failed = [quiet, first, flooded].map(({ failures }) => failures.length).join("+");
  const counts = [flood.answered, flood.refused, flood.closed].map((it) => it.toFixed(0)).join("/");
  return `| ${kind} | ${ms(quiet)} | ${ms(first)} | ${ratio(first)} | ${ms(flooded)} | ${ratio(flooded)} | ${counts} | ${flood.cores.toFixed(2)} | ${failed} |`;
}

/** A table in Markdown, as in the documents. */
export function reportFlood(
  figures: FloodFigures[],
  { seconds, rounds, agents, hires }: FloodOptions,
): string {
  const load = loadavg()
    .map((it) => it.toFixed(1))
    .join(" ");
  return [
    `${availableParallelism()} × ${cpus()[0]?.model}, Node ${process.version}, load average at the end ${load}; ${agents} agents, ${hires} hires`,
    `${rounds} × ${seconds} s quiet and flooded in turn, ${PER_SECOND} requests a second by the other client; milliseconds, p50/p95/p99; × of p95/p99`,
    "",
    `| one client floods with | quiet | its first ${FIRST_SECONDS} s | × | after | × | answered/refused/closed a second | cores | failed |`,
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
    ...figures.map(lineOf),
    "",
  ].join("\n");
}
