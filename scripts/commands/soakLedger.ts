import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Command } from "commander";
import { crashTest } from "../bench/ledger/crashTest.ts";

/** `npm run soak:ledger`: the long form of the crash test that runs with the others. */
export function registerSoakLedger(program: Command): void {
  program
    .command("soak-ledger")
    .description("Kill the settlement process at random points under load, and look for losses.")
    .option("--kills <count>", "how often", "300")
    .option("--seconds <count>", "how long at most", "Infinity")
    .action(async (options: { kills: string; seconds: string }) => {
      const end = performance.now() + 1_000 * Number(options.seconds);
      const ledgerDir = mkdtempSync(path.join(tmpdir(), "tallystick-soak-"));
      try {
        const counts = await crashTest({
          ledgerDir,
          kills: Number(options.kills),
          random: Math.random,
          isOver: () => performance.now() > end,
          onKill: ({ kills, answers, entries, losses }) => {
            if (kills % 10 !== 0) return;
            process.stderr.write(
              `${kills} kills, ${answers} answers, ${entries} entries, ${losses} losses\n`,
            );
          },
        });
        const { kills, answers, entries, losses } = counts;
        process.stdout.write(
          `kills ${kills}\nanswers checked ${answers}\nentries ${entries}\nlosses ${losses}\n`,
        );
        if (losses > 0) process.exitCode = 1;
      } finally {
        rmSync(ledgerDir, { recursive: true, force: true });
      }
    });
}
