import type { Command } from "commander";
import { TallystickError } from "tallystick-protocol/errors";
import { wholeNumber } from "../../scripts/cli/parseOption.ts";
import { keptNodes } from "../../scripts/demo/runFolder.ts";
import type { PageScores } from "../portal/runLighthouse.ts";

/** The time limit for the first page. */
const PAGE_MS = 10_000;

/** `npm run check:portal`: measures the portal of a running node by Lighthouse. */
export function registerCheckPortal(program: Command): void {
  program
    .command("check-portal")
    .description(
      "Measure market, agent and verify by Lighthouse, in front of a running node that serves the portal.\n" +
        "If no demo is running, the command starts one and ends it. Exit 1 when a median is below 0.95. On a busy\n" +
        "machine, the performance depends more on the machine than on the portal.",
    )
    .option("--node <url>", "another node than the demo's")
    .option("--runs <count>", "runs of each page; the median counts", wholeNumber("--runs"), 3)
    .action(async ({ node, runs }: { node?: string; runs: number }) => {
      const running = node ?? (await keptNodes())[0]?.url;
      if (running !== undefined) return await check(running, runs);
      const { openDemo } = await import("../portal/openDemo.ts");
      const demo = await openDemo();
      try {
        await check(demo.url, runs);
      } finally {
        await demo.close();
      }
    });
}

async function check(node: string, runs: number): Promise<void> {
  const url = node.replace(/\/+$/, "");
  const first = await fetch(`${url}/`, { signal: AbortSignal.timeout(PAGE_MS), redirect: "follow" });
  if (!(await first.text()).includes('name="portal-build"'))
    throw new TallystickError({
      code: "no_portal",
      message: `${url}/ is not the portal.`,
      hint: "Build it with `npm run build:portal`, then start the node again: it serves the portal that was built before its start.",
    });
  const { MIN_SCORE, runLighthouse } = await import("../portal/runLighthouse.ts");
  for (const result of await runLighthouse({ portal: `${url}/`, node: url, runs })) {
    process.stdout.write(textOf(result));
    if (Object.values(result.scores).some((score) => score < MIN_SCORE)) process.exitCode = 1;
  }
}

function textOf(it: PageScores): string {
  const { page, scores, paintMs, blockingMs, shift, machine, findings } = it;
  const texts = Object.entries(scores).map(([name, score]) => `${name} ${score.toFixed(2)}`);
  const lines = [
    `${page}: ${texts.join(", ")}`,
    `  drawn after ${paintMs} ms, blocked for ${blockingMs} ms, moved by ${shift.toFixed(3)}`,
    `  the machine's speed in each run, by Lighthouse: ${machine.join(", ")}`,
    ...findings.map((it) => `  ${it}`),
  ];
  return `${lines.join("\n")}\n`;
}
