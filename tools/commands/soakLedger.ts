import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Command } from "commander";
import { seededRandom } from "tallystick-runtime/seededRandom";
import { crashTest } from "../bench/ledger/crashTest.ts";
import { playHistory } from "../bench/ledger/histories.ts";

/** `npm run soak:ledger`: the long form of the crash test that runs with the others. */
export function registerSoakLedger(program: Command): void {
  program
    .command("soak-ledger")
    .description("Kill the settlement process at random points under load, and look for losses.")
    .option("--kills <count>", "how many kills", "300")
    .option("--histories <count>", "how many simulated histories of checkpoints and anchors", "5000")
    .option("--seed <number>", "the first history's seed", "1")
    .option("--seconds <count>", "how long at most", "Infinity")
    .action(async (options: { kills: string; seconds: string; histories: string; seed: string }) => {
      await soakHistories(Number(options.seed), Number(options.histories));
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

/**
 * Plays random histories. A history is a failure if it could convict an honest writer, or could not convict a
 * forger.
 */
async function soakHistories(first: number, count: number): Promise<void> {
  let [words, convictions, missed] = [0, 0, 0];
  for (let seed = first; seed < first + count; seed++) {
    const anchors = seed % 2 === 0 ? "sent" : "relayed";
    const outcome = await playHistory(seededRandom(seed), { anchors });
    words += outcome.words.length;
    convictions += outcome.convictions;
    if (outcome.isForgeryFound === false) missed++;
    if (outcome.convictions > 0 || outcome.isForgeryFound === false) {
      process.stderr.write(`seed ${seed}, ${anchors}: ${outcome.steps.join(" ")}\n`);
      process.exitCode = 1;
    }
  }
  process.stdout.write(
    `histories ${count}\nwords ${words}\nconvictions of the honest ${convictions}\nforgeries missed ${missed}\n`,
  );
}
