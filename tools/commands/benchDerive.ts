import type { Command } from "commander";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";
import { createProgress } from "../../scripts/cli/progress.ts";
import type { DeriveCost } from "../bench/derive/benchDerive.ts";

const MIN_EVENTS_A_SECOND = 100_000;
const MAX_OF_READING = 2;

/** `npm run bench:derive`: how fast a log is derived offline. */
export function registerBenchDerive(program: Command): void {
  program
    .command("bench-derive")
    .description(
      "Derive a generated log of strangers' transfers and of hires, with trusted signatures, and compare it with reading\n" +
        "the same file. Each run is a process of its own. The lowest processor time of all runs counts.",
    )
    .option(
      "--transfers <count>",
      "transfers in the log; one in ten is a hire",
      wholeNumber("--transfers"),
      200_000,
    )
    .option("--agents <count>", "agents, each with a listing", wholeNumber("--agents"), 1_000)
    .option("--runs <count>", "runs", wholeNumber("--runs"), 5)
    .option("--json", "print JSON")
    .action(async ({ transfers, agents, runs, json = false }: Options) => {
      const { benchDerive } = await import("../bench/derive/benchDerive.ts");
      const figures = await benchDerive(
        { transfers, agents, rings: [4, 8, 32, 128] },
        runs,
        createProgress(),
      );
      if (json) {
        process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
        return;
      }
      const { events, eventsPerSecond, ofReading, peakMegabytes, digest, kinds } = figures;
      const isMet = (is: boolean) => (is ? "met" : "MISSED");
      process.stdout.write(
        `\n${events} events, ${Math.round(eventsPerSecond)} a second of processor time ` +
          `(≥ ${MIN_EVENTS_A_SECOND}: ${isMet(eventsPerSecond >= MIN_EVENTS_A_SECOND)})\n` +
          `${ofReading.toFixed(2)} × reading and parsing (≤ ${MAX_OF_READING}: ${isMet(ofReading <= MAX_OF_READING)})\n` +
          `${Math.round(peakMegabytes)} MB at most, digest ${digest}\n\n` +
          `Median time of an event (µs), and of all events of its kind together (s):\n${kinds.map(kindLine).join("")}`,
      );
    });
}

function kindLine({ kind, events, microseconds, seconds }: DeriveCost["kinds"][number]): string {
  return `  ${microseconds.toFixed(1).padStart(10)} ${seconds.toFixed(2).padStart(7)}  ${kind} (${events})\n`;
}

type Options = { transfers: number; agents: number; runs: number; json?: boolean };
