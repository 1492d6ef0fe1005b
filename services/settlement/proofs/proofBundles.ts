import { utf8ToBytes } from "@noble/hashes/utils.js";
import type { ProvenRating } from "tallystick-protocol/erc8004/feedbackFile";
import { InvalidInputError } from "tallystick-protocol/errors";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { entryLine } from "tallystick-protocol/ledger/entry";
import { parseCheckpoint } from "tallystick-protocol/note/checkpoint";
import { parseSignedNote } from "tallystick-protocol/note/signedNote";
import type { ProofBundle } from "tallystick-protocol/proof/proofBundle";
import { formatTlogProof } from "tallystick-protocol/proof/tlogProof";
import type { DiskLedger } from "../ledger/diskLedger.ts";
import type { Checkpoints } from "./checkpoints.ts";

/**
 * Makes the `.proof` bundle of an entry. It uses the newest checkpoint with the writer's signature if that
 * covers the entry, because the chain has the same root. Otherwise it uses the newest checkpoint.
 *
 * @throws InvalidInputError naming `index`; TallystickError `checkpoint_pending` (503)
 */
export async function makeProofBundle(
  index: number,
  sources: {
    ledger: DiskLedger;
    checkpoints: Checkpoints;
    identity: ProofBundle["ledger"];
    /** The transaction that anchored a size and root. */
    transactionOf: (anchor: { size: number; root: Hex }) => Hex | undefined;
  },
): Promise<ProofBundle> {
  const { ledger, checkpoints, identity, transactionOf } = sources;
  requireEntry(index, ledger);
  const anchored = checkpoints.headCovering(index);
  const { size, note } = anchored ?? (await checkpoints.covering(index));
  const transaction = anchored && transactionOf({ size, root: toHex(ledger.tree.root(size)) });
  return {
    format: "tallystick/proof/v1",
    entry: entryLine(await ledger.entry(index)),
    index,
    inclusion_proof: ledger.tree.inclusionProof(index, size).map(toHex),
    checkpoint: note,
    verifier_key: checkpoints.verifierKey,
    ledger: identity,
    anchor: transaction === undefined ? null : { transaction },
  };
}

/**
 * Proves a receipt and its rating under one checkpoint, for a feedback file of ERC-8004.
 *
 * @throws as {@link makeProofBundle}
 */
export async function makeHireProof(
  receipt: number,
  rating: number,
  sources: Parameters<typeof makeProofBundle>[1],
): Promise<{ receipt_proof: ProofBundle; rating_proof: ProvenRating }> {
  const { ledger } = sources;
  // A rating comes after its receipt, so a checkpoint that covers the rating covers both.
  const bundle = await makeProofBundle(Math.max(receipt, rating), sources);
  const { size } = parseCheckpoint(parseSignedNote(bundle.checkpoint, "checkpoint").text);
  const proven = async (index: number) => ({
    entry: entryLine(await ledger.entry(index)),
    index,
    inclusion_proof: ledger.tree.inclusionProof(index, size).map(toHex),
  });
  return { receipt_proof: { ...bundle, ...(await proven(receipt)) }, rating_proof: await proven(rating) };
}

/**
 * Makes the `.tlog-proof` of an entry (C2SP tlog-proof). It uses the newest cosigned checkpoint if that
 * covers the entry. Otherwise it uses the newest checkpoint. The entry's line is the extra data.
 *
 * @throws as {@link makeProofBundle}
 */
export async function makeTlogProof(
  index: number,
  { ledger, checkpoints }: { ledger: DiskLedger; checkpoints: Checkpoints },
): Promise<string> {
  requireEntry(index, ledger);
  const witnessed = checkpoints.witnessedCovering(index);
  const { size, note } = witnessed ?? (await checkpoints.covering(index));
  return formatTlogProof({
    extra: utf8ToBytes(entryLine(await ledger.entry(index))),
    index,
    proof: ledger.tree.inclusionProof(index, size),
    checkpoint: note,
  });
}

function requireEntry(index: number, { size }: DiskLedger): void {
  if (Number.isSafeInteger(index) && index >= 0 && index < size) return;
  throw new InvalidInputError({
    code: "not_in_ledger",
    issues: [{ field: "index", message: `must be the position of an entry, below ${size}` }],
  });
}
