import type { Command } from "commander";
import { addQueryOptions, answer, type QueryOptions } from "../query/nodeQuery.ts";

/** `tallystick sla-status ID`: what an agent promises, and whether it keeps it. */
export function registerSlaStatus(program: Command): void {
  addQueryOptions(
    program
      .command("sla-status")
      .description("Show what an agent promises, whether it keeps it, and what breaches cost it.")
      .argument("<id>", "the agent's address or alias"),
  ).action(async (id: string, options: QueryOptions) => {
    const [{ askSteward }, { shownSlaForm }, { slaStatusText }] = await Promise.all([
      import("../steward/askSteward.ts"),
      import("../steward/shownSlaForm.ts"),
      import("../steward/slaStatusText.ts"),
    ]);
    const { read, whole } = await askSteward(shownSlaForm, { baseUrl: options.url, id, part: "sla" });
    answer(options, whole, () => slaStatusText(read));
  });
}
