import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Address } from "tallystick-protocol/address";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { compiledOnce, programEndingWithParent } from "../../../scripts/processes/nodeProgram.ts";
import { ask } from "../../../services/probing/net/ask.ts";
import { Prober, type ProberParameters } from "../../../services/probing/prober.ts";
import { openProberFolder } from "../../../services/probing/proberFolder.ts";
import { drawnMoments } from "../../../services/probing/schedule/drawnMoments.ts";
import { SLOT_SECONDS, SLOTS_PER_DAY } from "../../../services/probing/schedule/slots.ts";
import { addressOf, kindOf } from "./localAddresses.ts";
import { testCertificate } from "./testCertificate.ts";

/** A UTC day, in days since 1970. */
const DAY = 20_454;
const DAY_SECONDS = 86_400;
const KEY = `0x${"77".repeat(32)}` as const;

const agentOf = (n: number): Address => `0x${n.toString(16).padStart(40, "0")}`;
const nameOf = (n: number): string => `h${n}.seller.example`;

async function* listingsOf(hosts: number, port: number) {
  for (let n = 0; n < hosts; n++)
    yield {
      agent: agentOf(n),
      payee: null,
      capability: "compute.statistics.mean",
      paymentMode: "direct",
      endpoint: `https://${nameOf(n)}:${port}`,
      maxLatencyMs: 30_000,
    };
}

type World = { folder: string; sent: RecordBody[]; remove: () => Promise<void> };

/**
 * A folder in which every host is already stored as the host of its agent. Otherwise the prober would use the
 * first slot to find that out.
 */
async function openWorld(hosts: number, port: number): Promise<World> {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-soak-prober-"));
  const release = await openProberFolder(folder);
  const known = { robotsDay: DAY, optedOut: false };
  const entries = Array.from({ length: hosts }, (_, n) => {
    const today = { [agentOf(n)]: DAY };
    return [`${nameOf(n)}:${port}`, { ...known, served: today, asked: today }];
  });
  writeFileSync(path.join(folder, "hosts.json"), JSON.stringify(Object.fromEntries(entries)));
  const remove = async (): Promise<void> => {
    await release();
    rmSync(folder, { recursive: true, force: true });
  };
  return { folder, sent: [], remove };
}

function openProber(
  { folder, sent }: World,
  own: Pick<ProberParameters, "now" | "listings" | "requestsPerSecond"> & Partial<ProberParameters>,
): Promise<Prober> {
  return Prober.open({
    folder,
    region: "soak",
    maxHosts: 100_000,
    keep: { days: 3, bytes: 1_000_000_000 },
    moments: drawnMoments(KEY),
    asker: { address: agentOf(0), userAgent: "tallystick-prober/1.0 (+soak)" },
    policy: { problemOf: () => undefined, isPublic: () => true },
    leaveOut: [],
    resolve: async (host) => [addressOf(Number(/^h(\d+)\./.exec(host)?.[1]))],
    testUplink: async () => true,
    send: async (body) => {
      sent.push(body);
      return { hash: "00" };
    },
    log: (sentence, fields) => process.stderr.write(`${sentence} ${JSON.stringify(fields ?? {})}\n`),
    ...own,
  });
}

/** The results of one slot in real time. */
export type SlotFigures = {
  hosts: number;
  looked: number;
  /** Hosts that were reported wrongly, or asked more than once. */
  wrong: string[];
  cpuSeconds: number;
  seconds: number;
  residentMb: number;
  /** The most requests that began within a second, and were open at once at one address. */
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
    const isUp = kind === "answers" || kind === "lies";
    const seen = JSON.stringify(told.get(`${nameOf(n)}:${port}`));
    const times = asked[addressOf(n)] ?? 0;
    const isRight = seen === JSON.stringify([1, isUp ? 0 : 1]) && times === 1;
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

async function startHosts() {
  const { args, env, stdio } = programEndingWithParent("tools/bench/prober/hostServer.ts");
  const child = spawn(process.execPath, args, {
    env: { ...env, PATH: process.env.PATH, ...compiledOnce },
    stdio,
  });
  if (child.stdout === null) throw new Error("the hosts have no output");
  child.stderr?.pipe(process.stderr);
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const { port } = JSON.parse(line) as { port: number };
  const counts = async () => {
    const stop = new AbortController();
    const { cert: ca } = testCertificate;
    const url = `https://seller.example:${port}/counts`;
    const pieces: Buffer[] = [];
    const { request } = await import("node:https");
    const asked = request(url, {
      ca,
      lookup: (_host, { all }, found) => {
        if (all) found(null, [{ address: "127.0.0.1", family: 4 }]);
        else found(null, "127.0.0.1", 4);
      },
      signal: stop.signal,
    }).end();
    const [response] = await once(asked, "response");
    for await (const piece of response) pieces.push(piece as Buffer);
    return JSON.parse(Buffer.concat(pieces).toString("utf8")) as {
      asked: { [address: string]: number };
      mostAtOnce: number;
    };
  };
  return { port, counts, kill: () => child.kill("SIGKILL") };
}

/** Memory and disk at the end of a simulated day. */
export type DayFigures = { day: number; heapMb: number; residentMb: number; diskMb: number; reports: number };

/** Simulates seven days, slot by slot, without a network. The prober's memory and disk must not grow with time. */
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
