import { open } from "node:fs/promises";
import type { Command } from "commander";
import { TallystickError } from "../../protocol/errors.ts";
import { toHex } from "../../protocol/hex.ts";
import { JsonSyntaxError } from "../../protocol/json/pythonJson.ts";
import { LedgerChain, LedgerLineError, type VerifiedLedger } from "../../protocol/ledger/verifyLedger.ts";
import { MerkleFrontier } from "../../protocol/merkle/merkleFrontier.ts";
import { type FileLine, ledgerLines } from "../../settlement/ledger/ledgerLines.ts";
import { sha256ByNode } from "../../settlement/ledger/sha256ByNode.ts";

/** `tallystick verify-ledger FILE`: the whole chain of a ledger, offline. */
export function registerVerifyLedger(program: Command): void {
  program
    .command("verify-ledger")
    .description("Verify every line of a ledger file, and print its entry count, head and Merkle root.")
    .argument("<file>", "a ledger as settlement writes it (ledger.jsonl), or as Python's json.dumps does")
    .option("--json", "print one line of JSON")
    .addHelpText(
      "after",
      "\nExits with 0 when the ledger verifies, with 1 when it does not: then the first bad line is named." +
        "\nThe root is the one an AnchoredLedger holds when exactly these entries are anchored.",
    )
    .action(async (file: string, options: { json?: boolean }) => {
      const result = await verifyLedgerFile(file);
      process.stdout.write(`${options.json ? JSON.stringify(asJson(file, result)) : asText(file, result)}\n`);
      if (result instanceof LedgerLineError) process.exitCode = 1;
    });
}

/**
 * Verifies a ledger file line by line, in constant memory.
 *
 * @returns what it comes to, or the error of its first bad line
 * @throws TallystickError `unreadable_file` when the file cannot be read
 */
export async function verifyLedgerFile(file: string): Promise<VerifiedLedger | LedgerLineError> {
  let last: FileLine | undefined;
  const chain = new LedgerChain({ form: "python", sha256: sha256ByNode });
  const frontier = new MerkleFrontier(sha256ByNode);
  try {
    // Opened first, so that a folder or a missing file is told apart from a bad ledger.
    await (await open(file, "r")).close();
    for await (const lines of ledgerLines(file)) {
      for (const line of lines) {
        last = line;
        frontier.append(chain.next(line));
      }
    }
    return { size: frontier.size, head: chain.head, root: frontier.root() };
  } catch (error) {
    if (error instanceof LedgerLineError) return isTorn(error, last) ? torn(error) : error;
    if (!(error instanceof Error) || !("syscall" in error)) throw error;
    throw new TallystickError({
      code: "unreadable_file",
      message: `${file} cannot be read: ${error.message}`,
      hint: "Give the path of a ledger file, <LEDGER_DIR>/<id>/ledger.jsonl.",
      cause: error,
    });
  }
}

function isTorn(error: LedgerLineError, last: FileLine | undefined): boolean {
  return last !== undefined && !last.terminated && error.cause instanceof JsonSyntaxError;
}

function torn(error: LedgerLineError): LedgerLineError {
  return new LedgerLineError(
    error.line,
    "the last line is cut off, as a crash leaves it; settlement takes such a line off when it starts",
    error,
  );
}

function asText(file: string, result: VerifiedLedger | LedgerLineError): string {
  if (result instanceof LedgerLineError)
    return `${file} does not verify.\nline ${result.line}: ${result.reason}`;
  const { size, head, root } = result;
  return `${file} verifies.\nentries ${size}\nhead    ${head}\nroot    ${toHex(root)}`;
}

function asJson(file: string, result: VerifiedLedger | LedgerLineError): { [key: string]: unknown } {
  if (result instanceof LedgerLineError)
    return { file, valid: false, line: result.line, reason: result.reason };
  return { file, valid: true, entries: result.size, head: result.head, root: toHex(result.root) };
}
