import { TallystickError } from "tallystick-protocol/errors";
import { toHex } from "tallystick-protocol/hex";
import { parseSignedNote } from "tallystick-protocol/note/signedNote";
import { parseProofBundle, verifyProofBundle } from "tallystick-protocol/proof/proofBundle";
import { type Check, type Finding, fails, holds, isOpen } from "./check.ts";
import { type BelievedKeys, signatureChecks } from "./verifyKeys.ts";

/** Verifies a `.proof` file: its entry must be in the ledger whose head the writer signed. */
export function verifyProofFile(text: string, keys: BelievedKeys): Finding {
  const { logs, policy } = keys;
  const title = "A proof of one entry";
  try {
    const bundle = parseProofBundle(text);
    const { entry, index, checkpoint, ledger, transaction } = verifyProofBundle(bundle, {
      leaveWriterToChain: true,
      ...(logs.length > 0 && { keys: logs }),
    });
    const { size, root, origin } = checkpoint;
    const checks: Check[] = [
      holds("The entry hashes to what it says", `hash ${entry.currentHash}`),
      holds(
        `It is entry ${index} of a ledger of ${size.toLocaleString("en")}`,
        `The inclusion proof leads to the root ${toHex(root)}.`,
      ),
    ];
    // A policy asks for more than the log's own signature, whatever the form of the proof.
    if (policy !== null)
      checks.push(...signatureChecks(parseSignedNote(bundle.checkpoint, "checkpoint"), origin, keys));
    else
      checks.push(
        holds(
          "The checkpoint is signed",
          logs.length > 0
            ? `by a key of ${origin} that you gave`
            : `by the key of ${origin} that the file names. Compare it with one that you know.`,
        ),
      );
    if (ledger === null) {
      checks.push(
        isOpen(
          "It carries no word of a ledger's writer",
          "The ledger was not anchored when the proof was made.",
        ),
      );
    } else {
      checks.push(holds("The ledger's id follows from its first writer", ledger.id));
      checks.push(
        ledger.rests === "nothing"
          ? isOpen("Only the chain can say whether its signer writes the ledger", ledger.writer)
          : holds("The ledger's writer signed this head", ledger.writer),
      );
    }
    checks.push(
      transaction === null
        ? isOpen("It names no transaction that anchored it")
        : isOpen("Whether the chain took this root", `Look at transaction ${transaction}.`),
    );
    const tree = { what: "the proof", size, root: toHex(root), isWhole: false };
    return { title, checks, tree: ledger === null ? tree : { ...tree, ledger: ledger.id } };
  } catch (error) {
    if (!(error instanceof TallystickError)) throw error;
    return { title, checks: [fails("The proof does not hold", error.message)] };
  }
}
