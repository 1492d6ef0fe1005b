import { toHex } from "tallystick-protocol/hex";
import { parseCheckpoint } from "tallystick-protocol/note/checkpoint";
import { parseSignedNote } from "tallystick-protocol/note/signedNote";
import { countOf, entriesOf } from "../design/countOf.ts";
import { type Finding, holds } from "./check.ts";
import { type BelievedKeys, signatureChecks, unreadable } from "./verifyKeys.ts";

/**
 * Verifies a checkpoint (C2SP tlog-checkpoint): its form, and its signatures by the keys that the reader
 * trusts.
 */
export function verifyCheckpointFile(text: string, keys: BelievedKeys): Finding {
  const title = "A checkpoint";
  try {
    const note = parseSignedNote(text.endsWith("\n") ? text : `${text}\n`);
    const { origin, size, root } = parseCheckpoint(note.text);
    return {
      title,
      checks: [
        holds("It has the form of a checkpoint", countOf(note.signatures.length, "signature")),
        holds(`It is of ${origin} at ${entriesOf(size)}`, `root ${toHex(root)}`),
        ...signatureChecks(note, origin, keys),
      ],
      tree: { what: "the checkpoint", size, root: toHex(root), isWhole: false },
    };
  } catch (error) {
    return unreadable(title, "The checkpoint cannot be read", error);
  }
}
