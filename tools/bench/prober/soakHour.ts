import { spawn } from "node:child_process";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { compiledOnce, programEndingWithParent } from "../../../scripts/processes/nodeProgram.ts";
import { addressOf, isUp, kindOf } from "./localAddresses.ts";
import { makeFolder, nameOf } from "./soakWorld.ts";
import { startHosts } from "./startHosts.ts";

const SLOTS = 12;
/** The slot in which the prober is killed, and the slot in which its uplink is lost (see `hourProber.ts`). */
const [KILLED_SLOT, LOST_SLOT] = [4, 10];
/** The rate of a real prober. With a higher rate a slow machine would count answers as late, and hosts as down. */
const PER_SECOND = 50;

/** The results of an hour's slots, one after the other. */
export type HourFigures = {
  hosts: number;
  /** Hosts that were reported wrongly, or asked more than once in a slot. */
  wrong: string[];
  /** The number of hosts whose answer was under way when the prober was killed. They have no data for that slot. */
  underWay: number;
  seconds: number;
  residentMb: number;
};

/**
 * Lets a prober go through the slots of an hour, over TLS. Some of the hosts fail in exactly two slots and some in
 * three. The prober is killed in one slot and started again. In another slot nothing can be reached.
 */
export async function soakHour(hosts: number, signal: AbortSignal): Promise<HourFigures> {
  const server = await startHosts();
  const folder = makeFolder(hosts, server.port);
  const begun = performance.now();
  // At this time about a third of the hosts were asked.
  const killAfterMs = (1_000 * hosts) / PER_SECOND / 3;
  const told = new Map<string, [looked: number, down: number]>();
  let residentMb = 0;
  const run = async (first: number, kill: boolean): Promise<void> => {
    const { args, env, stdio } = programEndingWithParent("tools/bench/prober/hourProber.ts");
    const own = [folder, server.port, hosts, first, PER_SECOND].map(String);
    const child = spawn(process.execPath, [...args, ...own], {
      ...{ stdio, signal },
      env: { ...env, PATH: process.env.PATH, ...compiledOnce },
    });
    if (child.stdout === null) throw new Error("the prober has no output");
    child.stderr?.pipe(process.stderr);
    for await (const line of createInterface({ input: child.stdout })) {
      if (kill && line === `slot ${KILLED_SLOT}`) setTimeout(() => child.kill("SIGKILL"), killAfterMs);
      if (line.startsWith("resident ")) residentMb = Number(line.slice("resident ".length));
      if (!line.startsWith("{")) continue;
      const { hosts: part } = JSON.parse(line) as RecordBody;
      for (const [host, word] of Object.entries(part as object)) told.set(host, word);
    }
  };
  try {
    await run(0, true);
    await run(KILLED_SLOT, false);
    const { asked } = await server.counts();
    const judged = Array.from({ length: hosts }, (_, n) =>
      judge(n, told.get(`${nameOf(n)}:${server.port}`), asked),
    );
    return {
      hosts,
      wrong: judged.flatMap((it) => (typeof it === "string" ? it : [])),
      underWay: judged.filter((it) => it === true).length,
      seconds: (performance.now() - begun) / 1_000,
      residentMb,
    };
  } finally {
    server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

const bit = (slot: number) => 1 << slot;

/** The fault in the report about a host. If there is none: whether the host's answer in the killed slot is missing. */
function judge(
  n: number,
  told: readonly [looked: number, down: number] | undefined,
  asked: { [address: string]: number },
): string | boolean {
  const kind = kindOf(addressOf(n));
  const all = Array.from({ length: SLOTS }, (_, slot) => slot).filter((slot) => slot !== LOST_SLOT);
  const [looked, down] = told ?? [0, 0];
  const isMissing = (looked & bit(KILLED_SLOT)) === 0;
  const slots = all.filter((slot) => !isMissing || slot !== KILLED_SLOT);
  const mask = (some: number[]) => some.reduce((sum, slot) => sum | bit(slot), 0);
  const times = asked[addressOf(n)] ?? 0;
  const isRight =
    looked === mask(slots) &&
    down === mask(slots.filter((slot) => !isUp(kind, slot))) &&
    (times === slots.length || (isMissing && times === slots.length + 1));
  return isRight ? isMissing : `${nameOf(n)} ${kind}: told ${JSON.stringify(told)}, asked ${times} times`;
}
