import type { Command } from "commander";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { plainLines } from "tallystick-runtime/plainText";
import { createDispatchReport, type DispatchReport } from "../../services/dispatch/report/dispatchReport.ts";
import { readAnyLedger } from "../../services/settlement/ledger/readAnyLedger.ts";
import { printResult } from "../cli/printResult.ts";

/** `tallystick dispatch-report FILE`: the results of dispatching, computed from a ledger alone. */
export function registerDispatchReport(program: Command): void {
  program
    .command("dispatch-report")
    .description(
      "Compute from the entries of a ledger what was spent on models, what a premium model alone would have " +
        "cost (an estimate), and whether every record follows from its own figures.",
    )
    .argument("<file>", "a ledger as settlement writes it (ledger.jsonl)")
    .option("--dispatcher <name>", "count the entries of this dispatcher only")
    .option("--json", "print one line of JSON")
    .addHelpText(
      "after",
      "\nExits with 1 when the ledger does not verify, and names the line. Also exits" +
        "\nwith 1 when the audit fidelity is not 100 %.",
    )
    .action(async (file: string, options: { dispatcher?: string; json?: boolean }) => {
      const found = await reportLedger(file, options.dispatcher);
      if (found instanceof LedgerLineError) {
        process.stderr.write(plainLines(`${file} does not verify.\nline ${found.line}: ${found.reason}\n`));
        process.exitCode = 1;
        return;
      }
      printResult(options, found, () => asText(found));
      if (found.faults.length > 0) process.exitCode = 1;
    });
}

/**
 * Verifies a ledger and computes its report.
 *
 * @returns the report, or the error of the ledger's first bad line
 * @throws TallystickError `unreadable_file`
 */
export async function reportLedger(file: string, only?: string): Promise<DispatchReport | LedgerLineError> {
  const { add, report } = createDispatchReport(only);
  try {
    await readAnyLedger(file, ({ entry }, line) => {
      const payload = plainJson(entry.payload) as { [key: string]: unknown };
      add({ line, taskId: entry.taskId, payload });
    });
  } catch (error) {
    if (error instanceof LedgerLineError) return error;
    throw error;
  }
  return report();
}

/** Converts a ledger's integers, which may have any size, to numbers for the report. */
function plainJson(value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  if (Array.isArray(value)) return value.map(plainJson);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, plainJson(inner)]));
}

function asText({ total, kinds, clients, entries, calls, closed, ...rest }: DispatchReport): string[] {
  return [
    `tasks            ${total.tasks} (${total.settled} settled, ${total.escalated} escalated, ${total.shadowed} shadowed, ${total.escrowed} held)`,
    `entries, calls   ${entries}, ${calls}`,
    `spent            $${total.spent_usd}`,
    `always premium   $${total.always_premium_usd} (an estimate: the tokens that answered, at the premium model's prices)`,
    `margin           ${total.margin_percent === null ? "no estimate" : `${total.margin_percent} %`}`,
    `uncounted        $${rest.spent_uncounted_usd} (booked at the highest cost: the vendor reported no tokens)`,
    `audit fidelity   ${rest.fidelity_percent} %`,
    ...Object.entries(rest.spent_by_role).map(([role, cost]) => `  ${role.padEnd(15)}$${cost}`),
    ...Object.entries(closed).map(([status, count]) => `closed           ${count} ${status}`),
    "",
    "kind                      tasks   settled   escalated   spent            margin",
    ...Object.entries(kinds).map(([kind, it]) =>
      [
        kind.padEnd(24).slice(0, 24),
        String(it.tasks).padStart(7),
        String(it.settled).padStart(9),
        String(it.escalated).padStart(11),
        `   $${it.spent_usd.padEnd(15)}`,
        it.margin_percent === null ? "-" : `${it.margin_percent} %`,
      ].join(" "),
    ),
    "",
    ...Object.entries(clients).map(
      ([client, { settled, keys }]) =>
        `client ${client}: ${settled} settled tasks, ${keys} keys of the shared state`,
    ),
    ...rest.faults.map(
      ({ line, task_id, fault }) => `line ${line}, task ${JSON.stringify(task_id)}: ${JSON.stringify(fault)}`,
    ),
  ];
}
