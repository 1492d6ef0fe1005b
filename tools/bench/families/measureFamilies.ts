import { Session } from "node:inspector/promises";
import { deriveLog } from "../../../scripts/eventLog/deriveLog.ts";
import { readWholeLines } from "../../../scripts/eventLog/readWholeLines.ts";

/** The path of the families' code in a profile, and of the code that counts hires. */
const ROOM = /\/packages\/derive\/families\//;
const HIRES = /\/packages\/derive\/hires\.ts$/;

/**
 * The sampling interval in microseconds: short enough for a log of a few seconds, and long enough not to
 * disturb the measurement.
 */
const INTERVAL = 1_000;

const TRANSFER = '"kind":"transfer"';
const RECEIPT = '"type":"receipt"';

/** The processor time that families take in a derivation. `per…` is in microseconds, and `…seconds` in seconds. */
export type FamilyFigures = {
  events: number;
  transfers: number;
  /** The time of the whole derivation for one event. */
  perEvent: number;
  receipts: number;
  /**
   * The time in `families/`, or in functions called from there, without the time for counting hires, divided by the
   * number of transfers. It includes the work for ticks.
   */
  perTransfer: number;
  /** The time for counting hires in `families/`, divided by the number of receipts. */
  perReceipt: number;
  /** The share of `families/` in the derivation. */
  ofDerivation: number;
  seconds: number;
  familySeconds: number;
};

type Node = { id: number; callFrame: { url: string }; children?: number[] };
type Profile = { nodes: Node[]; samples?: number[]; timeDeltas?: number[] };

/**
 * Derives a log under a sampling profiler, and returns how much processor time was spent in `families/`. The log is
 * derived once before the measurement, so that the code is compiled as in a log of millions of lines.
 */
export async function measureFamilies(file: string): Promise<FamilyFigures> {
  const session = new Session();
  session.connect();
  try {
    await deriveLog(readWholeLines(file), { trustSignatures: true });
    await session.post("Profiler.enable");
    await session.post("Profiler.setSamplingInterval", { interval: INTERVAL });
    let [transfers, receipts] = [0, 0];
    const lines = async function* () {
      for await (const text of readWholeLines(file)) {
        transfers += text.split(TRANSFER).length - 1;
        receipts += text.split(RECEIPT).length - 1;
        yield text;
      }
    };
    await session.post("Profiler.start");
    const before = process.cpuUsage();
    const { events } = await deriveLog(lines(), { trustSignatures: true });
    const { user, system } = process.cpuUsage(before);
    const { profile } = await session.post("Profiler.stop");
    const seconds = (user + system) / 1e6;
    const { families, hires } = sharesOf(profile);
    return {
      events,
      transfers,
      receipts,
      perEvent: (seconds * 1e6) / events,
      perTransfer: (seconds * (families - hires) * 1e6) / transfers,
      perReceipt: (seconds * hires * 1e6) / Math.max(1, receipts),
      ofDerivation: families,
      seconds,
      familySeconds: seconds * families,
    };
  } finally {
    session.disconnect();
  }
}

/**
 * `families`: the share of the busy time in which a function of `families/` runs, or a function that was called from
 * there. `hires`: the share of the busy time in which such a function counts a hire.
 */
function sharesOf({ nodes, samples = [], timeDeltas = [] }: Profile): { families: number; hires: number } {
  const byId = new Map(nodes.map((it) => [it.id, it]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((it) => [it, id] as const)));
  const isBelow = (room: RegExp) => {
    const known = new Map<number, boolean>();
    const look = (id: number): boolean => {
      const before = known.get(id);
      if (before !== undefined) return before;
      const parent = parents.get(id);
      const is = room.test(byId.get(id)?.callFrame.url ?? "") || (parent !== undefined && look(parent));
      known.set(id, is);
      return is;
    };
    return look;
  };
  const [isFamily, isHire] = [isBelow(ROOM), isBelow(HIRES)];
  const idle = new Set(nodes.filter((it) => isIdle(it)).map(({ id }) => id));
  let [all, families, hires] = [0, 0, 0];
  for (const [n, id] of samples.entries()) {
    if (idle.has(id)) continue;
    const took = timeDeltas[n] ?? 0;
    all += took;
    if (!isFamily(id)) continue;
    families += took;
    if (isHire(id)) hires += took;
  }
  return all === 0 ? { families: 0, hires: 0 } : { families: families / all, hires: hires / all };
}

function isIdle({ callFrame }: Node): boolean {
  return (callFrame as { functionName?: string }).functionName === "(idle)";
}
