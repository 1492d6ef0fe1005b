import { cpus, loadavg } from "node:os";
import { styleText } from "node:util";
import Table from "cli-table3";
import { type Command, InvalidArgumentError } from "commander";
import { createProgress } from "../../scripts/cli/progress.ts";
import { type Goal, ROWS, type RowName } from "../bench/index/rows.ts";

type Options = { rows: RowName[]; scale: number; json?: boolean };

const names = Object.keys(ROWS) as RowName[];

/** `npm run bench:index`: how fast a node reads a chain, compared with a minimal indexer. */
export function registerBenchIndex(program: Command): void {
  program
    .command("bench-index")
    .description(
      "Measure the indexer on generated chains (anvil, fetched by npx) against a Ponder app that only stores Transfers,\n" +
        "and `derive` against reading alone. Signed records are kept in .tallystick/bench for the next run.",
    )
    .option("--rows <names>", `rows to measure, separated by commas: ${names.join(", ")}`, rowNames, names)
    .option("--scale <number>", "the share of the whole size: 0.01 is a hundredth", scaleOf, 1)
    .option("--json", "print the figures as JSON")
    .action(async ({ rows, scale, json = false }: Options) => {
      const progress = createProgress();
      const measured: (Goal & { row: RowName; seconds: number; load: number })[] = [];
      for (const row of rows) {
        progress.heading(row);
        const began = performance.now();
        const goals = await ROWS[row](scale, progress);
        const seconds = Math.round((performance.now() - began) / 1_000);
        for (const goal of goals) measured.push({ ...goal, row, seconds, load: loadavg()[1] ?? 0 });
      }
      const machine = { cpu: cpus()[0]?.model.trim() ?? "unknown", cores: cpus().length, scale };
      if (json) {
        process.stdout.write(`${JSON.stringify({ machine, measured }, null, 2)}\n`);
        return;
      }
      const table = new Table({
        head: ["row", "goal", "measured", "", "row took", "load"],
        style: { head: [], border: [] },
      });
      for (const { row, goal, measured: value, met, seconds, load } of measured) {
        const told = met ? styleText("green", "met") : styleText("red", "missed");
        table.push([row, goal, value, told, `${seconds} s`, load.toFixed(1)]);
      }
      process.stdout.write(`\n${machine.cores} × ${machine.cpu}, scale ${scale}\n${table}\n`);
    });
}

function rowNames(text: string): RowName[] {
  const asked = text.split(",");
  const known = asked.filter((it): it is RowName => names.some((name) => name === it));
  if (known.length === asked.length) return known;
  throw new InvalidArgumentError(`must be one or more of ${names.join(", ")}, separated by commas`);
}

function scaleOf(text: string): number {
  const scale = Number(text);
  if (scale > 0 && scale <= 10) return scale;
  throw new InvalidArgumentError("must be a number above 0, at most 10");
}
