import { mkdir, readdir } from "node:fs/promises";
import path from "node:path";
import { toHex } from "tallystick-protocol/hex";
import { putFile } from "../ledger/putFile.ts";
import { syncFolder } from "../ledger/syncFolder.ts";
import type { ReadCheckpoint } from "../staticLog/logSource.ts";

/** Name of the folder below a mirror's. */
export const EVIDENCE_FOLDER = "evidence";

/** The most pieces of evidence that are kept, so that a lying source cannot fill the disk. */
const MAX_PIECES = 32;

/** A statement of a source that contradicts this copy. */
export type Evidence = {
  source: string;
  code: string;
  reason: string;
  /** Position of the first entry that differs, from 0, where a signed difference was found. */
  position?: number | undefined;
  /** The line at that position, as each has it. */
  entries?: { ours: string; theirs: string } | undefined;
  /** Unix seconds. */
  seenAt: number;
  ours?: ReadCheckpoint | undefined;
  theirs: ReadCheckpoint;
};

/**
 * Stores a piece of evidence in its own folder: both signed checkpoints, and the entries in which they
 * differ. A second call for the same checkpoint writes nothing.
 *
 * @returns the folder; undefined when there are {@link MAX_PIECES} already
 */
export async function keepEvidence(mirrorFolder: string, evidence: Evidence): Promise<string | undefined> {
  const { ours, theirs, entries, ...about } = evidence;
  const { size, root } = theirs.checkpoint;
  const parent = path.join(mirrorFolder, EVIDENCE_FOLDER);
  const folder = path.join(parent, `${evidence.code}-${size}-${toHex(root).slice(2, 18)}`);
  await mkdir(parent, { recursive: true });
  const there = await readdir(parent);
  if (there.includes(path.basename(folder))) return folder;
  if (there.length >= MAX_PIECES) return undefined;
  await mkdir(folder);
  await putFile(path.join(folder, "theirs.checkpoint"), theirs.text);
  if (ours !== undefined) await putFile(path.join(folder, "ours.checkpoint"), ours.text);
  if (entries !== undefined) {
    await putFile(path.join(folder, "theirs.jsonl"), `${entries.theirs}\n`);
    await putFile(path.join(folder, "ours.jsonl"), `${entries.ours}\n`);
  }
  await putFile(path.join(folder, "about.json"), `${JSON.stringify(about, undefined, 2)}\n`);
  await syncFolder(folder);
  await syncFolder(parent);
  return folder;
}
