import { ed25519 } from "@noble/curves/ed25519.js";
import type { Address } from "tallystick-protocol/address";
import { checkFeedbackFile } from "tallystick-protocol/erc8004/checkFeedbackFile";
import { feedbackContent } from "tallystick-protocol/erc8004/feedbackFile";
import { fileHash } from "tallystick-protocol/erc8004/jsonFile";
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
import { recordPayload, type SignedRecord, signRecord } from "tallystick-protocol/records/record";
import { addressOf } from "tallystick-protocol/signatures/signHash";
import type { Verifier } from "./verifier.ts";

const ORIGIN = "tallystick.test/feedback";
const SEED = new Uint8Array(32).fill(9);
const key = noteVerifierKey(ORIGIN, ed25519.getPublicKey(SEED));
const [seller, buyer] = [`0x${"11".repeat(32)}`, `0x${"22".repeat(32)}`] as const;
const registry = { chainId: 8453, address: `0x${"80".repeat(20)}` as Address };

/** A feedback file with all that it is made of: a ledger with a receipt and its rating. */
async function makeContent() {
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
  );
  const body = { receipt, side: "buyer", stars: 4 };
  add(await signRecord({ type: "rating", ledger: "local", body, privateKey: buyer }));
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

/** What names the fault where it is in a proof, or in an entry that hashes to something else then. */
const OF_PROOFS = /proof|entry|checkpoint|signed|hash|origin|receipt|rating/;

export const feedbackRows: Verifier[] = [
  {
    name: "checkFeedbackFile, of which every field follows from receipt and rating",
    input: makeContent,
    judge: (content: object) => {
      const { findings } = checkFeedbackFile(canonical(content), { keys: [key] });
      const wrong = findings.filter(({ holds }) => holds === false);
      return wrong.length === 0
        ? undefined
        : wrong.map(({ field, detail }) => `${field} ${detail}`).join("; ");
    },
    says: [
      { at: /^tallystick\.(?:receipt|rating)_proof/, words: OF_PROOFS },
      { at: /^agentRegistry/, words: /^clientAddress/ },
      { at: /^$|./, words: /canonical|must be|Unrecognized/ },
    ],
    taken: [
      { at: /^agentId /, why: "which identity is meant is the registry's to say: the event has it" },
      { at: /^agentRegistry /, why: "the same" },
      {
        at: /^tallystick\.receipt_proof\.verifier_key (?:other|cut|empty|longer)/,
        why: "the key that is known counts",
      },
    ],
  },
  {
    name: "checkFeedbackFile with the registry's hash",
    input: async () => {
      const text = canonical(await makeContent());
      return { text, hash: fileHash(text) };
    },
    judge: ({ text, hash }: { text: string; hash: string }) => {
      const { findings } = checkFeedbackFile(text, { hash, keys: [key] });
      const wrong = findings.filter(({ holds }) => holds === false);
      return wrong.length === 0
        ? undefined
        : wrong.map(({ field, detail }) => `${field} ${detail}`).join("; ");
    },
    given: /^(?:text|hash)?$/,
    says: [{ at: /^(?:text|hash)$/, words: /^file/ }],
  },
];

/** Sorted at every level, without asking whether all of it can be signed. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_, it) =>
    it !== null && typeof it === "object" && !Array.isArray(it)
      ? Object.fromEntries(Object.entries(it).sort(([a], [b]) => (a < b ? -1 : 1)))
      : it,
  );
}
