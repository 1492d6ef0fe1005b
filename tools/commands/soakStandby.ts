import type { Command } from "commander";

/**
 * `npm run soak:standby`: two machines share one ledger, and the writing machine is stopped in every possible
 * way.
 */
export function registerSoakStandby(program: Command): void {
  program
    .command("soak-standby")
    .description(
      "Two machines share a ledger. In each run, stop, kill or cut off the machine that writes, and check that the other one takes over.",
    )
    .option("--runs <count>", "how many runs", "1000")
    .option("--lease <seconds>", "LEDGER_LEASE_SECONDS", "1")
    .option("--clients <count>", "how many clients send receipts", "6")
    .option("--seed <number>", "the seed of the random faults", "1")
    .option("--seconds <count>", "how long at most", "Infinity")
    .action(
      async (options: { runs: string; lease: string; clients: string; seed: string; seconds: string }) => {
        const { soakStandby } = await import("../bench/standby/soakStandby.ts");
        const { seededRandom } = await import("tallystick-runtime/seededRandom");
        const end = performance.now() + 1_000 * Number(options.seconds);
        const { takeoverSeconds: took, ...counts } = await soakStandby({
          runs: Number(options.runs),
          leaseSeconds: Number(options.lease),
          clients: Number(options.clients),
          random: seededRandom(Number(options.seed)),
          isOver: () => performance.now() > end,
          onRun: ({ number, fault, seconds }) => {
            const taken = seconds === undefined ? "" : `, taken over in ${seconds.toFixed(1)} s`;
            process.stderr.write(`${number}: ${fault}${taken}\n`);
          },
        });
        for (const [name, count] of Object.entries(counts)) process.stdout.write(`${name} ${count}\n`);
        const middle = took[took.length >> 1]?.toFixed(1) ?? "-";
        const longest = took.at(-1)?.toFixed(1) ?? "-";
        process.stdout.write(
          `seconds to a takeover: median ${middle}, longest ${longest}\nlost 0, forked 0\n`,
        );
      },
    );
}
