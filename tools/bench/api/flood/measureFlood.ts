import type { MarketSize } from "../loadMarket.ts";
import { type Query, queriesOf } from "../queries.ts";
import { type FloodKind, floodKinds } from "./kinds.ts";
import { askSteadily, type Times } from "./otherClients.ts";
import { type FloodCounts, startFlooder, startServer, startSink } from "./processes.ts";
import { startBalancer } from "./startBalancer.ts";

export type FloodOptions = MarketSize & {
  /** How long each phase takes. */
  seconds: number;
  /** The number of rounds. Each has a flooded, a quiet and a control phase. */
  rounds: number;
  /** Parts of the names of the kinds to measure. Default: all kinds. */
  kinds?: string[];
  /** Whether clients come through a proxy that the server trusts, and not from addresses of their own. */
  proxied?: boolean;
  /** Whether this proxy is a real nginx with the settings of `deploy/nginx.conf`. */
  balancer?: boolean;
  /** Whether the server has no limits. */
  unlimited?: boolean;
};

/** The other clients' figures in three phases: with the flood, without it, and while it goes to a sink. */
export type FloodRound = { flooded: Times; quiet: Times; control: Times };

export type FloodFigures = {
  kind: string;
  /** The figures before the flood, and while the flood uses up its burst. */
  before: Times;
  first: Times;
  rounds: FloodRound[];
  /** The results of the flood's requests in a second. */
  flood: FloodCounts;
  /** Processor time that the server uses because of the flood, in cores. */
  cores: number;
};

const WARM_SECONDS = 2;
/** The length of the phase that begins with the flood's first request. */
export const FIRST_SECONDS = 5;
/** The longest wait until a flood that was paused has spent the points that came back during the pause. */
const SPENT_SECONDS = 10;

/**
 * Measures what a flood by one client costs other clients. For every kind, flooded, quiet and control phases
 * take turns, so that all are measured under the same conditions. The same flood goes on in each flooded phase.
 * In a control phase the flood goes, at the rate of the flooded phase, to a process that does nothing for it.
 *
 * @param onKind called after each kind
 */
export async function measureFlood(
  url: string,
  options: FloodOptions,
  onKind: (figures: FloodFigures) => void,
): Promise<FloodFigures[]> {
  const [query] = queriesOf(options).filter(({ name }) => name.startsWith("agent"));
  if (query === undefined) throw new Error("the query of the other clients is gone");
  const figures: FloodFigures[] = [];
  for (const [n, kind] of floodKinds(options).entries()) {
    if (options.kinds?.some((text) => kind.name.includes(text)) === false) continue;
    const of = await measureKind(url, kind, { ...options, query, network: n + 1 });
    onKind(of);
    figures.push(of);
  }
  return figures;
}

async function measureKind(
  url: string,
  kind: FloodKind,
  given: FloodOptions & { query: Query; network: number },
): Promise<FloodFigures> {
  const { seconds, rounds, query, network, proxied = false, balancer = false, unlimited = false } = given;
  // nginx takes the address of each client from its connection. Without nginx the clients write the proxy's header.
  const isProxied = proxied && !balancer && !kind.isDirect;
  const server = await startServer(url, {
    isProxied: isProxied || balancer,
    limits: unlimited ? "none" : "default",
  });
  const cpuSeconds = async () => (await server.used()).cpuSeconds;
  const sink = await startSink(kind);
  const addressOf = (host: number) => `${isProxied ? "10" : "127"}.1.${network}.${host}`;
  const stopped: { stop: () => Promise<void> }[] = [server, sink];
  let { port: entrance } = server;
  const others = (duration: number) => askSteadily(entrance, query, { seconds: duration, isProxied });
  const open = async (port: number, host: number) => {
    const flooder = await startFlooder(port, kind, addressOf(host), isProxied);
    stopped.push(flooder);
    return flooder;
  };
  try {
    if (balancer) {
      const nginx = await startBalancer(server.port);
      stopped.push(nginx);
      entrance = nginx.port;
    }
    // The first requests of a process are slow, whoever sends them, so they come before the measurement.
    const early = await open(entrance, 2);
    early.run();
    await others(WARM_SECONDS);
    early.pause();
    await others(WARM_SECONDS);
    const [flooder, control] = [await open(entrance, 1), await open(sink.port, 3)];
    const before = await others(seconds);
    flooder.run();
    const first = await others(FIRST_SECONDS);
    const flood: FloodCounts = { answered: 0, refused: 0, closed: 0 };
    const figures: FloodFigures = { kind: kind.name, before, first, rounds: [], flood, cores: 0 };
    for (let round = 0; round < rounds; round++) {
      await spent(flooder, kind.connections, others);
      const [counts, from, cpu] = [flooder.counts(), performance.now(), await cpuSeconds()];
      const flooded = await others(seconds);
      const floodedCores = ((await cpuSeconds()) - cpu) / ((performance.now() - from) / 1_000);
      const rates = ratesOf(counts, flooder.counts(), (performance.now() - from) / 1_000);
      flooder.pause();
      await settle();
      const [quietFrom, quietCpu] = [performance.now(), await cpuSeconds()];
      const quiet = await others(seconds);
      const quietCores = ((await cpuSeconds()) - quietCpu) / ((performance.now() - quietFrom) / 1_000);
      control.run(rateOf(kind, rates));
      await settle();
      const controlled = await others(seconds);
      control.pause();
      flooder.run();
      figures.rounds.push({ flooded, quiet, control: controlled });
      figures.cores += (floodedCores - quietCores) / rounds;
      for (const key of ["answered", "refused", "closed"] as const) flood[key] += rates[key] / rounds;
    }
    return figures;
  } finally {
    for (const { stop } of stopped) await stop();
  }
}

function ratesOf(before: FloodCounts, after: FloodCounts, seconds: number): FloodCounts {
  return {
    answered: (after.answered - before.answered) / seconds,
    refused: (after.refused - before.refused) / seconds,
    closed: (after.closed - before.closed) / seconds,
  };
}

/**
 * The rate for a control: how many requests a second, or how many connections a second if the kind writes at most
 * once on a connection.
 */
function rateOf({ request, pipelined }: FloodKind, { answered, refused, closed }: FloodCounts): number {
  const sendsOnce = request === undefined || request.method === "" || pipelined !== undefined;
  return Math.max(1, Math.round(sendsOnce ? closed : Math.max(answered + refused, closed)));
}

/**
 * Waits until the flood is refused again, so that no phase mixes the burst with what comes after it. Refusals that
 * were under way during the pause do not count. A flood without refusals gets the whole time. The other clients ask
 * meanwhile, because a server that was idle is slow at first.
 */
async function spent(
  flooder: { counts: () => FloodCounts },
  connections: number,
  others: (seconds: number) => Promise<Times>,
): Promise<void> {
  const { refused } = flooder.counts();
  for (let waited = 0; waited < SPENT_SECONDS; waited++) {
    if (flooder.counts().refused > refused + connections) return;
    await others(1);
  }
}

/** Waits until the requests of the previous phase have ended. */
function settle(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 500));
}
