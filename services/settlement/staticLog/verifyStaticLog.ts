import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { bytesEqual } from "tallystick-protocol/hex";
import {
  LedgerChain,
  type LedgerLine,
  LedgerLineError,
  type VerifiedLedger,
} from "tallystick-protocol/ledger/verifyLedger";
import { MerkleFrontier } from "tallystick-protocol/merkle/merkleFrontier";
import { formatTilePath, TILE_WIDTH, type Tile } from "tallystick-protocol/merkle/tilePath";
import { parseCheckpoint } from "tallystick-protocol/note/checkpoint";
import { isNoteSignedBy, type NoteVerifierKey, parseSignedNote } from "tallystick-protocol/note/signedNote";
import { policyObjection, type TrustPolicy } from "tallystick-protocol/note/trustPolicy";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { MAX_ENTRY_BYTES } from "../ledger/diskLedger.ts";
import { fetchBytes } from "../ledger/fetchBytes.ts";
import { CHECKPOINT_FILE } from "./staticLog.ts";

/** Largest checkpoint, and largest bundle of entries, in bytes. */
const MAX_CHECKPOINT_BYTES = 1_000_000;
const MAX_BUNDLE_BYTES = TILE_WIDTH * (2 + MAX_ENTRY_BYTES);

export type VerifyStaticLogParameters = {
  /** A folder, or the address of one: `https://…`, with or without a slash at its end. */
  source: string;
  /** The keys to believe, any of them. */
  keys?: readonly NoteVerifierKey[] | undefined;
  /** Whose logs and witnesses to believe. */
  policy?: TrustPolicy | undefined;
  /** Told how many entries were checked, now and then. */
  onProgress?: (checked: number, size: number) => void;
  signal?: AbortSignal;
  /** As in `fetchBytes`. */
  pauseMs?: number;
};

/** A good log. `trusted`: whether its checkpoint was held to a key or a policy. */
export type VerifiedStaticLog = VerifiedLedger & { origin: string; trusted: boolean };

/**
 * Verifies a whole log in C2SP's form (tlog-tiles), from disk or by HTTP, in constant memory: every entry of its bundles,
 * their chain of hashes, and that their Merkle root is the checkpoint's. Tiles of hashes are not read: they follow.
 *
 * @throws LedgerLineError naming the first bad entry; TallystickError `log_invalid` for the checkpoint, `unreadable_log`
 */
export async function verifyStaticLog(parameters: VerifyStaticLogParameters): Promise<VerifiedStaticLog> {
  const { source, keys, policy, onProgress } = parameters;
  const text = (await readPart(parameters, CHECKPOINT_FILE, MAX_CHECKPOINT_BYTES)).toString("utf8");
  const note = parseSignedNote(text, CHECKPOINT_FILE);
  const checkpoint = parseCheckpoint(note.text, CHECKPOINT_FILE);
  const { origin, size, root } = checkpoint;
  if (keys !== undefined && !keys.some((key) => key.name === origin && isNoteSignedBy(note, key)))
    throw invalid(source, "its checkpoint is not signed by the key");
  const objection = policy && policyObjection(note, origin, policy);
  if (objection !== undefined) throw invalid(source, objection);

  const chain = new LedgerChain({ sha256: sha256ByNode });
  const frontier = new MerkleFrontier(sha256ByNode);
  for (let from = 0; from < size; from += TILE_WIDTH) {
    const width = Math.min(TILE_WIDTH, size - from);
    const bundle = await readBundle(parameters, from, width);
    for (const line of entriesOf(bundle, from, width)) frontier.append(chain.next(line));
    onProgress?.(frontier.size, size);
  }
  if (!bytesEqual(frontier.root(), root))
    throw invalid(source, `its ${size} entries do not have the checkpoint's root`);
  const trusted = keys !== undefined || policy !== undefined;
  return { size, head: chain.head, root, origin, trusted };
}

/** Latin-1 as in `FileLine`: a canonical line is pure ASCII. */
function lineOf(bytes: Buffer): LedgerLine {
  return {
    bytes,
    get text() {
      return bytes.toString("latin1");
    },
  };
}

/** The bundle that begins at an entry; a full one where the partial one has gone, since the log has grown meanwhile. */
async function readBundle(
  parameters: VerifyStaticLogParameters,
  from: number,
  width: number,
): Promise<Buffer> {
  const index = from / TILE_WIDTH;
  const part = (tile: Tile) => readPart(parameters, `tile/${formatTilePath(tile)}`, MAX_BUNDLE_BYTES);
  try {
    return await part({ level: "entries", index, width });
  } catch (error) {
    if (width === TILE_WIDTH) throw error;
    return part({ level: "entries", index, width: TILE_WIDTH }).catch(() => {
      throw error;
    });
  }
}

/** The first so many entries of a bundle, from the one at `from` on. */
function* entriesOf(bundle: Buffer, from: number, width: number): Generator<LedgerLine> {
  for (let at = 0, count = 0; count < width; count++) {
    const length = at + 2 <= bundle.length ? bundle.readUInt16BE(at) : Number.POSITIVE_INFINITY;
    if (at + 2 + length > bundle.length)
      throw new LedgerLineError(from + count + 1, "its bundle is cut off before it ends");
    yield lineOf(bundle.subarray(at + 2, at + 2 + length));
    at += 2 + length;
  }
}

async function readPart(
  { source, signal, pauseMs }: VerifyStaticLogParameters,
  name: string,
  most: number,
): Promise<Buffer> {
  try {
    if (isAddress(source))
      return await fetchBytes({
        url: `${source.replace(/\/$/, "")}/${name}`,
        most,
        signal,
        pauseMs,
        read: (it) => it,
      });
    signal?.throwIfAborted();
    const file = path.join(source, name);
    const { size } = await stat(file);
    if (size > most) throw new Error(`it has ${size} bytes, more than it can`);
    return await readFile(file);
  } catch (cause) {
    signal?.throwIfAborted();
    throw new TallystickError({
      code: "unreadable_log",
      message: `${name} of ${source} cannot be read: ${(cause as Error).message}`,
      hint: "Give the folder of a static log, or its address; of a settlement service that is <address>/tlog.",
      cause,
    });
  }
}

/** Whether a log is named by its address. */
export function isAddress(source: string): boolean {
  return /^https?:\/\//.test(source);
}

function invalid(source: string, reason: string): TallystickError {
  return new TallystickError({
    code: "log_invalid",
    message: `${source} does not verify: ${reason}.`,
    hint: "The log was changed, or it is another one.",
  });
}
