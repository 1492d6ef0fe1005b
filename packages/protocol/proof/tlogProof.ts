import { utf8ToBytes } from "@noble/hashes/utils.js";
import { fromBase64, toBase64 } from "../base64.ts";
import { InvalidInputError } from "../errors.ts";
import { bytesEqual } from "../hex.ts";
import type { LedgerEntry } from "../ledger/entry.ts";
import { lineLeafHash } from "../merkle/entryLeafHash.ts";
import { MAX_PROOF_NODES, verifyInclusion } from "../merkle/verifyInclusion.ts";
import { type Checkpoint, parseCheckpoint } from "../note/checkpoint.ts";
import { parseSignedNote } from "../note/signedNote.ts";
import { policyObjection, type TrustPolicy, witnessesOf } from "../note/trustPolicy.ts";
import { ProofError, readProvenEntry } from "./provenEntry.ts";

/** First line of a proof in C2SP's form. */
export const TLOG_PROOF_HEADER = "c2sp.org/tlog-proof@v1";

/** The longest file, in UTF-16 units: an entry of a megabyte in base 64 and a full checkpoint. */
const MAX_PROOF_LENGTH = 4_000_000;

/** A proof that an entry is in a log, and of who witnessed the log (C2SP tlog-proof). */
export type TlogProof = {
  /**
   * Additional data for the reader of the proof. In our proofs: the canonical line of the entry, in UTF-8.
   */
  extra?: Uint8Array;
  /** Position of the entry, from 0. */
  index: number;
  /** The entry's path in the tree of the checkpoint (RFC 6962 §2.1.1): hashes of 32 bytes. */
  proof: Uint8Array[];
  /** A signed note with all its signatures. */
  checkpoint: string;
};

/** The proof as text, the content of a `.tlog-proof` file. */
export function formatTlogProof({ extra, index, proof, checkpoint }: TlogProof): string {
  const lines = [TLOG_PROOF_HEADER];
  if (extra !== undefined) lines.push(`extra ${toBase64(extra)}`);
  lines.push(`index ${index}`, ...proof.map(toBase64));
  return `${lines.join("\n")}\n\n${checkpoint}`;
}

/**
 * Reads a `.tlog-proof` file. It checks the form, but no signature.
 *
 * @throws InvalidInputError naming `header`, `extra`, `index`, `proof` or `checkpoint`
 */
export function parseTlogProof(text: string): TlogProof {
  if (text.length > MAX_PROOF_LENGTH) refuse("", `must have at most ${MAX_PROOF_LENGTH} characters`);
  const end = text.indexOf("\n\n");
  const [header, ...lines] = (end === -1 ? text : text.slice(0, end)).split("\n");
  if (header !== TLOG_PROOF_HEADER) refuse("header", `must be ${TLOG_PROOF_HEADER}`);
  if (end === -1) refuse("checkpoint", "must follow after an empty line");
  const extra = lines[0]?.startsWith("extra ")
    ? fromBase64(lines.shift()?.slice(6) ?? "", "extra")
    : undefined;
  const index = Number(/^index (0|[1-9][0-9]{0,15})$/.exec(lines.shift() ?? "")?.[1]);
  if (!Number.isSafeInteger(index)) refuse("index", "must be `index` and a position, without leading zeroes");
  if (lines.length > MAX_PROOF_NODES) refuse("proof", `must have at most ${MAX_PROOF_NODES} lines`);
  const proof = lines.map((line) => fromBase64(line, "proof"));
  if (proof.some(({ length }) => length !== 32))
    refuse("proof", "must be hashes of 32 bytes, each on its own line");
  return { ...(extra && { extra }), index, proof, checkpoint: text.slice(end + 2) };
}

/** What a checked proof in C2SP's form shows. */
export type VerifiedTlogProof = {
  entry: LedgerEntry;
  index: number;
  checkpoint: Checkpoint;
  /** The policy's witnesses that cosigned, each with its time in unix seconds. */
  witnesses: ReadonlyMap<string, number>;
};

/**
 * Checks one of our proofs against a policy. The entry must be canonical, hash to what it says, and be in the
 * checkpoint's tree. A log of the policy must have signed the checkpoint, and the policy's quorum must have cosigned
 * it.
 *
 * @throws ProofError for the first part that is wrong; InvalidInputError for a part that cannot be read
 */
export function verifyTlogProof(
  { extra, index, proof, checkpoint: text }: TlogProof,
  policy: TrustPolicy,
): VerifiedTlogProof {
  if (extra === undefined)
    throw new ProofError("The proof has no entry: a proof of this ledger carries it as extra.");
  const line = new TextDecoder().decode(extra);
  const entry = readProvenEntry(line);
  // Bytes that are not UTF-8 decode to something else.
  if (!bytesEqual(utf8ToBytes(line), extra))
    throw new ProofError("The entry is not a canonical ledger line.");
  const note = parseSignedNote(text, "checkpoint");
  const checkpoint = parseCheckpoint(note.text);
  const objection = policyObjection(note, checkpoint.origin, policy);
  if (objection !== undefined) throw new ProofError(objection);
  const { size, root } = checkpoint;
  if (!verifyInclusion({ leafHash: lineLeafHash(line), index, size, proof, root }))
    throw new ProofError(`The entry is not entry ${index} of the checkpoint's ledger.`);
  return { entry, index, checkpoint, witnesses: witnessesOf(note, policy) };
}

function refuse(field: string, message: string): never {
  throw new InvalidInputError({ issues: [{ field, message: `${message} (C2SP tlog-proof)` }] });
}
