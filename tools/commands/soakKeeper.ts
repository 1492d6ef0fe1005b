import type { Command } from "commander";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";

/** `npm run soak:keeper`: the long form of the keeper among hostile wallets that runs with the tests. */
export function registerSoakKeeper(program: Command): void {
  program
    .command("soak-keeper")
    .description(
      "Run a keeper among hostile wallets, with a day between two rounds, and count the gas of each side.",
    )
    .option("--rounds <count>", "how many rounds", wholeNumber("--rounds"), 20)
    .option("--newcomers <count>", "new hostile wallets in each round", wholeNumber("--newcomers"), 10)
    .option("--honest <count>", "releases, refunds and timeouts in each round", wholeNumber("--honest"), 3)
    .action(async (options: { rounds: number; newcomers: number; honest: number }) => {
      const { soakKeeper } = await import("../bench/keeper/soakKeeper.ts");
      const stop = new AbortController();
      for (const name of ["SIGINT", "SIGTERM"] as const) process.once(name, () => stop.abort());
      const counts = await soakKeeper({
        ...options,
        signal: stop.signal,
        onRound: (number, gas) => {
          if (number % 10 === 0) process.stderr.write(`${number} rounds, the last one cost ${gas} gas\n`);
        },
      });
      const { hostileGas, violations } = counts;
      const cost = hostileGas.reduce((sum, gas) => sum + gas, 0);
      process.stdout.write(
        `${[
          `rounds            ${counts.rounds}`,
          `released          ${counts.released}`,
          `refunded          ${counts.refunded}`,
          `timed out         ${counts.timedOut}`,
          `hostile wallets   ${counts.hostileWallets}, ${counts.hostileWords} words, ${counts.hostileRefused} refused`,
          `honest gas        ${counts.honestGas} a round`,
          `hostile gas       ${Math.min(...hostileGas)} to ${Math.max(...hostileGas)} a round, ${cost} in all`,
          `what they paid    ${counts.hostileOutlay}`,
          `violations        ${violations.length}`,
          ...violations,
        ].join("\n")}\n`,
      );
      if (violations.length > 0 || cost > counts.hostileOutlay) process.exitCode = 1;
    });
}
