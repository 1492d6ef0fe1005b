import type { Progress } from "../../../scripts/cli/progress.ts";
import { benchDerive } from "../derive/benchDerive.ts";
import { measureLive } from "./measureLive.ts";
import { measureSignatures } from "./measureSignatures.ts";
import { microBenches } from "./microBenches.ts";
import { type ReadFigures, withChain } from "./readChain.ts";

/** A goal, and what was measured against it. */
export type Goal = { goal: string; measured: string; met: boolean };

/** @param scale 1 for the sizes for which the goals are set; smaller runs say less */
type Row = (scale: number, progress: Progress) => Promise<Goal[]>;

/** Blocks for the live figures: enough for a 99th percentile. */
const LIVE_BLOCKS = 300;
const HIRES_AN_AGENT = 100;
const ANCESTRY = 3;

/** The rows of the bench, by name. Each builds what it needs. */
export const ROWS = {
  few: async (scale, progress) => {
    const agents = sized(10_000, scale);
    const size = { ...sizeOf(scale), agents, transfersAHire: 100, transfersAnAgent: 0, listings: 9 };
    return await withChain(size, progress, async ({ read }) => {
      const [bare, relevant, all] = [await read("bare"), await read("relevant"), await read("all")];
      return [
        atMost("1 % matter, relevant: time / bare Ponder", seconds(relevant) / seconds(bare), 0.35, "×"),
        atMost("1 % matter, relevant: CPU / bare Ponder", processor(relevant) / processor(bare), 0.35, "×"),
        atMost("1 % matter, relevant: disk / bare", relevant.databaseBytes / bare.databaseBytes, 0.05, "×"),
        atMost("1 % matter, all: time / bare Ponder", seconds(all) / seconds(bare), 3, "×"),
        atMost("1 % matter, all: CPU / bare Ponder", processor(all) / processor(bare), 3, "×"),
        atMost("1 % matter, all: memory", all.peakMegabytes / 1_000, 2.5, "GB"),
      ];
    });
  },
  every: async (scale, progress) => {
    const size = { ...sizeOf(scale), agents: sized(10_000, scale), transfersAnAgent: 1 };
    return await withChain(size, progress, async ({ read }) => {
      const [bare, relevant] = [await read("bare"), await read("relevant")];
      return [
        atMost("all matter, relevant: time / bare Ponder", seconds(relevant) / seconds(bare), 2, "×"),
        atMost("all matter, relevant: CPU / bare Ponder", processor(relevant) / processor(bare), 2, "×"),
        atMost("all matter, relevant: memory", relevant.peakMegabytes / 1_000, 2.5, "GB"),
      ];
    });
  },
  disk: async (scale, progress) => {
    const agents = sized(1_000, scale);
    const size = { transfers: agents * HIRES_AN_AGENT, agents, rings: [], transfersAHire: 1 };
    return await withChain(size, progress, async ({ read }) => {
      const { databaseBytes } = await read("relevant");
      return [atMost("an agent with 100 hires, on disk", databaseBytes / agents / 1_000, 200, "kB")];
    });
  },
  ancestry: async (scale, progress) => {
    const agents = sized(10_000, scale);
    const size = {
      transfers: 2 * ANCESTRY * agents,
      agents,
      rings: [],
      transfersAnAgent: 0,
      ancestry: ANCESTRY,
    };
    return await withChain(size, progress, async ({ read }) => {
      const it = await read("relevant");
      return [
        atMost(`${agents} agents with ancestry, cold`, it.seconds / 60, 30, "min"),
        atMost(`${agents} agents with ancestry, memory`, it.peakMegabytes / 1_000, 4, "GB"),
      ];
    });
  },
  live: async (scale, progress) => {
    const size = { transfers: sized(20_000, scale), agents: sized(10_000, scale), rings: [] };
    const blocks = Math.max(100, sized(LIVE_BLOCKS, scale));
    return await withChain(size, progress, async ({ chain, follow }) =>
      follow("relevant", async (_, databaseUrl) =>
        progress.step("live", async () => {
          const { p50, p99 } = await measureLive(chain, databaseUrl, size, blocks);
          const goal = atMost("live, block to visible, p99", p99 / 1_000, 1, "s");
          return { value: [goal], detail: `median ${p50.toFixed(0)} ms of ${blocks} blocks` };
        }),
      ),
    );
  },
  derive: async (scale, progress) => {
    const size = { transfers: sized(200_000, scale), agents: sized(1_000, scale), rings: [] };
    const { eventsPerSecond, ofReading } = await benchDerive(size, 3, progress);
    return [
      atLeast("derive, trusting", eventsPerSecond, 100_000, "events a second of processor time"),
      atMost("derive, trusting: time / reading alone", ofReading, 2, "×"),
    ];
  },
  signatures: async (scale, progress) => {
    const size = { transfers: sized(200_000, scale), agents: sized(1_000, scale), rings: [] };
    const { records, bare, derived } = await measureSignatures(size, progress);
    return [
      atLeast("derive with signatures: speed / bare recovery", bare / derived, 0.8, "×"),
      atLeast("derive with signatures", records / derived, 3_000, "records/s"),
    ];
  },
  memory: async (scale) => {
    const figures = await microBenches(sized(100_000, scale));
    return figures.flatMap(({ name, mean, first, last }) => {
      if (name.includes("what no other does")) return [atMost(name, mean / 1_000, 2, "ms each")];
      if (name.includes("look-alikes")) return [];
      return [atMost(`${name}: last tenth`, last / first, 1.5, "× the first")];
    });
  },
} satisfies Record<string, Row>;

export type RowName = keyof typeof ROWS;

function sizeOf(scale: number) {
  return { transfers: sized(1_000_000, scale), rings: [] as number[] };
}

function sized(whole: number, scale: number): number {
  return Math.max(20, Math.round(whole * scale));
}

function seconds({ seconds }: ReadFigures): number {
  return seconds;
}

/** Processor time of the process alone. On a busy machine it says more than the time. */
function processor({ cpuSeconds }: ReadFigures): number {
  return cpuSeconds ?? Number.NaN;
}

function atMost(what: string, value: number, most: number, unit: string): Goal {
  return {
    goal: `${what} ≤ ${most} ${unit}`,
    measured: `${value.toPrecision(3)} ${unit}`,
    met: value <= most,
  };
}

function atLeast(what: string, value: number, least: number, unit: string): Goal {
  const measured = value >= 100 ? value.toFixed(0) : value.toPrecision(3);
  return { goal: `${what} ≥ ${least} ${unit}`, measured: `${measured} ${unit}`, met: value >= least };
}
