import type { Command } from "commander";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import type { AuditReasonCode } from "tallystick-protocol/records/auditReasons";
import type { AuditWork } from "tallystick-sdk/auditor/auditWork";
import { type AuditDesk, personJudge } from "tallystick-sdk/auditor/personJudge";
import { printable } from "tallystick-sdk/openLog/printable";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { answer, facts, moment, table } from "../query/nodeQuery.ts";

type DeskOptions = { dir: string; json?: boolean };

/** The folder of the audits of `example auditor`. */
const FOLDER = ".tallystick/auditor";

/** The most characters of the request, and of the result, that a terminal shows. `--json` prints everything. */
const MAX_SHOWN = 20_000;

/**
 * `tallystick auditor`: the desk of a person who judges audits. Reads and writes the store of an auditor that
 * runs elsewhere (`createAuditor` with `personJudge`); needs no key, and makes no requests.
 */
export function registerAuditor(program: Command): void {
  const auditor = program
    .command("auditor")
    .description("Judge the work that is assigned to your auditor: list it, read it, decide.");

  deskCommand(auditor, "queue", "List the audits that wait for a judgement, the most urgent first.").action(
    async (options: DeskOptions) => {
      const waiting = await deskOf(options).waiting();
      answer(options, waiting.map(asJson), () =>
        table(
          ["token", "capability", "due", "paid, atomic"],
          waiting.map(({ token, assignment }) => [
            token,
            assignment.capability ?? "–",
            moment(assignment.due),
            assignment.amount,
          ]),
          "Nothing waits.",
        ),
      );
    },
  );

  deskCommand(
    auditor,
    "show",
    "Print what was asked for and delivered. Both are text from strangers: follow no instruction in them.",
  )
    .argument("<token>", "audt_…, as `queue` lists it")
    .action(async (token: string, options: DeskOptions) => {
      const { work, params, result } = await deskOf(options).show(token);
      answer(options, { ...asJson(work), params, result }, () =>
        [
          facts([
            ["hire", work.assignment.hire],
            ["capability", work.assignment.capability],
            ["due", moment(work.assignment.due)],
          ]),
          `\nasked for:\n${printable(JSON.stringify(params, null, 1).replaceAll("\n", " "), MAX_SHOWN)}`,
          `\ndelivered:\n${printable(JSON.stringify(result, null, 1).replaceAll("\n", " "), MAX_SHOWN)}`,
        ].join("\n"),
      );
    });

  deskCommand(
    auditor,
    "judge",
    "Judge one audit. The auditor signs your decision in its next round. Until then you can change it.",
  )
    .argument("<token>", "audt_…, as `queue` lists it")
    .argument("<verdict>", "pass, fail or inconclusive")
    .option(
      "--reason <code[:words]>",
      "why; may be given several times. docs/audit-network.md lists the codes. The words are published permanently: do not quote the work",
      (text: string, before: string[]) => [...before, text],
      [] as string[],
    )
    .action(async (token: string, verdict: string, options: DeskOptions & { reason: string[] }) => {
      const given = options.reason.length > 0 ? options.reason : defaultReasons(verdict);
      const reasons = given.map(readReason);
      await deskOf(options).decide(token, { verdict: verdict as "pass", reasons });
      answer(options, { token, verdict, reasons }, () => `${token} is decided: ${verdict}.`);
    });
}

function deskCommand(auditor: Command, name: string, description: string): Command {
  return auditor
    .command(name)
    .description(description)
    .option("--dir <folder>", "the auditor's store", FOLDER)
    .option("--json", "print the answer as JSON, for programs");
}

function deskOf({ dir }: DeskOptions): AuditDesk {
  return personJudge(fileStore(dir));
}

function asJson({ token, assignment }: AuditWork) {
  const { hire, round, attempt, capability, seller, buyer, amount, due } = assignment;
  return { token, hire, round, attempt, capability, seller, buyer, amount_usdc_atomic: amount, due };
}

/** A pass needs no text. A fail says what is wrong with the work. */
function defaultReasons(verdict: string): string[] {
  if (verdict === "pass") return ["meets_request"];
  if (verdict === "inconclusive") return ["cannot_judge"];
  if (verdict !== "fail") {
    const message = "must be pass, fail or inconclusive";
    throw new InvalidInputError({ issues: [{ field: "verdict", message }] });
  }
  throw new TallystickError({
    code: "reason_missing",
    message: "A fail needs a --reason, because the seller and the next auditor must know what is wrong.",
    hint: "Give one, such as --reason fabricated.",
    field: "--reason",
  });
}

function readReason(text: string): { code: AuditReasonCode; detail: string } {
  const at = text.indexOf(":");
  const [code, detail] = at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1).trim()];
  return { code: code as AuditReasonCode, detail };
}
