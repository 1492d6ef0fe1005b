import { ed25519 } from "@noble/curves/ed25519.js";
import type { Address } from "tallystick-protocol/address";
import { feedbackContent } from "tallystick-protocol/erc8004/feedbackFile";
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
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { recordPayload, type SignedRecord, signRecord } from "tallystick-protocol/records/record";
import { addressOf } from "tallystick-protocol/signatures/signHash";

const ORIGIN = "tallystick.test/feedback";
const SEED = new Uint8Array(32).fill(9);
export const key = noteVerifierKey(ORIGIN, ed25519.getPublicKey(SEED));
const [seller, buyer] = [`0x${"11".repeat(32)}`, `0x${"22".repeat(32)}`] as const;
const registry = { chainId: 8453, address: `0x${"80".repeat(20)}` as Address };

/** A change that the ledger's operator makes to a record before the ledger takes it. */
export type Forgery = (record: SignedRecord) => SignedRecord | Promise<SignedRecord>;

/** The content of a feedback file about the receipt and the rating of a ledger with these two entries. */
export async function feedbackOf({
  ratingLedger = "local" as LedgerName,
  receiptAs = (it) => it,
  ratingAs = (it) => it,
}: {
  ratingLedger?: LedgerName;
  receiptAs?: Forgery;
  ratingAs?: Forgery;
} = {}) {
  const entries: LedgerEntry[] = [];
  const add = (record: SignedRecord): string => {
    const entry = sealEntry({
      timestamp: 1_767_225_600 + entries.length,
      taskId: `task-${entries.length}`,
      payload: recordPayload(record),
      parentHash: entries.at(-1)?.currentHash ?? GENESIS_HASH,
    });
    entries.push(entry);
    return entry.currentHash;
  };
  const receipt = add(
    await receiptAs(
      await signRecord({
        type: "receipt",
        body: {
          agent_id: addressOf(seller),
          buyer: addressOf(buyer),
          capability: "text.translate.en.it",
          hire_id: "hire_01",
          tx_hash: `0x${"fe".repeat(32)}`,
          amount_usdc_atomic: "500000",
          network: "eip155:8453",
          completed_at: 1_767_225_500,
          protocol_version: "swarmwage/v0.3",
          verification: { all_passed: true, checks: {} },
        },
        privateKey: seller,
      }),
    ),
  );
  const body = { receipt, side: "buyer", stars: 4 };
  add(await ratingAs(await signRecord({ type: "rating", ledger: ratingLedger, body, privateKey: buyer })));
  const tree = new MerkleTree();
  const lines = entries.map(entryLine);
  for (const line of lines) tree.append(lineLeafHash(line));
  const text = formatCheckpoint({ origin: ORIGIN, size: 2, root: tree.root(2) });
  const proven = (index: number) => ({
    entry: lines[index] as string,
    index,
    inclusion_proof: tree.inclusionProof(index, 2).map(toHex),
  });
  return feedbackContent({
    agentRegistry: registry,
    agentId: 7,
    receiptProof: {
      format: "tallystick/proof/v1",
      ...proven(0),
      checkpoint: formatSignedNote({ text, signatures: [signNote(text, ORIGIN, SEED)] }),
      verifier_key: formatVerifierKey(key),
      ledger: null,
      anchor: null,
    },
    ratingProof: proven(1),
  });
}
