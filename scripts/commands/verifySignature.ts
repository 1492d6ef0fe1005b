import type { Command } from "commander";
import { wholeNumber } from "../cli/parseOption.ts";
import { answer } from "../query/nodeQuery.ts";

type Options = { key?: string; maxAge?: number; json?: boolean };

/** `tallystick verify-signature FILE`: checks offline whether a node signed a trust report. */
export function registerVerifySignature(program: Command): void {
  program
    .command("verify-signature")
    .description(
      "Check the signature of a trust report, offline. Without --key it prints the key that signed the " +
        "report: compare it with the node's agent card. A signature does not expire, so an agent can show an " +
        "old report; --max-age refuses it.\n" +
        "Exit 1 if the report was changed, was signed by another key, or is too old.",
    )
    .argument("<file>", "a report, as `tallystick trust-report ID --json` writes it")
    .option("--key <key>", "the node's key, 64 hex digits, from its agent card or GET /v1/report-key")
    .option("--max-age <hours>", "refuse a report that is older, or has no date", wholeNumber("--max-age"))
    .option("--json", "print the result as JSON")
    .action(verify);
}

async function verify(file: string, options: Options): Promise<void> {
  const [{ readReportFile }, { verifyTrustReport }, { failed, signed }, { plainStrings }] = await Promise.all(
    [
      import("../steward/readReportFile.ts"),
      import("tallystick-protocol/trustReport/verifyTrustReport"),
      import("../steward/marks.ts"),
      import("../steward/plainStrings.ts"),
    ],
  );
  const verdict = verifyTrustReport(await readReportFile(file), {
    publicKey: options.key,
    notBefore: options.maxAge === undefined ? undefined : Date.now() / 1_000 - options.maxAge * 3_600,
  });
  const shown = plainStrings(verdict);
  answer(options, verdict, () =>
    shown.isValid
      ? [
          signed(`SIGNED: the report of ${shown.agent} was not changed after it was signed.`),
          `  - Date: ${shown.reportDate ?? "none"}`,
          `  - Key: ${shown.publicKey}${options.key === undefined ? " (not compared with the node's key: give --key)" : ""}`,
        ].join("\n")
      : failed(
          `${REASONS[shown.reason ?? "signature"]} (agent ${shown.agent}, date ${shown.reportDate ?? "none"}, key ${shown.publicKey})`,
        ),
  );
  if (!verdict.isValid) process.exitCode = 1;
}

const REASONS = {
  signed_by: "The fields public_key and signed_by of the report name different keys.",
  other_key: "The key that signed the report is not the node's.",
  signature: "The report was changed after it was signed.",
  too_old: "The report is older than --max-age.",
  not_dated: "The report has no date, so its age is unknown.",
};
