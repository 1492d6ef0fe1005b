import { styleText } from "node:util";
import type { Command } from "commander";
import { snapshotOf } from "tallystick-derive/snapshot";
import { plainJson } from "tallystick-runtime/plainText";
import { openNodeSnapshot } from "../../indexer/nodeDatabase.ts";
import { addNodeOptions, type NodeOptions } from "../cli/nodeOptions.ts";
import { wholeNumber } from "../cli/parseOption.ts";
import { type Comparison, compareRows } from "../eventLog/compareRows.ts";
import { deriveLog } from "../eventLog/deriveLog.ts";
import { table } from "../query/nodeQuery.ts";

/** `tallystick rederive`: proof that a node's numbers follow from its log. */
export function registerRederive(program: Command): void {
  const command = program
    .command("rederive")
    .description(
      "Derive a running node's log again, offline, and compare every row. Exit 1 if any differs.\n" +
        "Log and rows are read in one transaction, so the node may continue meanwhile.",
    )
    .option("--show <count>", "how many differences to show", wholeNumber("--show"), 20)
    .option("--json", "print the result as JSON");
  addNodeOptions(command).action(
    async ({ show, json, ...node }: NodeOptions & { show: number; json?: boolean }) => {
      const snapshot = await openNodeSnapshot(node);
      try {
        const { store, events, contractSigned } = await deriveLog(snapshot.eventLog());
        const comparison = await compareRows(snapshot, store, show);
        const { asOf, digest } = snapshotOf(store);
        const result = { events, contractSigned, ...comparison, asOf, digest };
        process.stdout.write(json ? `${plainJson(result, 2)}\n` : describeRows(result));
        if (comparison.differences > 0) process.exitCode = 1;
      } finally {
        await snapshot.close();
      }
    },
  );
}

type Result = Comparison & {
  events: number;
  contractSigned: number;
  asOf: { block: number; time: number };
  digest: string | null;
};

/** The result in words. Rows have strangers' texts, so they are shown without control characters. */
export function describeRows({
  events,
  contractSigned,
  rows,
  differences,
  first,
  asOf,
  digest,
}: Result): string {
  const believed =
    contractSigned === 0
      ? ""
      : `; the word of the log was believed for ${contractSigned} signatures of contracts`;
  const summary = `${rows} rows derived again from ${events} events${believed}`;
  if (differences === 0) {
    return `${styleText("green", "✔")} ${summary}: no difference.\n  block ${asOf.block} · digest ${digest}\n`;
  }
  const shown = table(
    ["table", "row", "column", "node has", "log gives"],
    first.map((it) => [it.table, it.id, it.column ?? "", it.node, it.derived]),
    "",
  );
  const more = differences > first.length ? `… and ${differences - first.length} more (--show)\n` : "";
  return `${styleText("red", "✘")} ${summary}: ${differences} differences.\n${shown}\n${more}`;
}
