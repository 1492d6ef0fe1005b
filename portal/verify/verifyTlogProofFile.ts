import { bytesEqual, toHex } from "tallystick-protocol/hex";
import { lineLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { verifyInclusion } from "tallystick-protocol/merkle/verifyInclusion";
import { parseCheckpoint } from "tallystick-protocol/note/checkpoint";
import { parseSignedNote } from "tallystick-protocol/note/signedNote";
import { readProvenEntry } from "tallystick-protocol/proof/provenEntry";
import { parseTlogProof } from "tallystick-protocol/proof/tlogProof";
import { type Finding, fails, holds } from "./check.ts";
import { type BelievedKeys, signatureChecks, unreadable } from "./verifyKeys.ts";

/**
 * Verifies a `.tlog-proof` file (C2SP): its entry, its place in the checkpoint's tree, and the signatures of
 * the checkpoint.
 */
export function verifyTlogProofFile(text: string, keys: BelievedKeys): Finding {
  const title = "A proof of one entry";
  try {
    const { extra, index, proof, checkpoint } = parseTlogProof(text);
    if (extra === undefined)
      return {
        title,
        checks: [
          fails(
            "The proof has no entry",
            "A proof of a Tallystick ledger carries its entry in the extra data.",
          ),
        ],
      };
    const line = new TextDecoder().decode(extra);
    const { currentHash } = readProvenEntry(line);
    const isText = bytesEqual(new TextEncoder().encode(line), extra);
    const note = parseSignedNote(checkpoint, "checkpoint");
    const { origin, size, root } = parseCheckpoint(note.text);
    const isIn = verifyInclusion({ leafHash: lineLeafHash(line), index, size, proof, root });
    return {
      title,
      checks: [
        isText
          ? holds("The entry hashes to what it says", `hash ${currentHash}`)
          : fails("The entry is not a canonical ledger line"),
        isIn
          ? holds(
              `It is entry ${index} of a ledger of ${size.toLocaleString("en")}`,
              `The inclusion proof leads to the root ${toHex(root)}.`,
            )
          : fails(`It is not entry ${index} of the checkpoint's ledger`),
        ...signatureChecks(note, origin, keys),
      ],
      ...(isIn && { tree: { what: "the proof", size, root: toHex(root), isWhole: false } }),
    };
  } catch (error) {
    return unreadable(title, "The proof does not hold", error);
  }
}
