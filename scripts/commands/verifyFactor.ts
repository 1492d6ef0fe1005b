import { Argument, type Command } from "commander";
import type { FactorName } from "tallystick-derive/steward/score";
import { addQueryOptions, answer, bold, type QueryOptions } from "../query/nodeQuery.ts";
import type { ShownReport } from "../steward/shownReport.ts";

const FACTORS = [
  ...["test_coverage", "uptime", "success_rate"],
  ...["endorsements", "attestation_freshness"],
] as FactorName[];

/** `tallystick verify-factor ID FACTOR`: computes one factor again from its evidence; exit 1 when it differs. */
export function registerVerifyFactor(program: Command): void {
  addQueryOptions(
    program
      .command("verify-factor")
      .description(
        "Compute one factor of an agent's trust score again, from the evidence in its report. Exit 1 if it " +
          "differs from the node's figure. `tallystick derive --from URL --check` checks whether the evidence " +
          "itself is right.",
      )
      .argument("<id>", "the agent's address or alias, or a file with its report")
      .addArgument(new Argument("<factor>", "which one").choices(FACTORS)),
  ).action(verify);
}

async function verify(id: string, name: FactorName, options: QueryOptions): Promise<void> {
  const [{ recomputeFactor }, { factorLines }, { FACTOR_TITLES }, { failed, quoted, signed }] =
    await Promise.all([
      import("../steward/recomputeFactor.ts"),
      import("../steward/factorLines.ts"),
      import("../steward/shownReport.ts"),
      import("../steward/marks.ts"),
    ]);
  const report = await reportOf(id, options.url);
  const factor = report.trust_report.factors[name];
  const { recomputed, told, agrees } = recomputeFactor(report, name);
  const value = (nano: number): string => (nano / 1e9).toFixed(9);
  answer(
    options,
    {
      agent_id: report.trust_report.agent_id,
      factor: name,
      told: told / 1e9,
      recomputed: recomputed / 1e9,
      agrees,
    },
    () =>
      [
        bold(`${FACTOR_TITLES[name]} Factor:`),
        ...factorLines(name, factor, report.trust_report.as_of.time).map((line) => `  - ${line}`),
        `  - Score: ${value(told)}`,
        `  - Source: ${quoted(factor.source)}${factor.evidence.attestation ? ` (entry ${quoted(factor.evidence.attestation)})` : ""}`,
        agrees
          ? `  ${signed(`Computed again from its evidence: ${value(recomputed)}`)}`
          : `  ${failed(`Computed again from its evidence it is ${value(recomputed)}`)}`,
      ].join("\n"),
  );
  if (!agrees) process.exitCode = 1;
}

async function reportOf(id: string, url: string): Promise<ShownReport> {
  const { shownReportForm } = await import("../steward/shownReportForm.ts");
  if (id.includes("/") || id.endsWith(".json")) {
    const [{ readReportFile, REPORT_HINT }, { readServiceAnswer }] = await Promise.all([
      import("../steward/readReportFile.ts"),
      import("tallystick-sdk/readServiceAnswer"),
    ]);
    const report = await readReportFile(id);
    return readServiceAnswer(shownReportForm, report, { what: `The report in ${id}`, hint: REPORT_HINT });
  }
  const { askSteward } = await import("../steward/askSteward.ts");
  return (await askSteward(shownReportForm, { baseUrl: url, id, part: "trust-report" })).read;
}
