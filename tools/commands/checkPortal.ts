import type { Command } from "commander";
import { TallystickError } from "tallystick-protocol/errors";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";
import { keptNodes } from "../../scripts/demo/runFolder.ts";

/** The time limit for the first page. */
const PAGE_MS = 10_000;

/** `npm run check:portal`: measures the portal of a running node by Lighthouse. */
export function registerCheckPortal(program: Command): void {
  program
    .command("check-portal")
    .description(
      "Measure market, agent and verify by Lighthouse, in front of a running node that serves the portal.\n" +
        "Exit 1 when a median is below 0.95. On a busy machine performance says more of the machine.",
    )
    .option("--node <url>", "another node than the demo's")
    .option("--runs <count>", "of each page; the median counts", wholeNumber("--runs"), 3)
    .action(async ({ node, runs }: { node?: string; runs: number }) => {
      const { MIN_SCORE, runLighthouse } = await import("../portal/runLighthouse.ts");
      const url = (node ?? (await keptNodes())[0]?.url)?.replace(/\/+$/, "");
      if (url === undefined)
        throw new TallystickError({
          code: "no_demo",
          message: "No demo keeps running from this checkout.",
          hint: "Start one in another terminal with `npm run demo -- --keep`, or name a node with --node.",
        });
      const first = await fetch(`${url}/`, { signal: AbortSignal.timeout(PAGE_MS), redirect: "follow" });
      if (!(await first.text()).includes('name="portal-build"'))
        throw new TallystickError({
          code: "no_portal",
          message: `${url}/ is not the portal.`,
          hint: "Build it with `npm run build:portal`, then start the node again: it serves the portal that stands when it starts.",
        });
      const results = await runLighthouse({ portal: `${url}/`, node: url, runs });
      for (const { page, scores, blockingMs, findings } of results) {
        const texts = Object.entries(scores).map(([name, score]) => `${name} ${score.toFixed(2)}`);
        process.stdout.write(`${page}: ${texts.join(", ")} (blocked for ${blockingMs} ms)\n`);
        for (const finding of findings) process.stdout.write(`  ${finding}\n`);
        if (Object.values(scores).some((score) => score < MIN_SCORE)) process.exitCode = 1;
      }
    });
}
