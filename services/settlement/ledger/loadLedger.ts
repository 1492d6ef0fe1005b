import { appendFile, open, truncate } from "node:fs/promises";
import { JsonSyntaxError } from "tallystick-protocol/json/pythonJson";
import { GENESIS_HASH, type LedgerEntry } from "tallystick-protocol/ledger/entry";
import { LedgerChain, LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { type FileLine, ledgerLines, SMALL_PIECE } from "./ledgerLines.ts";
import type { StorePosition } from "./ledgerStore.ts";

/** Called with every good entry. `end` is the byte after its line. */
export type OnLoadedEntry = (entry: LedgerEntry, leafHash: Uint8Array, end: number) => void;

/**
 * The repair at the end of the file. `cut`: a last line that a crash left half written was removed. If there is space,
 * its bytes are kept in `ledger.torn` next to the ledger. `completed`: a complete, valid last line only lacked its
 * newline.
 */
export type LedgerRepair = { kind: "cut" | "completed"; line: number; bytes: number };

/**
 * Reads a ledger file from its beginning, or from the position `known`, and verifies the chain. An incomplete
 * last line was never reported as settled, so it is cut off. Any other fault means that somebody changed the
 * file, so it is not touched. A missing file is created.
 *
 * @param known the position up to which the file was read and verified before
 * @returns the repair that was made, if any
 * @throws LedgerLineError naming the first bad line
 */
export async function loadLedger(
  filePath: string,
  onEntry: OnLoadedEntry,
  known: StorePosition = { size: 0, end: 0, head: GENESIS_HASH },
): Promise<LedgerRepair | undefined> {
  const { size, end, head } = known;
  await (await open(filePath, "a")).close();
  const chain = new LedgerChain({ sha256: sha256ByNode, parentHash: head, firstIndex: size });
  let count = size;
  for await (const lines of ledgerLines(filePath, undefined, end, SMALL_PIECE)) {
    for (const line of lines) {
      const checked = check(chain, line);
      if (checked === "torn") return await cut(filePath, line, count + 1);
      count++;
      onEntry(checked.entry, checked.leafHash, line.terminated ? line.end : line.end + 1);
      if (!line.terminated) {
        await appendFile(filePath, "\n", { flush: true });
        return { kind: "completed", line: count, bytes: 1 };
      }
    }
  }
  return undefined;
}

function check(chain: LedgerChain, line: FileLine) {
  try {
    return chain.nextEntry(line);
  } catch (error) {
    const halfWritten = error instanceof LedgerLineError && error.cause instanceof JsonSyntaxError;
    if (halfWritten && !line.terminated) return "torn" as const;
    throw error;
  }
}

async function cut(filePath: string, line: FileLine, number: number): Promise<LedgerRepair> {
  const torn = filePath.replace(/\.jsonl$/, ".torn");
  // On a full disk these bytes are lost. That does no harm, because they were never reported as settled.
  await appendFile(torn, Buffer.from(`${line.text}\n`, "latin1"), { flush: true }).catch(() => {});
  await truncate(filePath, line.start);
  const file = await open(filePath, "r+");
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  return { kind: "cut", line: number, bytes: line.end - line.start };
}
