import { bytesEqual } from "tallystick-protocol/hex";
import type { SignedNote } from "tallystick-protocol/note/signedNote";

/**
 * Whether a note has all signatures of another note over the same text, and more. Only the log's own signature can be
 * checked without a policy. So the number of signatures alone says nothing: somebody could replace the witnesses'
 * signatures with many worthless ones.
 *
 * @param known the other note; undefined when there is none
 */
export function hasMoreSignatures({ signatures }: SignedNote, known: SignedNote | undefined): boolean {
  const before = known?.signatures ?? [];
  const isKept = before.every((one) =>
    signatures.some(({ name, signature }) => name === one.name && bytesEqual(signature, one.signature)),
  );
  return isKept && signatures.length > before.length;
}
