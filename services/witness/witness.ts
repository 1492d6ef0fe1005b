import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesEqual } from "tallystick-protocol/hex";
import { verifyConsistency } from "tallystick-protocol/merkle/verifyConsistency";
import { type Checkpoint, parseCheckpoint } from "tallystick-protocol/note/checkpoint";
import { cosign, cosignerKey, formatCosignerKey } from "tallystick-protocol/note/cosignature";
import {
  formatSignatureLines,
  formatSignedNote,
  isNoteSignedBy,
  type NoteSignature,
  type NoteVerifierKey,
  parseSignedNote,
  type SignedNote,
} from "tallystick-protocol/note/signedNote";
import { parseWitnessRequest, type WitnessRequest } from "tallystick-protocol/note/witnessRequest";
import { Refusal } from "./refusal.ts";
import type { Cosigned, WitnessStore } from "./witnessStore.ts";

export type WitnessParameters = {
  /** The witness's name in its signatures: a URL without a scheme. */
  name: string;
  /** The witness's Ed25519 seed, 32 bytes. Use this seed only for the witness. */
  seed: Uint8Array;
  /**
   * The keys of the logs that it cosigns. A log may have several keys. One valid signature by a key of the log is
   * enough, but a single invalid signature by any of its keys is refused.
   */
  logs: readonly NoteVerifierKey[];
  store: WitnessStore;
  /** Unix seconds. */
  now: () => number;
};

/** Root of a log without entries (RFC 6962 §2.1). */
const EMPTY_ROOT = sha256(new Uint8Array());

/**
 * Ensures that logs only grow. The witness cosigns a checkpoint if a key of the log signed it and a proof
 * shows that it continues the last cosigned checkpoint (C2SP tlog-witness). Anybody may send the checkpoint.
 */
export class Witness {
  readonly name: string;
  readonly #parameters: WitnessParameters;

  constructor(parameters: WitnessParameters) {
    this.name = parameters.name;
    this.#parameters = parameters;
  }

  /** Its verifier key as text (C2SP tlog-cosignature). */
  get verifierKey(): string {
    return formatCosignerKey(cosignerKey(this.name, ed25519.getPublicKey(this.#parameters.seed)));
  }

  /** The origins of the logs that it cosigns. */
  get origins(): string[] {
    return [...new Set(this.#parameters.logs.map(({ name }) => name))];
  }

  /** The last cosigned checkpoint of a log; undefined without one, and for a log that it does not follow. */
  latest(origin: string): Cosigned | undefined {
    return this.origins.includes(origin) ? this.#parameters.store.get(origin) : undefined;
  }

  /**
   * Cosigns a checkpoint. The answer is written to disk before it is sent.
   *
   * @param body of `add-checkpoint`
   * @returns the signature line
   * @throws InvalidInputError for a body that cannot be read, and {@link Refusal}; nothing is stored then
   */
  add(body: string): string {
    const { store, name, seed, now } = this.#parameters;
    const request = parseWitnessRequest(body);
    const note = parseSignedNote(request.checkpoint, "checkpoint");
    const checkpoint = parseCheckpoint(note.text);
    const logSignatures = this.#requireLog(note, checkpoint.origin);
    if (request.oldSize > checkpoint.size) throw shrinks(request, checkpoint);
    let line = "";
    store.update(checkpoint.origin, (last) => {
      requireConsistent(request, checkpoint, last);
      const cosignature = cosign(note.text, name, seed, Math.max(1, Math.floor(now())));
      line = formatSignatureLines([cosignature]);
      const { size, root } = checkpoint;
      const kept = formatSignedNote({ text: note.text, signatures: [...logSignatures, cosignature] });
      return { size, root, note: kept };
    });
    return line;
  }

  /**
   * The signatures of the log's own keys. Throws if there is none, if one is invalid, or if two lines name the same
   * key.
   */
  #requireLog(note: SignedNote, origin: string): NoteSignature[] {
    const keys = this.#parameters.logs.filter(({ name }) => name === origin);
    if (keys.length === 0) {
      throw new Refusal({
        status: 404,
        code: "unknown_log",
        message: `This witness does not follow ${JSON.stringify(origin)}.`,
        hint: "Ask its operator to add the log's verifier key to the list of logs.",
      });
    }
    const good: NoteSignature[] = [];
    for (const key of keys) {
      const mine = note.signatures.filter(
        ({ name, keyId }) => name === key.name && bytesEqual(keyId, key.keyId),
      );
      if (mine.length === 0) continue;
      if (mine.length > 1 || !isNoteSignedBy({ text: note.text, signatures: mine }, key))
        throw notSigned(origin);
      good.push(...mine);
    }
    if (good.length === 0) throw notSigned(origin);
    return good;
  }
}

function requireConsistent(
  { oldSize, proof }: WitnessRequest,
  { size, root }: Checkpoint,
  last: Cosigned | undefined,
): void {
  const lastSize = last?.size ?? 0;
  if (oldSize !== lastSize) {
    throw new Refusal({
      status: 409,
      code: "old_size_differs",
      message: `The last cosigned size is ${lastSize}, not ${oldSize}.`,
      hint: "Send the proof from that size.",
      size: lastSize,
    });
  }
  const fromRoot = last?.root ?? EMPTY_ROOT;
  const isPossible = size > 0 || bytesEqual(root, EMPTY_ROOT);
  if (isPossible && verifyConsistency({ from: lastSize, to: size, fromRoot, toRoot: root, proof })) return;
  throw new Refusal({
    status: 422,
    code: "inconsistent",
    message:
      lastSize === size
        ? `The size is still ${size}, so the root must be the same, and the proof must be empty.`
        : `The proof does not show that size ${size} continues size ${lastSize}.`,
    hint: "If the proof was made correctly, the log has two histories: stop writing, and compare it with its copies.",
  });
}

function shrinks({ oldSize }: WitnessRequest, { size }: Checkpoint): Refusal {
  return new Refusal({
    status: 400,
    code: "old_size_above",
    message: `The old size ${oldSize} is above the checkpoint's ${size}.`,
    hint: "Send a checkpoint that is not older than the last one.",
  });
}

function notSigned(origin: string): Refusal {
  return new Refusal({
    status: 403,
    code: "not_signed",
    message: `A key that this witness knows for ${JSON.stringify(origin)} must sign the checkpoint. Its signature is missing, invalid or repeated.`,
    hint: "Compare the log's verifier key (GET /v1/ledger/key) with the witness's list.",
  });
}
