import { type Command, Option } from "commander";
import { printable } from "tallystick-sdk/openLog/printable";
import { NOT_CHECKED } from "../cli/exitCodes.ts";
import { addQueryOptions, answer, moment, type QueryOptions, table } from "../query/nodeQuery.ts";
import type { Failure } from "../steward/failuresOf.ts";

type Options = QueryOptions & { last7Days?: boolean; last30Days?: boolean; last90Days?: boolean };

/** The most failures that are shown. */
const MAX_SHOWN = 500;

/**
 * `tallystick failures ID --last-7-days`: the failed hires, with the source and the reason of each failure.
 */
export function registerFailures(program: Command): void {
  const command = program
    .command("failures")
    .description(
      "List the failed hires of an agent, the latest first: who says so, and the buyer's reason. Exit 2 if the node " +
        "has more hires than were looked at.",
    )
    .argument("<id>", "the agent's address or alias");
  for (const days of [7, 30, 90]) {
    const others = [7, 30, 90].filter((it) => it !== days).map((it) => `last${it}Days`);
    const byDefault = days === 7 ? " (default)" : "";
    command.addOption(
      new Option(`--last-${days}-days`, `of the last ${days} days${byDefault}`).conflicts(others),
    );
  }
  addQueryOptions(command).action(async (id: string, options: Options) => {
    const days = options.last90Days ? 90 : options.last30Days ? 30 : 7;
    const { failuresOf } = await import("../steward/failuresOf.ts");
    const told = await failuresOf(options.url, id, { days, most: MAX_SHOWN });
    answer(options, told, () =>
      [
        table(
          ["time", "capability", "USDC", "buyer", "evidence", "reason", "hire"],
          told.failures.map(rowOf),
          told.is_unfinished
            ? `No failed hire was found in the part that was read, of the last ${days} days.`
            : `No hire of the last ${days} days failed.`,
        ),
        ...(told.is_unfinished
          ? ["The search is unfinished: the node always names one more page. Older hires were not looked at."]
          : told.next_cursor === null
            ? []
            : [`Only the latest ${MAX_SHOWN} are shown.`]),
      ].join("\n"),
    );
    if (told.is_unfinished) process.exitCode = NOT_CHECKED;
  });
}

function rowOf(it: Failure): string[] {
  const why = it.reason === null ? "–" : printable(it.reason, 60);
  return [
    ...[moment(it.time), printable(it.capability ?? "-", 80), it.price_usdc, it.buyer, it.evidence],
    it.is_excused ? `${why} (not counted)` : why,
    it.hire,
  ];
}
