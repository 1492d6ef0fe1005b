import { bytesEqual } from "tallystick-protocol/hex";
import { formatSignedNote, type SignedNote } from "tallystick-protocol/note/signedNote";

/** The most signatures that are kept of the earlier note. No policy names so many witnesses. */
const MOST_KEPT = 64;

/**
 * Adds to a note the signatures of an earlier note over the same text. A key that signed both counts with its newer
 * signature. So a service that starts again does not lose what its witnesses signed before.
 *
 * @returns undefined when the earlier note has every signature already
 */
export function joinSignatures(note: SignedNote, known: SignedNote): string | undefined {
  const isIn = (signatures: SignedNote["signatures"], one: SignedNote["signatures"][number]) =>
    signatures.some(({ name, signature }) => name === one.name && bytesEqual(signature, one.signature));
  if (note.text !== known.text) return formatSignedNote(note);
  if (note.signatures.every((one) => isIn(known.signatures, one))) return undefined;
  const others = known.signatures.filter(({ name, keyId }) =>
    note.signatures.every((one) => one.name !== name || !bytesEqual(one.keyId, keyId)),
  );
  const { text, signatures } = note;
  return formatSignedNote({ text, signatures: [...signatures, ...others.slice(0, MOST_KEPT)] });
}
