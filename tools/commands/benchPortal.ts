import type { Command } from "commander";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";
import type { Took } from "../portal/measureLedgerFile.ts";

/** The browser may take this many times as long as the command line. */
const MOST_TIMES = 3;

/** `npm run bench:portal`: a large ledger file in Chromium, against the command line. */
export function registerBenchPortal(program: Command): void {
  program
    .command("bench-portal")
    .description(
      "Verify a large ledger file on the portal's page in Chromium and by the command line, in turn.\n" +
        `Exit 1 if the browser's best round takes more than ${MOST_TIMES} times as long as the command line's.`,
    )
    .option("--entries <count>", "entries of the ledger", wholeNumber("--entries"), 200_000)
    .option("--rounds <count>", "how often each is measured (the best counts)", wholeNumber("--rounds"), 2)
    .action(async (size: { entries: number; rounds: number }) => {
      const { measureLedgerFile } = await import("../portal/measureLedgerFile.ts");
      const say = (what: string) => process.stderr.write(`${what} …\n`);
      const { entries, bytes, commandLine, browser, memoryMb } = await measureLedgerFile(size, say);
      const best = (all: Took[]) => Math.min(...all.map((it) => it.seconds));
      const times = best(browser) / best(commandLine);
      const texts = (all: Took[]) =>
        all
          .map(({ seconds, cpuSeconds }) =>
            cpuSeconds === null
              ? `${seconds.toFixed(2)} s`
              : `${seconds.toFixed(2)} s (${cpuSeconds.toFixed(2)} s of processor)`,
          )
          .join(", ");
      process.stdout.write(
        `${entries.toLocaleString("en")} entries, ${(bytes / 1e6).toFixed(0)} MB\n` +
          `command line: ${texts(commandLine)}\n` +
          `browser:      ${texts(browser)}\n` +
          `              ${times.toFixed(2)} times as long (goal: at most ${MOST_TIMES})\n` +
          (memoryMb === null
            ? ""
            : `its process:  ${memoryMb.before.toFixed(0)} MB before, at most ${memoryMb.most.toFixed(0)} MB\n`),
      );
      if (times > MOST_TIMES) process.exitCode = 1;
    });
}
