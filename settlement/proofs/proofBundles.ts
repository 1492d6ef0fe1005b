import { InvalidInputError } from "../../protocol/errors.ts";
import { type Hex, toHex } from "../../protocol/hex.ts";
import { entryLine } from "../../protocol/ledger/entry.ts";
import type { ProofBundle } from "../../protocol/proof/proofBundle.ts";
import type { AnchorRecord } from "../anchoring/anchorLog.ts";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import type { Checkpoints } from "./checkpoints.ts";

/**
 * Makes the `.proof` bundle of an entry: in the tree of the last anchor when that has the entry, so that the chain
 * shows the same root, else in the tree of the moment.
 *
 * @throws InvalidInputError naming `index`
 */
export async function makeProofBundle(
  index: number,
  sources: {
    ledger: DiskLedger;
    checkpoints: Checkpoints;
    identity: ProofBundle["ledger"];
    lastAnchor: AnchorRecord | undefined;
  },
): Promise<ProofBundle> {
  const { ledger, checkpoints, identity, lastAnchor } = sources;
  if (!Number.isSafeInteger(index) || index < 0 || index >= ledger.size) {
    throw new InvalidInputError({
      code: "not_in_ledger",
      issues: [{ field: "index", message: `must be the position of an entry, below ${ledger.size}` }],
    });
  }
  const isAnchored = lastAnchor !== undefined && index < lastAnchor.size && lastAnchor.size <= ledger.size;
  const size = isAnchored ? lastAnchor.size : ledger.size;
  return {
    format: "tallystick/proof/v1",
    entry: entryLine(await ledger.entry(index)),
    index,
    inclusion_proof: ledger.tree.inclusionProof(index, size).map(toHex),
    checkpoint: await checkpoints.at(size),
    verifier_key: checkpoints.verifierKey,
    ledger: identity,
    anchor: isAnchored ? { transaction: lastAnchor.transaction as Hex } : null,
  };
}
