import { open, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { type CheckedEntry, LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { compareWithChain } from "../anchoring/compareWithChain.ts";
import type { LedgerOnChain } from "../anchoring/readLedgerOnChain.ts";
import { makeCheckpointKey, readCheckpointKey } from "../proofs/checkpointKey.ts";
import { LEDGER_FILE, MAX_ENTRY_BYTES } from "./diskLedger.ts";
import { keepOwner } from "./keepOwner.ts";
import { LAST_SIGNED_FILE, readLastSigned, writeLastSigned } from "./lastSigned.ts";
import { lockFolder } from "./lockFolder.ts";
import { readAnyLedger, type VerifiedFile } from "./readAnyLedger.ts";
import { syncFolder } from "./syncFolder.ts";

/**
 * How far an entry's time may be ahead of the present, in seconds. With a later entry, every write would wait
 * until its time.
 */
const CLOCK_TOLERANCE = 300;

/** Bytes of lines that are written at once. */
const PIECE = 1 << 20;

export type ImportLedgerParameters = {
  /** The ledger to import, in any layout. It is only read. */
  file: string;
  /** The folder of the new ledger; created if needed. It has no entries yet. */
  folder: string;
  /** Unix seconds. */
  now: number;
  /** The ledger on chain and its writer; undefined when the ledger is not anchored. */
  onChain?: (LedgerOnChain & { expectedWriter: Address }) | undefined;
  /** Whether the settings have the key of the checkpoints. Then the folder gets none. */
  hasKey?: boolean;
};

/**
 * Imports a verified ledger as the beginning of one of our ledgers: the same contents and hashes, in
 * canonical lines. The folder changes only after everything is checked and on disk.
 *
 * @throws LedgerLineError naming the first line that does not verify, or that our ledgers cannot hold: it is
 * longer than {@link MAX_ENTRY_BYTES}, or its time is before 1970 or ahead of now
 * @throws TallystickError `ledger_present` when the folder has entries; `ledger_locked`; those of {@link
 * compareWithChain}
 */
export async function importLedger(parameters: ImportLedgerParameters): Promise<VerifiedFile> {
  const { folder, onChain, hasKey = false } = parameters;
  const release = await lockFolder(folder);
  const target = path.join(folder, LEDGER_FILE);
  const unfinished = `${target}.importing`;
  try {
    await requireEmpty(folder, target);
    const tree = new MerkleTree(sha256ByNode);
    const verified = await copyCanonically(parameters, unfinished, tree);
    if (onChain !== undefined) compareWithChain(onChain, { tree, writer: onChain.expectedWriter });
    // The key is made before the entries are there, because a service does not make one for a ledger with
    // entries.
    if (!hasKey && (await readCheckpointKey(folder)) === undefined) await makeCheckpointKey(folder);
    await keepOwner(unfinished, target);
    await rename(unfinished, target);
    await syncFolder(folder);
    await writeLastSigned(folder, { size: verified.size, root: toHex(verified.root) });
    return verified;
  } finally {
    await rm(unfinished, { force: true });
    await release();
  }
}

async function requireEmpty(folder: string, target: string): Promise<void> {
  const size = await stat(target).then(
    (found) => found.size,
    () => 0,
  );
  const signed = await readLastSigned(folder);
  if (size === 0 && (signed === undefined || signed.size === 0)) return;
  throw new TallystickError({
    code: "ledger_present",
    message:
      size > 0
        ? `${target} has entries already.`
        : `${path.join(folder, LAST_SIGNED_FILE)} says that entries of another ledger were signed here.`,
    hint: "A ledger is imported as the beginning of a new one: set LEDGER_DIR to an empty folder, or LEDGER_ORIGIN to a new name.",
  });
}

async function copyCanonically(
  { file, now }: ImportLedgerParameters,
  unfinished: string,
  tree: MerkleTree,
): Promise<VerifiedFile> {
  const output = await open(unfinished, "w");
  let lines: string[] = [];
  let length = 0;
  const write = async () => {
    const bytes = Buffer.from(lines.join(""), "latin1");
    lines = [];
    length = 0;
    await output.writeFile(bytes);
  };
  try {
    const verified = await readAnyLedger(file, (checked, number) => {
      const reason = importProblem(checked, now);
      if (reason !== undefined) throw notImportable(number, reason);
      tree.append(checked.leafHash);
      lines.push(`${checked.line}\n`);
      length += checked.line.length;
      return length > PIECE ? write() : undefined;
    });
    await write();
    await output.sync();
    return verified;
  } finally {
    await output.close();
  }
}

/** Why one of our ledgers cannot hold a verified entry; undefined if it can. */
function importProblem({ entry, line }: CheckedEntry, now: number): string | undefined {
  if (line.length > MAX_ENTRY_BYTES)
    return `the entry verifies, but has ${line.length} bytes in canonical layout; at most ${MAX_ENTRY_BYTES} fit into a ledger`;
  const seconds = Number(entry.timestamp);
  if (seconds < 0) return "the entry verifies, but its timestamp is before 1970";
  // This also refuses Infinity, which is the result for an int of hundreds of digits.
  if (seconds > now + CLOCK_TOLERANCE)
    return "the entry verifies, but its timestamp is in the future. Is it in milliseconds instead of seconds?";
  return undefined;
}

function notImportable(line: number, reason: string): LedgerLineError {
  return new LedgerLineError(line, reason, {
    code: "not_importable",
    hint: "The ledger is right as it is (tallystick verify-ledger), but this service cannot continue it. Nothing was written.",
  });
}
