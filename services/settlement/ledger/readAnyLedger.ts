import { open } from "node:fs/promises";
import { TallystickError } from "tallystick-protocol/errors";
import { JsonSyntaxError } from "tallystick-protocol/json/pythonJson";
import {
  type CheckedEntry,
  LedgerChain,
  LedgerLineError,
  type OtherLayouts,
  type VerifiedLedger,
} from "tallystick-protocol/ledger/verifyLedger";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { type FileLine, LineTooLongError, ledgerLines } from "./ledgerLines.ts";
import { verifyInParts } from "./verifyInParts.ts";
import { verifyLines } from "./verifyLines.ts";

/** The result for a good file, and its lines that are not in the canonical layout. */
export type VerifiedFile = VerifiedLedger & { otherLayouts: OtherLayouts };

/**
 * Verifies a ledger file of any origin and in any layout, in constant memory. Without `onEntry` it uses all cores if
 * the file is long, canonical and good. Otherwise it goes line by line.
 *
 * @param onEntry called with every entry in turn, after it was checked; `number` is its line, from 1
 * @throws LedgerLineError naming the first bad line
 * @throws TallystickError `unreadable_file` when the file cannot be read
 */
export async function readAnyLedger(
  file: string,
  onEntry?: (checked: CheckedEntry, number: number) => void | Promise<void>,
): Promise<VerifiedFile> {
  const chain = new LedgerChain({ layout: "any", sha256: sha256ByNode });
  const frontier = new MerkleFrontier(sha256ByNode);
  let last: FileLine | undefined;
  async function* groups() {
    for await (const lines of ledgerLines(file)) {
      last = lines.at(-1);
      yield lines;
    }
  }
  await checkReadable(file);
  const canonical = onEntry ? undefined : await verifyInParts({ file });
  if (canonical) return { ...canonical, otherLayouts: { count: 0, firstLine: 0 } };
  try {
    await verifyLines(groups(), {
      chain,
      tree: frontier,
      onEntry: onEntry && ((checked) => onEntry(checked, frontier.size)),
    });
  } catch (error) {
    if (error instanceof LineTooLongError)
      throw new LedgerLineError(frontier.size + 1, "it is too long for an entry", { cause: error });
    if (error instanceof LedgerLineError && isTorn(error, last)) throw torn(error);
    throw error;
  }
  return { size: frontier.size, head: chain.head, root: frontier.root(), otherLayouts: chain.otherLayouts };
}

/** A folder or a missing file gets another error than a bad ledger. */
async function checkReadable(file: string): Promise<void> {
  try {
    const handle = await open(file, "r");
    const isFolder = (await handle.stat()).isDirectory();
    await handle.close();
    if (isFolder) throw new Error("it is a folder");
  } catch (cause) {
    throw new TallystickError({
      code: "unreadable_file",
      message: `${file} cannot be read: ${(cause as Error).message}`,
      hint: "Give the path of a ledger file, <LEDGER_DIR>/<id>/ledger.jsonl.",
      cause,
    });
  }
}

function isTorn(error: LedgerLineError, last: FileLine | undefined): boolean {
  return last !== undefined && !last.terminated && error.cause instanceof JsonSyntaxError;
}

function torn(error: LedgerLineError): LedgerLineError {
  return new LedgerLineError(
    error.line,
    "the last line is cut off, as a crash leaves it; settlement removes such a line when it starts",
    { cause: error },
  );
}
