import type { Command } from "commander";

/**
 * `npm run bench:audits`: the cost of audits in the derivation. Rounds with and without audits take turns, and the
 * shortest round of each kind counts.
 */
export function registerBenchAudits(program: Command): void {
  program
    .command("bench-audits")
    .description("Measure what audits add to a derivation, and a tick that draws, on this machine.")
    .option("--hires <count>", "hires in a log", "30000")
    .option("--drawn <count>", "hires that one tick draws", "1000")
    .option("--rounds <count>", "how often each log is measured", "5")
    .action(async (options: { hires: string; drawn: string; rounds: string }) => {
      const { deriveAudited, operationsOfAudited } = await import("../bench/index/auditBench.ts");
      const [hires, drawn] = [Number(options.hires), Number(options.drawn)];
      const rounds: { without: number; with: number; tick: number }[] = [];
      for (let n = 0; n < Number(options.rounds); n++) {
        const { seconds: without } = await deriveAudited(hires, null);
        const { seconds } = await deriveAudited(hires, 30_000);
        const { tick } = await deriveAudited(drawn, 1_000_000, Number.POSITIVE_INFINITY);
        rounds.push({ without, with: seconds, tick });
      }
      const least = (of: "without" | "with" | "tick") => Math.min(...rounds.map((it) => it[of]));
      const [operationsWithout, operationsWith] = [
        await operationsOfAudited(hires, null),
        await operationsOfAudited(hires, 30_000),
      ];
      const figures = {
        hires,
        operationsWithout,
        operationsWith,
        operationsRatio: operationsWith / operationsWithout,
        secondsWithout: least("without"),
        secondsWith: least("with"),
        ratio: least("with") / least("without"),
        drawnByOneTick: drawn,
        millisecondsOfThatTick: least("tick") * 1_000,
      };
      console.log(JSON.stringify(figures, null, 2));
    });
}
