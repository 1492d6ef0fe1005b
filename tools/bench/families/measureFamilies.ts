import { Session } from "node:inspector/promises";
import { deriveLog } from "../../../scripts/eventLog/deriveLog.ts";
import { readWholeLines } from "../../../scripts/eventLog/readWholeLines.ts";

/** The path of the families' code in a profile. */
const ROOM = /\/packages\/derive\/families\//;

/**
 * The sampling interval in microseconds: short enough for a log of a few seconds, and long enough not to
 * disturb the measurement.
 */
const INTERVAL = 1_000;

const TRANSFER = '"kind":"transfer"';

/** The processor time that families take in a derivation, in microseconds. */
export type FamilyFigures = {
  events: number;
  transfers: number;
  /** The time of the whole derivation for one event. */
  perEvent: number;
  /**
   * The time in `families/`, or in functions called from there, divided by the number of transfers. It includes
   * the work for records, escrows and ticks.
   */
  perTransfer: number;
  /** The share of `families/` in the derivation. */
  ofDerivation: number;
  seconds: number;
  familySeconds: number;
};

type Node = { id: number; callFrame: { url: string }; children?: number[] };
type Profile = { nodes: Node[]; samples?: number[]; timeDeltas?: number[] };

/** Derives a log under a sampling profiler, and returns how much processor time was spent in `families/`. */
export async function measureFamilies(file: string): Promise<FamilyFigures> {
  const session = new Session();
  session.connect();
  try {
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: INTERVAL });
    let transfers = 0;
    const lines = async function* () {
      for await (const text of readWholeLines(file)) {
        transfers += text.split(TRANSFER).length - 1;
        yield text;
      }
    };
    await session.post("Profiler.start");
    const before = process.cpuUsage();
    const { events } = await deriveLog(lines(), { trustSignatures: true });
    const { user, system } = process.cpuUsage(before);
    const { profile } = await session.post("Profiler.stop");
    const seconds = (user + system) / 1e6;
    const share = shareOf(profile, ROOM);
    return {
      events,
      transfers,
      perEvent: (seconds * 1e6) / events,
      perTransfer: (seconds * share * 1e6) / transfers,
      ofDerivation: share,
      seconds,
      familySeconds: seconds * share,
    };
  } finally {
    session.disconnect();
  }
}

/** The share of the busy time in which a function of a room, or one that it called, was running. */
function shareOf({ nodes, samples = [], timeDeltas = [] }: Profile, room: RegExp): number {
  const inside = new Map<number, boolean>();
  const byId = new Map(nodes.map((it) => [it.id, it]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((it) => [it, id] as const)));
  const isInside = (id: number): boolean => {
    const known = inside.get(id);
    if (known !== undefined) return known;
    const parent = parents.get(id);
    const is = room.test(byId.get(id)?.callFrame.url ?? "") || (parent !== undefined && isInside(parent));
    inside.set(id, is);
    return is;
  };
  const idle = new Set(nodes.filter((it) => isIdle(it)).map(({ id }) => id));
  let [all, own] = [0, 0];
  for (const [n, id] of samples.entries()) {
    if (idle.has(id)) continue;
    const took = timeDeltas[n] ?? 0;
    all += took;
    if (isInside(id)) own += took;
  }
  return all === 0 ? 0 : own / all;
}

function isIdle({ callFrame }: Node): boolean {
  return (callFrame as { functionName?: string }).functionName === "(idle)";
}
