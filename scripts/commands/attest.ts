import { type Command, InvalidArgumentError, Option } from "commander";
import { addressSchema } from "tallystick-protocol/address";
import { z } from "zod";
import { parseOption } from "../cli/parseOption.ts";
import { addQueryOptions, answer, facts, type QueryOptions } from "../query/nodeQuery.ts";

type Options = QueryOptions & {
  junit: { file: string; seed?: string }[];
  commit: string;
  agent?: string;
  agentVersion: string;
  alias?: string;
  coverageTool?: string;
  ciUrl?: string;
  ranAt?: number;
  post?: boolean;
  dryRun?: boolean;
};

const moment = z
  .string()
  .transform((text) => (/^\d{1,12}$/.test(text) ? Number(text) : Math.floor(Date.parse(text) / 1000)))
  .refine((time) => Number.isSafeInteger(time), "must be unix seconds or a date like 2026-01-31T12:00:00Z");

const agentId = z
  .string()
  .transform((text) => text.toLowerCase())
  .pipe(addressSchema);

/** `tallystick attest`: signs the results of an agent's tests, from the reports of its test runner. */
export function registerAttest(program: Command): void {
  // A seed belongs to the report before it.
  const reports: Options["junit"] = [];
  addQueryOptions(
    program
      .command("attest")
      .description(
        "Sign the results of an agent's tests, from the JUnit XML of its test runner. Give the reports of at " +
          "least two runs: a test whose results differ does not count as passing. TALLYSTICK_PRIVATE_KEY signs; " +
          "it is the key of the agent or of an attestor.",
      )
      .requiredOption("--junit <file>", "a run's report; give one for each run", (file: string) => {
        reports.push({ file });
        return reports;
      })
      .option("--seed <seed>", "the seed that shuffled the run of the report before it", seedOf(reports))
      .requiredOption("--commit <sha>", "what was tested: 40 or 64 hex digits", (sha: string) =>
        sha.toLowerCase(),
      )
      .option("--agent <address>", "whose tests (default: the signer's own)", parseOption("--agent", agentId))
      .requiredOption("--agent-version <version>", "the agent's version")
      .option("--alias <name>", "the agent's name for people")
      .option("--coverage-tool <name>", "the tool that measured coverage, if any")
      .option("--ci-url <url>", "where to see the run")
      .option(
        "--ran-at <time>",
        "the time of the runs (default: when the newest report was written)",
        parseOption("--ran-at", moment),
      )
      .option("--post", "send it to the node's settlement")
      .addOption(
        new Option("--dry-run", "show what would be signed; needs no key, only --agent").conflicts("post"),
      ),
  ).action(attest);
}

function seedOf(reports: Options["junit"]) {
  return (seed: string): string => {
    const last = reports.at(-1);
    if (last === undefined)
      throw new InvalidArgumentError("Give --seed after the --junit that it belongs to.");
    last.seed = seed;
    return seed;
  };
}

async function attest(options: Options): Promise<void> {
  // Loaded only now, because the help needs none of it.
  const { signAttestation } = await import("../attest/signAttestation.ts");
  const { readReport } = await import("../attest/readReport.ts");
  const given = await Promise.all(
    options.junit.map(async ({ file, seed }) => ({ report: await readReport(file), seed })),
  );
  const { record, notes, settled } = await signAttestation(options, given, process.env);
  const runs = record.body.runs as { seed?: string; passing: number; total: number; flaky: number }[];
  answer(options, { ...record, notes, ...(settled && { settled }) }, () =>
    [
      facts([
        ["agent", String(record.body.agent_id)],
        ["commit", String(record.body.commit)],
        ...runs.map((run, index): [string, string] => [
          `run ${index + 1}`,
          `${run.passing} of ${run.total} pass, ${run.flaky} flaky, ${run.seed === undefined ? "no seed" : `seed ${run.seed}`}`,
        ]),
        ["signed by", record.signer],
        ["settled as", settled?.hash],
      ]),
      ...notes,
      ...(record.signer === undefined ? ["Nothing was signed (--dry-run)."] : []),
      ...(record.signer !== undefined && settled === undefined
        ? ["Nothing was sent: --post sends it, --json prints it."]
        : []),
    ].join("\n"),
  );
}
