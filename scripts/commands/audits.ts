import { styleText } from "node:util";
import { type Command, Option } from "commander";
import { InvalidInputError } from "tallystick-protocol/errors";
import { auditedHireSchema } from "tallystick-protocol/records/auditedHireSchema";
import { httpSetting } from "tallystick-runtime/configuration/settings";
import { printable } from "tallystick-sdk/openLog/printable";
import type { AuditsAnswer } from "tallystick-sdk/query/createGraphqlClient";
import { type Decision, decisionsOf } from "../audits/decisionsOf.ts";
import { type AuditVerification, verifyAudit } from "../audits/verifyAudit.ts";
import { NOT_CHECKED } from "../cli/exitCodes.ts";
import { parseOption, wholeNumber } from "../cli/parseOption.ts";
import { addQueryOptions, answer, moment, nodeAt, type QueryOptions, table } from "../query/nodeQuery.ts";

/** The most rows of each list. */
const MAX_FIRST = 100;

/** The open states: waiting for an auditor, for a verdict, for a recheck, or for the operator. */
const OPEN = ["ASSIGNING", "ASSIGNED", "RECHECKING", "CHALLENGED"] as const;

type ListOptions = QueryOptions & { operator?: string; seller?: string; capability?: string; first: number };
type Audit = AuditsAnswer["audits"]["nodes"][number];

/** `tallystick audits`: draws, queue, decisions. `tallystick audits verify HIRE`: a draw and its auditors, computed again. */
export function registerAudits(program: Command): void {
  const audits = addQueryOptions(
    program
      .command("audits")
      .description(
        "Show what was drawn for audits, what waits, and what operators decided. Exit 2 if older decisions of --operator were " +
          "not looked at.",
      )
      .option("--operator <address>", "only of this operator")
      .option("--seller <address>", "draws and queue only of this seller")
      .option("--capability <id>", "draws and queue only of this capability")
      .option(
        "--first <count>",
        `how many rows of each list, at most ${MAX_FIRST}`,
        wholeNumber("--first"),
        20,
      ),
  ).action(async (options: ListOptions) => {
    const { operator, seller, capability, first } = options;
    if (first > MAX_FIRST) {
      throw new InvalidInputError({
        issues: [{ field: "--first", message: `must be at most ${MAX_FIRST}` }],
      });
    }
    const { graphql } = nodeAt(options);
    const where = { operator: operator ?? null, seller: seller ?? null, capability: capability ?? null };
    const [drawn, decided, ...open] = await Promise.all([
      graphql.audits({ where, orderBy: "DRAWN", first }),
      decisionsOf(graphql, { operator, first }),
      ...OPEN.map((status) => graphql.audits({ where: { ...where, status }, first })),
    ]);
    const queue = open.flatMap(({ audits: { nodes } }) => nodes);
    const { decisions, isUnfinished } = decided;
    const note = "The search is unfinished: older decisions were not looked at.";
    answer(
      options,
      { draws: drawn.audits.nodes, queue, decisions, are_decisions_unfinished: isUnfinished },
      () => [describe(drawn.audits.nodes, queue, decisions), ...(isUnfinished ? [note] : [])].join("\n"),
    );
    if (isUnfinished) process.exitCode = NOT_CHECKED;
  });
  addVerify(audits);
}

function addVerify(audits: Command): void {
  addQueryOptions(
    audits
      .command("verify")
      .description(
        "Compute again whether a hire had to be drawn, and who had to audit it, from the node's open log. Exit " +
          "1 and name what does not hold; exit 2 if everything that was checked holds, and something was not checked.",
      )
      .argument("<hire>", "as audits name it: <tx>-<log> of its payment, or its escrow's id")
      .addOption(
        new Option(
          "--rpc <url>",
          "a chain node that you trust: it gives the block hashes, and shows what the log leaves out",
        )
          .env("RPC_URL")
          .argParser(parseOption("--rpc", httpSetting)),
      ),
  ).action(async (hire: string, _: object, command: Command) => {
    // Both commands take --url and --json.
    const options = command.optsWithGlobals<QueryOptions & { rpc?: string }>();
    const { success } = auditedHireSchema.safeParse(hire);
    if (!success) {
      const message =
        "must be an escrow's id, or the hash of a payment's transaction, a hyphen and the number of its log";
      throw new InvalidInputError({ issues: [{ field: "hire", message }] });
    }
    const result = await verifyAudit({ url: options.url, hire, rpcUrl: options.rpc });
    answer(options, result, () => describeVerification(result));
    if (!result.holds) process.exitCode = 1;
    else if (result.unchecked.length > 0) process.exitCode = NOT_CHECKED;
  });
}

function describe(draws: Audit[], queue: Audit[], decisions: Decision[]): string {
  const row = (it: Audit) => [
    it.auditedHire,
    it.sellerAddress,
    it.capability ?? "–",
    `$${it.amountUsdc}`,
    it.status.toLowerCase().replace("_", " "),
  ];
  const head = ["hire", "seller", "capability", "amount", "status"];
  return [
    table(
      ["drawn", ...head],
      draws.map((it) => [moment(it.draw?.time ?? null), ...row(it)]),
      "No hire was drawn.",
    ),
    table(
      [...head, "round"],
      queue.map((it) => [...row(it), it.round === 0 ? "–" : `${it.round}, attempt ${it.attempt}`]),
      "Nothing waits.",
    ),
    table(
      ["decided", "operator", "hire", "decision", "reasons"],
      decisions.map((it) => [
        moment(it.time),
        it.operator,
        it.auditedHire,
        it.decision.toLowerCase(),
        printable(
          it.reasons.map(({ code, detail }) => [code, detail].filter(Boolean).join(": ")).join("; "),
          200,
        ),
      ]),
      "Nothing was decided.",
    ),
  ].join("\n\n");
}

function describeVerification(verification: AuditVerification): string {
  const { findings, unchecked, holds, chain, upToBlock } = verification;
  const [good, bad, open] = [styleText("green", "✔"), styleText("red", "✘"), styleText("yellow", "?")];
  const lines = [
    ...findings.map((it) => `${it.holds ? good : bad} ${printable(it.what, 500)}`),
    ...unchecked.map((what) => `${open} ${printable(what, 500)}`),
  ];
  const asked = chain
    ? "hashes, entries and payments as on the chain"
    : "hashes as the node tells them (--rpc asks the chain)";
  const end = !holds
    ? "It does not hold"
    : unchecked.length === 0
      ? "All of it holds"
      : "What was checked holds, and something was not checked";
  return [...lines, "", `${end}, up to block ${upToBlock}; ${asked}.`].join("\n");
}
