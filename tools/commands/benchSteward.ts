import type { Command } from "commander";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";

/** `npm run bench:steward`: how much time trust scores take in a tick, and how much of a ledger probers' reports take. */
export function registerBenchSteward(program: Command): void {
  program
    .command("bench-steward")
    .description(
      "Measure the hourly computation of trust scores, in memory, and the size of probers' reports.",
    )
    .option("--agents <count>", "agents, each with a host of its own", wholeNumber("--agents"), 10_000)
    .option("--probers <count>", "probers, each of which probes every agent", wholeNumber("--probers"), 3)
    .option(
      "--hours <count>",
      "hours to derive; ticks are timed from the fifth hour on",
      wholeNumber("--hours"),
      7,
    )
    .option("--json", "print JSON")
    .action(
      async ({
        json = false,
        ...size
      }: {
        agents: number;
        probers: number;
        hours: number;
        json?: boolean;
      }) => {
        const { measureTicks } = await import("../bench/steward/measureTicks.ts");
        const figures = await measureTicks(size);
        if (json) {
          process.stdout.write(`${JSON.stringify(figures, null, 2)}\n`);
          return;
        }
        const { tick, report, bytesPerDay, bytesPerAgent } = figures;
        process.stdout.write(
          `${size.agents} agents, ${size.probers} probers\n` +
            `a tick: ${tick.median.toFixed(1)} ms in the median, ${tick.most.toFixed(1)} ms at most\n` +
            `a report of 1,000 hosts: ${report.toFixed(1)} ms\n` +
            `ledger: ${(bytesPerDay / 1e6).toFixed(1)} MB a day, ${bytesPerAgent} bytes an agent\n`,
        );
      },
    );
}
