import type { Command } from "commander";
import { addQueryOptions, answer, type QueryOptions } from "../query/nodeQuery.ts";

/** `tallystick trust-report ID`: an agent's trust score with all its parts, signed by the node. */
export function registerTrustReport(program: Command): void {
  addQueryOptions(
    program
      .command("trust-report")
      .description(
        "Show an agent's trust score and what each factor is made of. --json prints the report as the node " +
          "signed it, for verify-signature and verify-factor.",
      )
      .argument("<id>", "the agent's address or alias"),
  ).action(async (id: string, options: QueryOptions) => {
    const [{ askSteward }, { shownReportForm }, { trustReportText }] = await Promise.all([
      import("../steward/askSteward.ts"),
      import("../steward/shownReportForm.ts"),
      import("../steward/trustReportText.ts"),
    ]);
    const part = "trust-report";
    const { read, whole } = await askSteward(shownReportForm, { baseUrl: options.url, id, part });
    answer(options, whole, () => trustReportText(read));
  });
}
