import { ed25519 } from "@noble/curves/ed25519.js";
import { toHex } from "tallystick-protocol/hex";
import { entryLine, GENESIS_HASH, type LedgerEntry, sealEntry } from "tallystick-protocol/ledger/entry";
import { lineLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import {
  formatSignedNote,
  formatVerifierKey,
  noteVerifierKey,
  signNote,
} from "tallystick-protocol/note/signedNote";
import type { ProofBundle } from "tallystick-protocol/proof/proofBundle";
import { recordPayload, type SignedRecord } from "tallystick-protocol/records/record";

const SEED = new Uint8Array(32).fill(9);

/** The key of the ledgers of {@link provenRecords}. */
export const keyOf = (origin: string) => noteVerifierKey(origin, ed25519.getPublicKey(SEED));

/** A ledger of these records, and the proof of each under one checkpoint. */
export function provenRecords(
  records: readonly SignedRecord[],
  origin = "tallystick.test/proven",
): ProofBundle[] {
  const entries: LedgerEntry[] = [];
  const tree = new MerkleTree();
  for (const record of records) {
    const entry = sealEntry({
      timestamp: 1_767_225_600 + entries.length,
      taskId: `task-${entries.length}`,
      payload: recordPayload(record),
      parentHash: entries.at(-1)?.currentHash ?? GENESIS_HASH,
    });
    entries.push(entry);
    tree.append(lineLeafHash(entryLine(entry)));
  }
  const size = entries.length;
  const text = formatCheckpoint({ origin, size, root: tree.root(size) });
  const checkpoint = formatSignedNote({ text, signatures: [signNote(text, origin, SEED)] });
  return entries.map((entry, index) => ({
    format: "tallystick/proof/v1",
    entry: entryLine(entry),
    index,
    inclusion_proof: tree.inclusionProof(index, size).map(toHex),
    checkpoint,
    verifier_key: formatVerifierKey(keyOf(origin)),
    ledger: null,
    anchor: null,
  }));
}
