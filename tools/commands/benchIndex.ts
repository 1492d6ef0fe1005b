import { cpus, loadavg } from "node:os";
import type { Command } from "commander";
import { InvalidArgumentError } from "commander";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";
import { createProgress } from "../../scripts/cli/progress.ts";
import { microBenches } from "../bench/index/microBenches.ts";
import { type BenchFigures, goalsOf, printReport } from "../bench/index/report.ts";
import { benchSize, PHASES, type Phase } from "../bench/index/runBench.ts";

type Options = {
  transfers: number[];
  agents: number;
  only: Phase[];
  quick?: boolean;
  micro: boolean;
  json?: boolean;
};

const RINGS = [4, 8, 32, 128];

/** `npm run bench:index`: how fast a node reads a chain, against the least that any node could do. */
export function registerBenchIndex(program: Command): void {
  program
    .command("bench-index")
    .description(
      "Measure the indexer on a generated chain (anvil, fetched by npx) against a Ponder app that only stores\n" +
        "Transfers, and `derive` on the log it exports. Signed records are kept in .tallystick/bench for the next run.",
    )
    .option(
      "--transfers <counts>",
      "sizes to measure, separated by commas",
      wholeNumbers,
      [200_000, 1_000_000],
    )
    .option(
      "--agents <count>",
      "agents, each with a listing; 0 for transfers alone",
      wholeNumber("--agents"),
      10_000,
    )
    .option(
      "--only <phases>",
      `besides the cold backfill, of ${PHASES.join(", ")}; none for that alone`,
      phases,
      [...PHASES],
    )
    .option("--quick", "20,000 transfers and 1,000 agents only")
    .option("--no-micro", "leave out the derivations in memory")
    .option("--json", "print the figures as JSON")
    .action(async ({ transfers, agents, only, quick = false, micro, json = false }: Options) => {
      const progress = createProgress();
      const sizes: BenchFigures["sizes"] = [];
      for (const count of quick ? [20_000] : transfers) {
        progress.heading(`${count} transfers`);
        const size = { transfers: count, agents: quick ? 1_000 : agents, rings: agents === 0 ? [] : RINGS };
        sizes.push(await benchSize(size, only, progress));
      }
      progress.heading("in memory");
      const inMemory = micro
        ? await progress.step("derivations", async () => ({
            value: await microBenches(quick ? 10_000 : 100_000),
          }))
        : [];
      const machine = {
        cpu: cpus()[0]?.model.trim() ?? "unknown",
        cores: cpus().length,
        node: process.versions.node,
        loadAverage: loadavg(),
      };
      const figures: BenchFigures = { machine, sizes, micro: inMemory };
      const text = json
        ? JSON.stringify({ ...figures, goals: goalsOf(figures) }, null, 2)
        : printReport(figures);
      process.stdout.write(`${text}\n`);
    });
}

function wholeNumbers(text: string): number[] {
  const numbers = text.split(",").map(Number);
  if (numbers.every((it) => Number.isSafeInteger(it) && it > 0)) return numbers;
  throw new InvalidArgumentError("must be whole numbers separated by commas");
}

function phases(text: string): Phase[] {
  const names = text === "none" ? [] : text.split(",");
  const known = names.filter((it): it is Phase => PHASES.some((phase) => phase === it));
  if (known.length === names.length) return known;
  throw new InvalidArgumentError(`must be of ${PHASES.join(", ")}, separated by commas, or none`);
}
