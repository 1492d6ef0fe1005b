import { copyFile, type FileHandle, link, open, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { LedgerChain, LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { isNoteSignedBy, type NoteVerifierKey } from "tallystick-protocol/note/signedNote";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { CHECKPOINT_KEY_FILE, readCheckpointKey } from "../proofs/checkpointKey.ts";
import { checkpointOf, MAX_CHECKPOINT_BYTES } from "../staticLog/logSource.ts";
import { LEDGER_FILE } from "./diskLedger.ts";
import { fetchBytes } from "./fetchBytes.ts";
import { fetchLedgerLines } from "./fetchLedgerLines.ts";
import { keepOwner } from "./keepOwner.ts";
import { readLastSigned, writeLastSigned } from "./lastSigned.ts";
import { LineTooLongError, ledgerLines } from "./ledgerLines.ts";
import { lockFolder } from "./lockFolder.ts";
import { syncFolder } from "./syncFolder.ts";
import { lineOf, verifyLines } from "./verifyLines.ts";

export type PullLedgerParameters = {
  /** The ledger's folder; created if needed. It may contain an older copy, a damaged one, or none. */
  folder: string;
  /** The address of the follower, replica, mirror or service to fetch from, without a trailing slash. */
  baseUrl: string;
  ledgerId: Hex;
  /** What the contract holds. */
  anchored: Goal;
  /**
   * The keys of the ledger's own checkpoints. If the source shows a newer checkpoint by one of these keys, as
   * a mirror does, the entries after the anchor are restored too. Default: none.
   */
  keys?: readonly NoteVerifierKey[];
  /** As in {@link fetchLedgerLines}. */
  pauseMs?: number;
  signal?: AbortSignal;
};

/** The goal of a restore: a size, and the root at that size. */
export type Goal = { size: number; root: Hex };

export type PulledLedger = {
  /** The number of entries that the ledger has now, and their root. */
  size: number;
  root: Hex;
  /** The number of them that were on the disk, and the number that were fetched. */
  kept: number;
  fetched: number;
  /** The number of fetched entries after the anchor, which a checkpoint of the ledger's own key covers. */
  behindAnchor: number;
  /**
   * The number of lost entries: entries after the restored ones that were certainly settled. The last signature
   * and the old file show them. There may have been more. Null if it is unknown.
   */
  lost: number | null;
  /** Where the old file is now; undefined when it stayed or there was none. */
  setAside: string | undefined;
  /** Whether the folder has the key of the ledger's checkpoints, which followers know. */
  hasKey: boolean;
};

/** The good beginning of a file: its entries, their bytes, and what comes after them. */
type Beginning = { tree: MerkleTree; chain: LedgerChain; bytes: number; linesBehind: number };

/**
 * Restores a ledger up to its last anchor, and up to the newest checkpoint of its own that the source shows. It
 * keeps the entries on disk that belong to the ledger, and fetches the others. It verifies every entry and both
 * roots before anything changes. The old file is renamed, never deleted.
 *
 * @throws TallystickError `source_contradicts` when the fetched entries are not the anchored ones;
 * `source_unavailable`; `ledger_locked` while a service writes the ledger. Nothing is changed then.
 */
export async function pullLedger(parameters: PullLedgerParameters): Promise<PulledLedger> {
  const { folder, anchored } = parameters;
  const release = await lockFolder(folder);
  const target = path.join(folder, LEDGER_FILE);
  try {
    const signed = await readLastSigned(folder).catch(() => undefined);
    const found = await readBeginning(target);
    const isWhole = found.linesBehind === 0;
    const hadEntries = found.tree.size + found.linesBehind;
    let { tree: restored } = found;
    let kept = restored.size;
    let setAside: string | undefined;
    const goals = await goalsOf(parameters, found.tree);
    if (!holds(found.tree, goals) || !isWhole) {
      const unfinished = `${target}.pulling`;
      try {
        ({ tree: restored, kept } = await restore(parameters, goals, target, unfinished, found));
        await keepOwner(unfinished, target);
        setAside = hadEntries > 0 ? await keepBeside(target) : undefined;
        await rename(unfinished, target);
        await syncFolder(folder);
      } finally {
        await rm(unfinished, { force: true });
      }
    }
    const { size } = restored;
    const root = toHex(restored.root(size));
    // This comes after the rename. Until then the service uses the old signed state, and waits.
    await writeLastSigned(folder, { size, root });
    const known = Math.max(signed?.size ?? 0, hadEntries);
    return {
      size,
      root,
      kept,
      fetched: size - kept,
      behindAnchor: Math.max(0, size - Math.max(kept, anchored.size)),
      lost: signed === undefined && hadEntries === 0 ? null : Math.max(0, known - size),
      setAside,
      hasKey: (await readCheckpointKey(folder)) !== undefined,
    };
  } finally {
    await release();
  }
}

/** The anchor, and a newer checkpoint that one of the ledger's own keys signed, if the source shows one. */
async function goalsOf(parameters: PullLedgerParameters, found: MerkleTree): Promise<Goal[]> {
  const { anchored, baseUrl } = parameters;
  const newer = await newerCheckpoint(parameters);
  if (newer === undefined) return [anchored];
  // Both histories are signed, so a command must not choose one of them.
  if (holds(found, [anchored]) && found.size >= newer.size && !holds(found, [newer]))
    throw contradicts(
      baseUrl,
      `its checkpoint of ${newer.size} entries is signed by this ledger's key, but the disk has other entries`,
    );
  return [anchored, newer];
}

async function newerCheckpoint({
  baseUrl,
  anchored,
  keys = [],
  pauseMs,
  signal,
}: PullLedgerParameters): Promise<Goal | undefined> {
  if (keys.length === 0) return undefined;
  const url = `${baseUrl}/v1/ledger/checkpoint`;
  const most = MAX_CHECKPOINT_BYTES;
  try {
    const read = (bytes: Buffer) => checkpointOf(bytes.toString("utf8"));
    const { note, checkpoint } = await fetchBytes({ url, most, pauseMs, signal, read });
    const { origin, size, root } = checkpoint;
    const isOurs = keys.some((key) => key.name === origin && isNoteSignedBy(note, key));
    return isOurs && size > anchored.size ? { size, root: toHex(root) } : undefined;
  } catch {
    signal?.throwIfAborted();
    // A follower has no checkpoint.
    return undefined;
  }
}

function holds(tree: MerkleTree, goals: readonly Goal[]): boolean {
  return goals.every(({ size, root }) => tree.size >= size && toHex(tree.root(size)) === root);
}

/**
 * Restores up to the last goal. If the source does not have all entries of its own checkpoint, it restores up
 * to the anchor only.
 */
async function restore(
  parameters: PullLedgerParameters,
  goals: Goal[],
  target: string,
  unfinished: string,
  found: Beginning,
): Promise<{ tree: MerkleTree; kept: number }> {
  try {
    return await fetchRest(parameters, goals, target, unfinished, found);
  } catch (error) {
    const isSource = ["source_contradicts", "source_unavailable"].includes((error as TallystickError).code);
    if (goals.length === 1 || !isSource) throw error;
    // The file is read again, because the first attempt changed the found state.
    return fetchRest(parameters, goals.slice(0, 1), target, unfinished, await readBeginning(target));
  }
}

/** Fetches the entries that the disk lacks; all entries, if the disk's entries belong to another history. */
async function fetchRest(
  parameters: PullLedgerParameters,
  goals: Goal[],
  target: string,
  unfinished: string,
  found: Beginning,
): Promise<{ tree: MerkleTree; kept: number }> {
  const isEnough = holds(found.tree, goals);
  const { size } = goals.at(-1) as Goal;
  if (isEnough || (found.tree.size > 0 && found.tree.size < size)) {
    try {
      return await writeRestored(parameters, goals, target, unfinished, found, found.tree.size);
    } catch (error) {
      if (isEnough || (error as TallystickError).code !== "source_contradicts") throw error;
    }
  }
  return writeRestored(parameters, goals, target, unfinished, readNothing(), 0);
}

/** Writes the first `kept` entries of the disk, then the fetched ones, up to the last goal. */
async function writeRestored(
  { baseUrl, ledgerId, pauseMs, signal }: PullLedgerParameters,
  goals: readonly Goal[],
  target: string,
  unfinished: string,
  { tree, chain, bytes }: Beginning,
  kept: number,
): Promise<{ tree: MerkleTree; kept: number }> {
  const output = await open(unfinished, "w");
  try {
    if (kept > 0) await copyBytes(target, bytes, output);
    const request = {
      baseUrl,
      ledgerId,
      from: kept,
      to: Math.max(...goals.map(({ size }) => size)),
      ...(pauseMs !== undefined && { pauseMs }),
    };
    async function* pages() {
      for await (const lines of fetchLedgerLines({ ...request, ...(signal && { signal }) })) {
        yield lines.map(lineOf);
        // The generator continues only after these lines were verified.
        await output.writeFile(Buffer.concat(lines.flatMap((line) => [line, NEWLINE])));
      }
    }
    await verifyLines(pages(), { chain, tree }).catch((error) => {
      throw error instanceof LedgerLineError ? contradicts(baseUrl, error.message, error) : error;
    });
    for (const { size, root: wanted } of goals) {
      const root = toHex(tree.root(size));
      if (root !== wanted)
        throw contradicts(baseUrl, `its ${size} entries have the root ${root}, not ${wanted}`);
    }
    await output.sync();
    return { tree, kept };
  } finally {
    await output.close();
  }
}

const NEWLINE = Buffer.from("\n");

function contradicts(baseUrl: string, reason: string, cause?: unknown): TallystickError {
  return new TallystickError({
    code: "source_contradicts",
    message: `${baseUrl} gave entries that are not the anchored ones: ${reason}.`,
    hint: "Nothing was changed. Fetch from another follower.",
    cause,
  });
}

function readNothing(): Beginning {
  return {
    tree: new MerkleTree(sha256ByNode),
    chain: new LedgerChain({ sha256: sha256ByNode }),
    bytes: 0,
    linesBehind: 0,
  };
}

/**
 * Reads a file as far as it verifies, and counts the complete lines after that. These may have been reported
 * as settled.
 */
async function readBeginning(file: string): Promise<Beginning> {
  const found = readNothing();
  if (!(await stat(file).catch(() => undefined))) return found;
  try {
    for await (const lines of ledgerLines(file)) {
      for (const line of lines) {
        if (found.linesBehind > 0) {
          found.linesBehind++;
          continue;
        }
        try {
          // A line without its newline was never reported as settled. If the source has it, it is fetched;
          // otherwise it is lost.
          if (!line.terminated) throw new LedgerLineError(found.tree.size + 1, "it is cut off");
          found.tree.append(found.chain.next(line));
          found.bytes = line.end;
        } catch (error) {
          if (!(error instanceof LedgerLineError)) throw error;
          found.linesBehind++;
        }
      }
    }
  } catch (error) {
    if (!(error instanceof LineTooLongError)) throw error;
    found.linesBehind++;
  }
  return found;
}

async function copyBytes(from: string, length: number, output: FileHandle): Promise<void> {
  const input = await open(from, "r");
  const buffer = Buffer.allocUnsafe(1 << 20);
  try {
    for (let at = 0; at < length; ) {
      const { bytesRead } = await input.read(buffer, 0, Math.min(buffer.length, length - at), at);
      if (bytesRead === 0) throw new Error(`${from} became shorter while it was read`);
      await output.writeFile(buffer.subarray(0, bytesRead));
      at += bytesRead;
    }
  } finally {
    await input.close();
  }
}

/** Gives a file a second name, or copies it, so that its own name is free for another. Returns the second name. */
async function keepBeside(file: string): Promise<string> {
  for (let number = 1; ; number++) {
    const beside = `${file}.before-pull-${number}`;
    if (await stat(beside).catch(() => undefined)) continue;
    // Some file systems have no hard links.
    await link(file, beside).catch(() => copyFile(file, beside));
    return beside;
  }
}

/** The message about a missing checkpoint key. */
export const MISSING_KEY_HINT = `${CHECKPOINT_KEY_FILE} is missing: restore it from a backup, or set CHECKPOINT_PRIVATE_KEY and tell followers its verifier key.`;
