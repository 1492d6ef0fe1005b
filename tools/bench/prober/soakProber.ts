import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { ask } from "../../../services/probing/net/ask.ts";
import { SLOT_SECONDS, SLOTS_PER_DAY } from "../../../services/probing/schedule/slots.ts";
import { addressOf, isUp, kindOf } from "./localAddresses.ts";
import { agentOf, DAY, DAY_SECONDS, listingsOf, nameOf, openProber, openWorld } from "./soakWorld.ts";
import { startHosts } from "./startHosts.ts";
import { testCertificate } from "./testCertificate.ts";

/** The results of one slot in real time. */
export type SlotFigures = {
  hosts: number;
  looked: number;
  /** Hosts that were reported wrongly, or asked more than once. */
  wrong: string[];
  cpuSeconds: number;
  seconds: number;
  residentMb: number;
  /** The most requests that began within a second, and the most that were open at once at one address. */
  mostPerSecond: number;
  mostAtOnce: number;
};

/** Runs one slot in real time, with hosts in another process, over TLS. */
export async function soakSlot(hosts: number, signal: AbortSignal): Promise<SlotFigures> {
  const server = await startHosts();
  const world = await openWorld(hosts, server.port);
  // The clock is shifted so that a slot begins now.
  const shift = DAY * DAY_SECONDS - Date.now() / 1_000;
  let jump = 0;
  const now = (): number => Date.now() / 1_000 + shift + jump;
  const begun: number[] = [];
  const prober = await openProber(world, {
    now,
    requestsPerSecond: 50,
    listings: () => listingsOf(hosts, server.port),
    ca: testCertificate.cert,
    ask: (question) => {
      begun.push(performance.now());
      return ask(question);
    },
  });
  try {
    await prober.refresh();
    const cpu = process.cpuUsage();
    const beginning = performance.now();
    let resident = 0;
    while (now() < DAY * DAY_SECONDS + SLOT_SECONDS - 1) {
      prober.tick();
      resident = Math.max(resident, process.memoryUsage.rss());
      await wait(200, undefined, { signal });
    }
    await prober.idle();
    const { user, system } = process.cpuUsage(cpu);
    const seconds = (performance.now() - beginning) / 1_000;
    // The counts are read before the clock moves to the end of the hour, where another slot begins.
    const counts = await server.counts();
    jump = 3_600;
    prober.tick();
    await prober.idle();
    await prober.report();
    const told = new Map(world.sent.flatMap(({ hosts: part }) => Object.entries(part as object)));
    return {
      hosts,
      looked: told.size,
      wrong: wrongOnes(hosts, server.port, told, counts.asked),
      cpuSeconds: (user + system) / 1e6,
      seconds,
      residentMb: Math.round(resident / 1_048_576),
      mostPerSecond: mostWithinASecond(begun),
      mostAtOnce: counts.mostAtOnce,
    };
  } finally {
    await prober.close();
    await world.remove();
    server.kill();
  }
}

function wrongOnes(
  hosts: number,
  port: number,
  told: Map<string, unknown>,
  asked: { [address: string]: number },
): string[] {
  return Array.from({ length: hosts }, (_, n) => n).flatMap((n) => {
    const kind = kindOf(addressOf(n));
    const seen = JSON.stringify(told.get(`${nameOf(n)}:${port}`));
    const times = asked[addressOf(n)] ?? 0;
    const isRight = seen === JSON.stringify([1, isUp(kind, 0) ? 0 : 1]) && times === 1;
    return isRight ? [] : [`${nameOf(n)} ${kind}: told ${seen}, asked ${times} times`];
  });
}

function mostWithinASecond(begun: number[]): number {
  let [most, from] = [0, 0];
  for (const [at, time] of begun.entries()) {
    while ((begun[from] ?? time) <= time - 1_000) from++;
    most = Math.max(most, at - from + 1);
  }
  return most;
}

/** Memory and disk at the end of a simulated day. */
export type DayFigures = { day: number; heapMb: number; residentMb: number; diskMb: number; reports: number };

/** Simulates `days` days, slot by slot, without a network. The prober's memory and disk must not grow with time. */
export async function soakWeek(
  hosts: number,
  days: number,
  signal: AbortSignal,
  onDay: (figures: DayFigures) => void,
): Promise<DayFigures[]> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const world = await openWorld(hosts, 443);
  let time = DAY * DAY_SECONDS;
  const headers = new Map<string, string>();
  let looks = 0;
  const prober = await openProber(world, {
    now: () => time,
    requestsPerSecond: 20_000,
    uplinkDelayMs: 1,
    listings: () => listingsOf(hosts, 443),
    ask: async ({ body = "", url }) => {
      looks++;
      if (url.endsWith("/robots.txt")) return { status: 404, headers, text: "", isCut: false } as never;
      const { seller_id: payTo } = JSON.parse(body) as { seller_id: string };
      const accepts = [
        { scheme: "exact", network: "base", asset: agentOf(7), maxAmountRequired: "1", payTo },
      ];
      // One look in twenty fails.
      const status = looks % 20 === 0 ? 500 : 402;
      const text = JSON.stringify({ x402Version: 1, accepts });
      return { status, headers: { get: () => null }, text, isCut: false };
    },
  });
  const figures: DayFigures[] = [];
  try {
    for (let slot = 0; slot < days * SLOTS_PER_DAY; slot++) {
      signal.throwIfAborted();
      time = DAY * DAY_SECONDS + slot * SLOT_SECONDS;
      if (slot % 3 === 0) await prober.refresh();
      prober.tick();
      time += SLOT_SECONDS - 1;
      prober.tick();
      await prober.idle();
      await prober.report();
      if ((slot + 1) % SLOTS_PER_DAY !== 0) continue;
      const reports = world.sent.splice(0).length;
      collect();
      const { heapUsed, rss } = process.memoryUsage();
      const day = (slot + 1) / SLOTS_PER_DAY;
      const mb = (bytes: number) => Math.round(bytes / 104_857.6) / 10;
      const one = {
        day,
        heapMb: mb(heapUsed),
        residentMb: mb(rss),
        diskMb: mb(await prober.diskBytes()),
        reports,
      };
      figures.push(one);
      onDay(one);
    }
  } finally {
    await prober.close();
    await world.remove();
  }
  return figures;
}
