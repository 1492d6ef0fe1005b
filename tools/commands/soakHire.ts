import type { Command } from "commander";
import { formatUsdc } from "tallystick-protocol/amount";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";

/** `npm run soak:hire`: the long form of the random hires that run with the tests. */
export function registerSoakHire(program: Command): void {
  program
    .command("soak-hire")
    .description(
      "Hire at random, by direct payment and by escrow, with faults injected, and check that no unit of money appears or disappears.",
    )
    .option("--hires <count>", "how many hires", wholeNumber("--hires"), 1_000)
    .option(
      "--seed <number>",
      "repeats the run that printed this seed; default: another seed each time",
      wholeNumber("--seed"),
    )
    .action(async ({ hires, seed = Date.now() % 1_000_000 }: { hires: number; seed?: number }) => {
      const { soakHires } = await import("../bench/hire/soakHire.ts");
      const stop = new AbortController();
      for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
      const counts = await soakHires({
        signal: stop.signal,
        hires,
        seed,
        onHire: (done) => {
          if (done % 50 === 0) process.stderr.write(`${done} hires\n`);
        },
      });
      const list = (numbers: { [name: string]: number }) =>
        Object.entries(numbers)
          .map(([name, count]) => `${name} ${count}`)
          .join(", ");
      process.stdout.write(
        `${[
          `seed        ${seed}`,
          `hires       ${counts.hires}`,
          `faults      ${list(counts.byFault)}`,
          `money       ${list(counts.byMoney)}`,
          `paid        ${formatUsdc(counts.paid)} USDC`,
          `timed out   ${counts.timeouts}`,
          `violations  ${counts.violations.length}`,
          ...counts.violations,
        ].join("\n")}\n`,
      );
      if (counts.violations.length > 0) process.exitCode = 1;
    });
}
