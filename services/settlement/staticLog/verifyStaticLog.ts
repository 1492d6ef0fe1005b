import { TallystickError } from "tallystick-protocol/errors";
import { bytesEqual } from "tallystick-protocol/hex";
import { LedgerChain, type LedgerLine, type VerifiedLedger } from "tallystick-protocol/ledger/verifyLedger";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { TILE_WIDTH } from "tallystick-protocol/merkle/tilePath";
import { isNoteSignedBy, type NoteVerifierKey, type SignedNote } from "tallystick-protocol/note/signedNote";
import { policyObjection, type TrustPolicy } from "tallystick-protocol/note/trustPolicy";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { verifyLines } from "../ledger/verifyLines.ts";
import { bundleLines, type LogSource, openLogSource, readCheckpointOf, readLogTile } from "./logSource.ts";

export type VerifyStaticLogParameters = Trust & {
  /** A folder, or the address of one: `https://…`, with or without a slash at its end. */
  source: string;
  /** Called with the number of checked entries from time to time. */
  onProgress?: (checked: number, size: number) => void;
  signal?: AbortSignal;
  /** As in `fetchBytes`. */
  pauseMs?: number;
};

/** A good log. `trusted`: whether its checkpoint was checked against a key or a policy. */
export type VerifiedStaticLog = VerifiedLedger & { origin: string; trusted: boolean };

/**
 * Verifies a whole log in C2SP's form (tlog-tiles), from disk or by HTTP, in constant memory. It checks every entry
 * of the bundles, their chain of hashes, and whether their Merkle root is that of the checkpoint. Tiles of hashes are not
 * read, because they follow from the entries.
 *
 * @throws LedgerLineError naming the first bad entry; TallystickError `log_invalid` for the checkpoint,
 * `unreadable_log`
 */
export async function verifyStaticLog(parameters: VerifyStaticLogParameters): Promise<VerifiedStaticLog> {
  const { source, keys, policy, onProgress, signal } = parameters;
  const log = openLogSource(parameters);
  const { checkpoint, note } = await readCheckpointOf(log);
  const { origin, size, root } = checkpoint;
  const objection = checkpointObjection(note, origin, { keys, policy });
  if (objection !== undefined) throw invalid(source, objection);

  const chain = new LedgerChain({ sha256: sha256ByNode });
  const tree = new MerkleFrontier(sha256ByNode);
  await verifyLines(bundles(log, size, onProgress), { chain, tree, signal });
  if (!bytesEqual(tree.root(), root))
    throw invalid(source, `its ${size} entries do not have the checkpoint's root`);
  const trusted = keys !== undefined || policy !== undefined;
  return { size, head: chain.head, root, origin, trusted };
}

/** The entries of a log, bundle by bundle. `onProgress` is called after each bundle. */
async function* bundles(
  log: LogSource,
  size: number,
  onProgress: VerifyStaticLogParameters["onProgress"],
): AsyncGenerator<Iterable<LedgerLine>> {
  for (let from = 0; from < size; from += TILE_WIDTH) {
    const width = Math.min(TILE_WIDTH, size - from);
    const bundle = await readLogTile(log, { level: "entries", index: from / TILE_WIDTH, width });
    yield bundleLines(bundle, from, width);
    onProgress?.(from + width, size);
  }
}

/** Which checkpoints are trusted: those signed by one of the keys, and those that the policy accepts. */
export type Trust = {
  keys?: readonly NoteVerifierKey[] | undefined;
  policy?: TrustPolicy | undefined;
};

/** Why a checkpoint is not trusted, as a clause; undefined when it is trusted. */
export function checkpointObjection(
  note: SignedNote,
  origin: string,
  { keys, policy }: Trust,
): string | undefined {
  if (keys !== undefined && !keys.some((key) => key.name === origin && isNoteSignedBy(note, key)))
    return "its checkpoint is not signed by the key";
  return policy && policyObjection(note, origin, policy);
}

function invalid(source: string, reason: string): TallystickError {
  return new TallystickError({
    code: "log_invalid",
    message: `${source} does not verify: ${reason}.`,
    hint: "The log was changed, or it is another log.",
  });
}
