import { type Command, InvalidArgumentError } from "commander";
import type { Weights } from "tallystick-derive/steward/score";
import { TallystickError } from "tallystick-protocol/errors";
import { addDeriveOptions, type DeriveOptions } from "../cli/deriveOptions.ts";
import { parseOption } from "../cli/parseOption.ts";
import { answer, table } from "../query/nodeQuery.ts";
import { weightsSetting } from "../steward/readWeights.ts";
import type { SimulatedMove } from "../steward/simulateWeights.ts";

type Options = DeriveOptions & { weights: Weights; json?: boolean; most: number };

/**
 * `tallystick steward-simulate LOG --weights …`: which agents change rank under other weights of the trust
 * score (T031).
 */
export function registerStewardSimulate(program: Command): void {
  const command = program
    .command("steward-simulate")
    .description(
      "Compute all trust scores of an event log again with other weights, and print the agents whose scores " +
        "change. Everything that depends on the scores is computed again too: the weight of endorsements, " +
        "tiers and penalties. Nothing is published.",
    )
    .argument("<log>", "an event log as `tallystick export` or `derive --from URL --keep` writes it")
    .requiredOption(
      "--weights <weights>",
      "test_coverage=.3,uptime=.2,success_rate=.25,endorsements=.15,attestation_freshness=.1 are the published ones",
      parseOption("--weights", weightsSetting),
    )
    .option("--most <count>", "how many agents to print", mostOf, 50)
    .option("--json", "print the result as JSON");
  addDeriveOptions(command).action(simulate);
}

function mostOf(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("It must be a whole number from 1 on.");
}

async function simulate(file: string, { weights, most, json, ...options }: Options): Promise<void> {
  // Loaded only now, because the help needs none of it.
  const { deriveLog } = await import("../eventLog/deriveLog.ts");
  const { readWholeLines } = await import("../eventLog/readWholeLines.ts");
  const { simulateWeights } = await import("../steward/simulateWeights.ts");
  if (file === "-") {
    throw new TallystickError({
      code: "unreadable_file",
      message: "The log is read twice, but standard input can be read only once.",
      hint: "Write it to a file: tallystick export, or tallystick derive --from URL --keep FILE.",
    });
  }
  const { agents, moved } = await simulateWeights(
    (more) => deriveLog(readWholeLines(file), { ...options, ...more }),
    weights,
  );
  const shown = moved.slice(0, most);
  answer({ json: json === true }, { agents, moved: moved.length, moves: shown }, () =>
    [
      table(
        ["agent", "score", "with these", "place", "with these", "tier"],
        shown.map(rowOf),
        "No score changes.",
      ),
      `${moved.length} of ${agents} scores change${shown.length < moved.length ? `; ${shown.length} are shown` : ""}.`,
    ].join("\n"),
  );
}

function rowOf({ agent, before, after }: SimulatedMove): (string | number)[] {
  const tier = before.tier === after.tier ? after.tier : `${before.tier} → ${after.tier}`;
  return [agent, before.score, after.score, before.rank, after.rank, tier];
}
