import type { Command } from "commander";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";

/** `npm run bench:identities`: the cost for a node of ERC-8004 registries that are as full as Base's. */
export function registerBenchIdentities(program: Command): void {
  program
    .command("bench-identities")
    .description(
      "Derive the log of two full registries of ERC-8004 as a node does, with its rows on disk. Prints the time and the reads for each event, and the memory.",
    )
    .option("--identities <count>", "identities", wholeNumber("--identities"), 100_000)
    .option("--feedback <count>", "feedbacks about the identities", wholeNumber("--feedback"), 500_000)
    .option("--json", "print JSON")
    .action(async ({ json = false, ...size }: { identities: number; feedback: number; json?: boolean }) => {
      const { measureIdentities } = await import("../bench/identities/measureIdentities.ts");
      const figures = await measureIdentities(size);
      if (json) {
        process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
        return;
      }
      const { rows, parts, peakMegabytes, eventsPerSecond, lookup } = figures;
      const lines = parts.map(
        (it, n) =>
          `tenth ${n + 1}: ${it.events} events, ${it.microseconds.toFixed(0)} µs and ${it.finds.toFixed(2)} rows read of each, ` +
          `a tick ${it.tick.toFixed(1)} ms, ${it.heap.toFixed(0)} MB live`,
      );
      process.stdout.write(
        `${rows.identity} identities, ${rows.feedback} feedbacks, ${rows.backing} of them backed by a hire at some time\n` +
          `${lines.join("\n")}\n${eventsPerSecond.toFixed(0)} events a second of processor time; at most ${peakMegabytes.toFixed(0)} MB in all\n` +
          `an identity with its wallet and 20 of its feedbacks: ${lookup.any.toFixed(0)} µs of processor time, of the fullest ${lookup.fullest.toFixed(0)} µs\n`,
      );
    });
}
