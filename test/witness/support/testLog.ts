import { ed25519 } from "@noble/curves/ed25519.js";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import {
  formatSignedNote,
  type NoteSignature,
  noteVerifierKey,
  signNote,
} from "tallystick-protocol/note/signedNote";
import { formatWitnessRequest } from "tallystick-protocol/note/witnessRequest";

export const LOG_NAME = "tallystick.test/log";
export const LOG_SEED = new Uint8Array(32).fill(5);
export const logKey = noteVerifierKey(LOG_NAME, ed25519.getPublicKey(LOG_SEED));

/**
 * A log of numbered entries. Two logs with the same `history` have the same entries. `forkAt` is the position from
 * which another history differs.
 */
export function testLog(history = 0, forkAt = 0) {
  const tree = new MerkleTree();
  const grow = (size: number): void => {
    for (let n = tree.size; n < size; n++)
      tree.append(leafHash(new TextEncoder().encode(`entry ${n} of ${n < forkAt ? 0 : history}`)));
  };
  const checkpoint = (size: number, signatures?: NoteSignature[]): string => {
    grow(size);
    const text = formatCheckpoint({ origin: LOG_NAME, size, root: tree.root(size) });
    return formatSignedNote({ text, signatures: signatures ?? [signNote(text, LOG_NAME, LOG_SEED)] });
  };
  return {
    tree,
    root: (size: number): Uint8Array => {
      grow(size);
      return tree.root(size);
    },
    checkpoint,
    /** The body of `add-checkpoint`, with the proof from one size to another. */
    request: (oldSize: number, size: number): string => {
      grow(Math.max(oldSize, size));
      const proof = oldSize > 0 && oldSize <= size ? tree.consistencyProof(oldSize, size) : [];
      return formatWitnessRequest({ oldSize, proof, checkpoint: checkpoint(size) });
    },
  };
}
