import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { CHROMIUM_FLAGS, findChromium } from "./findChromium.ts";
import { portalPages } from "./portalPages.ts";

const run = promisify(execFile);

/**
 * npx fetches Lighthouse. It is not a dependency, because it has a hundred packages that only this command
 * needs.
 */
const LIGHTHOUSE = "lighthouse@13.5.0";

/** The lowest score that the portal may have in each category, as the median of the runs. */
export const MIN_SCORE = 0.95;
const CATEGORIES = ["performance", "accessibility", "best-practices", "seo"] as const;
const PAGES = ["market", "agent", "verify"];

/** The time limit of one run, and the most characters of its report. */
const [RUN_MS, MAX_CHARACTERS] = [240_000, 64 << 20];

export type PageScores = {
  page: string;
  scores: { [category: string]: number };
  /** Medians: the time until the largest part is drawn, the time without a reaction, and how much of the page moves. */
  paintMs: number;
  blockingMs: number;
  shift: number;
  /** How fast Lighthouse found this machine, in each run. Runs on a busy machine have lower numbers. */
  machine: number[];
  /** What Lighthouse found in any of the runs, by its title. */
  findings: string[];
};

/**
 * Measures the portal's pages by Lighthouse with its settings for phones. A running node serves the data.
 *
 * @param parameters.portal the URL of the built portal, with a slash at the end
 * @param parameters.runs runs per page; the median counts
 */
export async function runLighthouse(parameters: {
  portal: string;
  node: string;
  runs: number;
}): Promise<PageScores[]> {
  const { portal, node, runs } = parameters;
  const pages = (await portalPages(node)).filter(({ name }) => PAGES.includes(name));
  const results: PageScores[] = [];
  for (const { name, hash } of pages) {
    const reports: Report[] = [];
    for (let n = 0; n < runs; n++) reports.push(await measure(`${portal}${hash}`));
    const scores = Object.fromEntries(
      CATEGORIES.map((it) => [it, median(reports.map(({ categories }) => categories[it]?.score ?? 0))]),
    );
    const medianOf = (audit: string) => median(reports.map((it) => it.audits[audit]?.numericValue ?? 0));
    results.push({
      page: name,
      scores,
      paintMs: Math.round(medianOf("largest-contentful-paint")),
      blockingMs: Math.round(medianOf("total-blocking-time")),
      shift: medianOf("cumulative-layout-shift"),
      machine: reports.map(({ environment }) => Math.round(environment.benchmarkIndex)),
      findings: [...new Set(reports.flatMap(findingsOf))],
    });
  }
  return results;
}

type Report = {
  environment: { benchmarkIndex: number };
  categories: {
    [category: string]: { score: number | null; auditRefs: { id: string; weight: number }[] } | undefined;
  };
  audits: { [audit: string]: { title: string; score: number | null; numericValue?: number } | undefined };
};

/** The titles of the audits that cost a category some of its score. */
function findingsOf({ categories, audits }: Report): string[] {
  return Object.values(categories).flatMap((category) =>
    (category?.auditRefs ?? []).flatMap(({ id, weight }) => {
      const audit = audits[id];
      return audit !== undefined && audit.score !== null && audit.score < 1 && weight > 0
        ? [audit.title]
        : [];
    }),
  );
}

async function measure(url: string): Promise<Report> {
  const flags = [...CHROMIUM_FLAGS, "--disable-gpu", "--headless=new"].join(" ");
  const options = ["--output=json", "--quiet", `--chrome-flags=${flags}`];
  const only = `--only-categories=${CATEGORIES.join(",")}`;
  const { stdout } = await run("npx", ["-y", LIGHTHOUSE, url, only, ...options], {
    env: { ...process.env, CHROME_PATH: await findChromium() },
    timeout: RUN_MS,
    maxBuffer: MAX_CHARACTERS,
  });
  return JSON.parse(stdout) as Report;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
