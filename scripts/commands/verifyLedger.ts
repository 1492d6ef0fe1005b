import type { Command } from "commander";
import { toHex } from "tallystick-protocol/hex";
import { LedgerLineError, type OtherLayouts } from "tallystick-protocol/ledger/verifyLedger";
import { readAnyLedger, type VerifiedFile } from "../../services/settlement/ledger/readAnyLedger.ts";
import { isAddress } from "../../services/settlement/staticLog/logSource.ts";
import { isStaticLog } from "../../services/settlement/staticLog/staticLog.ts";
import { printResult } from "../cli/printResult.ts";
import { printStaticLog } from "../verification/printStaticLog.ts";
import { refuseOptions } from "../verification/refuseOptions.ts";

type Options = { key?: string[]; policy?: string; json?: boolean };

/** `tallystick verify-ledger FILE`: the whole chain of a ledger, offline. */
export function registerVerifyLedger(program: Command): void {
  program
    .command("verify-ledger")
    .description("Verify every entry of a ledger, and print its entry count, head and Merkle root.")
    .argument(
      "<file>",
      "a ledger as settlement writes it (ledger.jsonl), or in any other layout of its lines; or a static log (C2SP\n" +
        "tlog-tiles): its folder, or its address",
    )
    .option("--key <vkey...>", "of a static log: the ledger's verifier key, from a source other than the log")
    .option("--policy <file>", "of a static log: the trusted logs and witnesses (C2SP tlog-policy)")
    .option("--json", "print one line of JSON")
    .addHelpText(
      "after",
      "\nExits with 0 when every entry verifies. Exits with 1 when one does not, and names the first bad line." +
        "\nThe hashes cover what an entry says, not how its line is written. Lines in another layout than the canonical one are" +
        "\ncounted, and change nothing. tallystick ledger import FILE takes over such a ledger." +
        "\nThe root is the one that an AnchoredLedger holds when exactly these entries are anchored.",
    )
    .action(async (file: string, options: Options) => {
      if (isAddress(file) || (await isStaticLog(file))) {
        await printStaticLog(file, options);
        return;
      }
      const { key, policy } = options;
      refuseOptions(
        { "--key": key, "--policy": policy },
        "a ledger file: nobody signs it, so compare its root",
      );
      const result = await verifyLedgerFile(file);
      printResult(options, asJson(file, result), () => asText(file, result));
      if (result instanceof LedgerLineError) process.exitCode = 1;
    });
}

/**
 * Verifies a ledger file line by line, in constant memory.
 *
 * @returns the result, or the error of its first bad line
 * @throws TallystickError `unreadable_file` when the file cannot be read
 */
export async function verifyLedgerFile(file: string): Promise<VerifiedFile | LedgerLineError> {
  try {
    return await readAnyLedger(file);
  } catch (error) {
    if (error instanceof LedgerLineError) return error;
    throw error;
  }
}

function asText(file: string, result: VerifiedFile | LedgerLineError): string[] {
  if (result instanceof LedgerLineError)
    return [`${file} does not verify.`, `line ${result.line}: ${result.reason}`];
  const { size, head, root, otherLayouts } = result;
  return [
    `${file} verifies.`,
    `entries ${size}`,
    `head    ${head}`,
    `root    ${toHex(root)}`,
    `layout  ${layoutText(size, otherLayouts)}`,
  ];
}

/** Remarks about the layout of the file, which do not affect the verification. */
export function layoutText(size: number, { count, firstLine }: OtherLayouts): string {
  const number = (value: number) => value.toLocaleString("en-US");
  if (count === 0) return "every line is in canonical layout";
  const entries = size === 1 ? "1 entry verifies" : `${number(size)} entries verify`;
  const lines = count === 1 ? "1 line is" : `${number(count)} lines are`;
  return `${entries}; ${lines} not in canonical layout (the first is line ${number(firstLine)})`;
}

function asJson(file: string, result: VerifiedFile | LedgerLineError): { [key: string]: unknown } {
  if (result instanceof LedgerLineError)
    return { file, valid: false, line: result.line, reason: result.reason };
  const { size, head, root, otherLayouts } = result;
  return { file, valid: true, entries: size, head, root: toHex(root), otherLayouts };
}
