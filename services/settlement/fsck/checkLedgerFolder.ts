import { stat } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { LEDGER_FILE, MAX_ENTRY_BYTES } from "../ledger/diskLedger.ts";
import { LAST_SIGNED_FILE, readLastSigned } from "../ledger/lastSigned.ts";
import { LineTooLongError, ledgerLines } from "../ledger/ledgerLines.ts";
import { CHECKPOINT_KEY_FILE, readCheckpointKey } from "../proofs/checkpointKey.ts";
import { FaultList, type Findings } from "./fault.ts";
import { TolerantChain } from "./tolerantChain.ts";

const RESTORE =
  "Stop the service. Restore the file from a copy, or run: tallystick ledger pull --from URL, which keeps the good beginning and fetches the rest.";

/** Whether a folder has the file of a settlement service's ledger. */
export async function isLedgerFolder(folder: string): Promise<boolean> {
  return stat(path.join(folder, LEDGER_FILE)).then(
    (found) => found.isFile(),
    () => false,
  );
}

/**
 * Checks the folder of a settlement service's ledger: every line, the chain of hashes, what was signed last, the key of
 * the checkpoints. It continues after a fault, reports each fault with its line, and writes nothing. A
 * running service may append meanwhile.
 */
export async function checkLedgerFolder({
  folder,
  onProgress,
  signal,
}: {
  folder: string;
  onProgress?: ((checked: number, size: number) => void) | undefined;
  signal?: AbortSignal | undefined;
}): Promise<Findings> {
  const faults = new FaultList();
  const notes: string[] = [];
  const file = path.join(folder, LEDGER_FILE);
  // This is read first. Everything that was signed was on disk before, so the file read later must contain
  // it.
  const signed = await lastSigned(folder, faults);
  const { size: bytes } = await stat(file);
  const chain = new TolerantChain();
  const tree = new MerkleFrontier(sha256ByNode);
  let signedRoot = signed?.size === 0 ? toHex(tree.root()) : undefined;
  try {
    for await (const lines of ledgerLines(file, bytes)) {
      signal?.throwIfAborted();
      for (const line of lines) {
        const { leaf, reason } = chain.next(line);
        if (!line.terminated) {
          notes.push(
            `Line ${tree.size + 1} is incomplete, as after a crash. It was never reported as settled. The service removes or completes it at its next start.`,
          );
          break;
        }
        tree.append(leaf);
        const what =
          line.bytes.length > MAX_ENTRY_BYTES
            ? `it has ${line.bytes.length} bytes, more than the ${MAX_ENTRY_BYTES} of an entry`
            : reason;
        if (what !== undefined) faults.add({ file: LEDGER_FILE, line: tree.size, what, todo: RESTORE });
        if (tree.size === signed?.size) signedRoot = toHex(tree.root());
      }
      onProgress?.(lines.at(-1)?.end ?? 0, bytes);
    }
  } catch (error) {
    if (!(error instanceof LineTooLongError)) throw error;
    const what = "it is too long for an entry; nothing after it was read";
    faults.add({ file: LEDGER_FILE, line: tree.size + 1, what, todo: RESTORE });
  }
  if (signed !== undefined && signedRoot !== signed.root) {
    const what =
      signedRoot === undefined
        ? `${signed.size} entries were signed, and the ledger has ${tree.size}`
        : `its ${signed.size} entries are not the signed ones`;
    faults.add({ file: LAST_SIGNED_FILE, what, todo: RESTORE });
  }
  if (
    signed === undefined &&
    tree.size > 0 &&
    faults.faults.every(({ file: at }) => at !== LAST_SIGNED_FILE)
  ) {
    const todo = "Restore it from a copy, or run tallystick ledger adopt.";
    faults.add({ file: LAST_SIGNED_FILE, what: "it is missing, so it is unknown what was signed", todo });
  }
  if (tree.size > 0 && (await readCheckpointKey(folder).catch(() => undefined)) === undefined)
    notes.push(
      `${CHECKPOINT_KEY_FILE} is missing, or has no key. Unless CHECKPOINT_PRIVATE_KEY is set, restore it from a copy.`,
    );
  return {
    kind: "ledger",
    entries: tree.size,
    root: toHex(tree.root()),
    faults: faults.faults,
    faultCount: faults.count,
    notes,
  };
}

async function lastSigned(folder: string, faults: FaultList) {
  return readLastSigned(folder).catch((error) => {
    if (!(error instanceof TallystickError)) throw error;
    faults.add({
      file: LAST_SIGNED_FILE,
      what: "it does not have a size and a root",
      todo: error.hint ?? RESTORE,
    });
    return undefined;
  });
}
