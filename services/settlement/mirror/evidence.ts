import { mkdir, readdir, rename, rm } from "node:fs/promises";
import path from "node:path";
import { toHex } from "tallystick-protocol/hex";
import { putFile } from "../ledger/putFile.ts";
import { syncFolder } from "../ledger/syncFolder.ts";
import type { ReadCheckpoint } from "../staticLog/logSource.ts";

/** Name of the folder below a mirror's. */
export const EVIDENCE_FOLDER = "evidence";

/**
 * The most pieces of evidence of one code that are kept, so that a lying source cannot fill the disk. Each code has its own
 * limit: a source that damages entries must not take the place of a fork's evidence.
 */
const MAX_PIECES = 32;

/** Name of the folder in which a piece is written before it gets its own name. */
const UNFINISHED = "unfinished";

/** A statement of a source that contradicts this copy. */
export type Evidence = {
  source: string;
  code: string;
  reason: string;
  /** Position of the first entry that differs, from 0, where a signed difference was found. */
  position?: number | undefined;
  /** The line at that position, as each of the two logs has it. */
  entries?: { ours: string; theirs: string } | undefined;
  /** Unix seconds. */
  seenAt: number;
  ours?: ReadCheckpoint | undefined;
  theirs: ReadCheckpoint;
};

/**
 * Stores a piece of evidence in its own folder: both signed checkpoints, and the entries in which they
 * differ. The folder is complete, or not there. A second call for the same checkpoint writes nothing.
 *
 * @returns the folder; undefined when there are {@link MAX_PIECES} of this code already
 */
export async function keepEvidence(mirrorFolder: string, evidence: Evidence): Promise<string | undefined> {
  const { ours, theirs, entries, ...about } = evidence;
  const { size, root } = theirs.checkpoint;
  const parent = path.join(mirrorFolder, EVIDENCE_FOLDER);
  const name = `${evidence.code}-${size}-${toHex(root).slice(2, 18)}`;
  const folder = path.join(parent, name);
  await mkdir(parent, { recursive: true });
  const there = await readdir(parent);
  if (there.includes(name)) return folder;
  if (there.filter((one) => one.startsWith(`${evidence.code}-`)).length >= MAX_PIECES) return undefined;
  const unfinished = path.join(parent, UNFINISHED);
  await rm(unfinished, { recursive: true, force: true });
  await mkdir(unfinished);
  const put = (file: string, text: string) => putFile(path.join(unfinished, file), text);
  await put("theirs.checkpoint", theirs.text);
  if (ours !== undefined) await put("ours.checkpoint", ours.text);
  if (entries !== undefined) {
    await put("theirs.jsonl", `${entries.theirs}\n`);
    await put("ours.jsonl", `${entries.ours}\n`);
  }
  await put("about.json", `${JSON.stringify(about, undefined, 2)}\n`);
  await syncFolder(unfinished);
  await rename(unfinished, folder);
  await syncFolder(parent);
  return folder;
}
