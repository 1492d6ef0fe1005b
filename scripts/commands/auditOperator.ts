import { Argument, type Command } from "commander";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { AuditActuation } from "tallystick-protocol/records/auditActuation";
import { auditReasonCodes } from "tallystick-protocol/records/auditReasons";
import { plainJson } from "tallystick-runtime/plainText";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { readAuditingConfig } from "../../services/auditing/config.ts";
import { serveUntilStopped } from "../cli/serveUntilStopped.ts";

/**
 * `tallystick audit-operator`: the process of an operator of audits. `decide` settles a person's decision.
 */
export function registerAuditOperator(program: Command): void {
  const operator = program
    .command("audit-operator")
    .description(
      "Run audits as their operator. Hire the drawn auditors, pay what the pool owes them, refund held " +
        "escrows of hires that were rolled back, and arrange canaries. The draws decide whom it hires, and the " +
        "derivation decides what it pays. The operator chooses neither.",
    )
    .action(run);
  operator
    .command("decide")
    .description("Decide whether a hire that two auditors found bad is rolled back. The decision is final.")
    .argument("<hire>", "as `tallystick audits` and GET /challenged name it")
    .addArgument(new Argument("<decision>", "the decision").choices(["rollback", "dismiss"]))
    .requiredOption("--reason <code>", `one of ${auditReasonCodes.join(", ")}`)
    .option("--detail <text>", "the reason in words, which are published", "")
    .action(decideOn);
}

async function run(): Promise<void> {
  const { completedSettings } = await import("../start/completedSettings.ts");
  const config = readAuditingConfig(await completedSettings());
  const { runOperator } = await import("../../services/auditing/runOperator.ts");
  const about = { node: config.nodeUrl, folder: config.folder };
  await serveUntilStopped(async () => ({ ...(await runOperator(config)), about }));
}

async function decideOn(
  hire: string,
  decision: AuditActuation["decision"],
  { reason, detail }: { reason: string; detail: string },
): Promise<void> {
  const { AUDIT_OPERATOR_PRIVATE_KEY: key, AUDIT_NODE_URL: baseUrl = "http://127.0.0.1:42069" } = process.env;
  if (key === undefined || !/^0x[0-9a-fA-F]{64}$/.test(key)) {
    const issues = [{ field: "AUDIT_OPERATOR_PRIVATE_KEY", message: "must be 0x and 64 hex digits" }];
    throw new InvalidInputError({ issues, code: "invalid_configuration" });
  }
  const [{ decide }, { knownLedger }, { privateKeyToAccount }] = await Promise.all([
    import("../../services/auditing/decide.ts"),
    import("tallystick-sdk/knownLedger"),
    import("viem/accounts"),
  ]);
  const entry = await decide({
    baseUrl,
    ledger: await knownLedger({ baseUrl, store: memoryStore() })(),
    account: privateKeyToAccount(key as `0x${string}`),
    decision: { hire, decision, reasons: [{ code: reason, detail }] } as AuditActuation,
  });
  process.stdout.write(`${plainJson({ hire, decision, entry })}\n`);
}
