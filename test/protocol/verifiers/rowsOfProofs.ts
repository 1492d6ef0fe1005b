import { ed25519 } from "@noble/curves/ed25519.js";
import type { Address } from "tallystick-protocol/address";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { headTypedData, ledgerId } from "tallystick-protocol/ledger/anchor";
import { entryLine, GENESIS_HASH, type LedgerEntry, sealEntry } from "tallystick-protocol/ledger/entry";
import { verifyLedgerLines } from "tallystick-protocol/ledger/verifyLedger";
import { lineLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import {
  type VerifyConsistencyParameters,
  verifyConsistency,
} from "tallystick-protocol/merkle/verifyConsistency";
import { type VerifyInclusionParameters, verifyInclusion } from "tallystick-protocol/merkle/verifyInclusion";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import { cosign, cosignerKey, formatCosignerKey } from "tallystick-protocol/note/cosignature";
import { headNoteSignature, isHeadSignedBy } from "tallystick-protocol/note/headSignature";
import {
  formatSignedNote,
  formatVerifierKey,
  isNoteSignedBy,
  noteVerifierKey,
  parseSignedNote,
  parseVerifierKey,
  signNote,
} from "tallystick-protocol/note/signedNote";
import { parseTrustPolicy } from "tallystick-protocol/note/trustPolicy";
import {
  type ProofBundle,
  parseProofBundle,
  type VerifiedProof,
  verifyProofBundle,
} from "tallystick-protocol/proof/proofBundle";
import { formatTlogProof, parseTlogProof, verifyTlogProof } from "tallystick-protocol/proof/tlogProof";
import { reportKeyOf } from "tallystick-protocol/trustReport/reportKey";
import { signTrustReport } from "tallystick-protocol/trustReport/signTrustReport";
import { verifyTrustReport } from "tallystick-protocol/trustReport/verifyTrustReport";
import { confirmProof } from "tallystick-sdk/proof/confirmProof";
import { privateKeyToAccount } from "viem/accounts";
import { chainWith, proof, transaction } from "../../sdk/proof/support/anchoredChain.ts";
import type { Verifier } from "./verifier.ts";

const ORIGIN = "tallystick.test/verifiers";
const SEED = new Uint8Array(32).fill(7);
const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const writer = account.address.toLowerCase() as Address;
const guardian: Address = `0x${"99".repeat(20)}`;
const deployment = { chainId: 8453, contract: `0x${"cc".repeat(20)}` as Address };
const key = noteVerifierKey(ORIGIN, ed25519.getPublicKey(SEED));

const entries: LedgerEntry[] = [];
for (let n = 0; n < 8; n++) {
  const parentHash = entries.at(-1)?.currentHash ?? GENESIS_HASH;
  entries.push(
    sealEntry({
      timestamp: 1_767_225_600 + n,
      taskId: `task-${n}`,
      payload: { type: "test", n },
      parentHash,
    }),
  );
}
const tree = new MerkleTree();
for (const entry of entries) tree.append(lineLeafHash(entryLine(entry)));
const leaf = (n: number): Uint8Array => lineLeafHash(entryLine(entries[n] as LedgerEntry));

/** These verifiers return only true or false, so they cannot name the fault. */
const no = (holds: boolean): string | undefined => (holds ? undefined : "no");
const onlyNo = [{ at: /^/, words: /^no$/ }];

/** RFC 9162 allows this change. It does no harm, because a checkpoint or the chain gives a root together with its size. */
const SAME_PATH = "the path is the same in trees of both sizes";

const inclusion = (index: number, size: number): Verifier => ({
  name: `verifyInclusion of ${index} in ${size}`,
  input: () => ({
    leafHash: leaf(index),
    index,
    size,
    proof: tree.inclusionProof(index, size),
    root: tree.root(size),
  }),
  judge: (input: VerifyInclusionParameters) => no(verifyInclusion(input)),
  given: /^/,
  says: onlyNo,
});

const consistency = (from: number, to: number): Verifier => ({
  name: `verifyConsistency from ${from} to ${to}`,
  input: () => ({
    from,
    to,
    fromRoot: tree.root(from),
    toRoot: tree.root(to),
    proof: tree.consistencyProof(from, to),
  }),
  judge: (input: VerifyConsistencyParameters) => no(verifyConsistency(input)),
  given: /^/,
  says: onlyNo,
});

async function bundle(): Promise<ProofBundle> {
  const text = formatCheckpoint({ origin: ORIGIN, size: 7, root: tree.root(7) });
  const id = ledgerId({ ...deployment, writer, guardian, origin: ORIGIN });
  const head = { ledgerId: id, size: 7n, root: toHex(tree.root(7)) };
  const signature = await account.signTypedData(headTypedData(head, deployment));
  const signatures = [
    signNote(text, ORIGIN, SEED),
    headNoteSignature(ORIGIN, writer, { by: "key", signature }),
  ];
  return {
    format: "tallystick/proof/v1",
    entry: entryLine(entries[6] as LedgerEntry),
    index: 6,
    inclusion_proof: tree.inclusionProof(6, 7).map((node) => toHex(node)),
    checkpoint: formatSignedNote({ text, signatures }),
    verifier_key: formatVerifierKey(key),
    ledger: {
      id,
      chain_id: deployment.chainId,
      contract: deployment.contract,
      first_writer: writer,
      guardian,
      writer,
    },
    anchor: { transaction: `0x${"ab".repeat(32)}` },
  };
}

const bundleSays = [
  { at: /^bundle\.entry$/, words: /The entry/ },
  { at: /^bundle\.(?:index|inclusion_proof)/, words: /is not entry \d+ of the checkpoint's ledger/ },
  { at: /^bundle\.checkpoint$/, words: /checkpoint|ledger's id|not entry/i },
  { at: /^bundle\.verifier_key$/, words: /the key/ },
  { at: /^bundle\.ledger\./, words: /The ledger's (?:id|writer)|signature of the ledger's writer|writer/ },
  { at: /^bundle$/, words: /another|expected object/ },
  { at: /^bundle\.ledger$/, words: /another/ },
  { at: /^bundle\.anchor$/, words: /another/ },
];
const looked = {
  at: /^bundle\.anchor\.transaction other/,
  why: "only the chain knows the transaction, and confirmProof asks the chain",
};
const saysLess = {
  at: /^bundle\.(?:ledger|anchor) null/,
  why: "the proof claims less, and the result shows that",
};

const trustReport = signTrustReport(
  {
    agent_id: writer,
    trust_score: 0.932018869,
    factors: { uptime: { score: 0.99, evidence: { days: [1, null, "ü"] } } },
  },
  { secretKey: SEED, verificationUrl: "https://node.example/v1/report-key" },
);

const WITNESS = { name: "witness.test/w1", seed: new Uint8Array(32).fill(8) };
const witnessKey = formatCosignerKey(cosignerKey(WITNESS.name, ed25519.getPublicKey(WITNESS.seed)));

/** A proof in C2SP's form, and a policy that accepts it. */
function tlogProof() {
  const text = formatCheckpoint({ origin: ORIGIN, size: 7, root: tree.root(7) });
  const signatures = [signNote(text, ORIGIN, SEED), cosign(text, WITNESS.name, WITNESS.seed, 1_767_225_600)];
  return {
    file: formatTlogProof({
      extra: new TextEncoder().encode(entryLine(entries[6] as LedgerEntry)),
      index: 6,
      proof: tree.inclusionProof(6, 7),
      checkpoint: formatSignedNote({ text, signatures }),
    }),
    policy: `log ${formatVerifierKey(key)}\nwitness w ${witnessKey}\nquorum w\n`,
  };
}

export const proofRows: Verifier[] = [
  {
    name: "verifyTlogProof",
    // The parts of the file and the lines of the policy are separate fields, so that each is changed.
    input: () => {
      const { file, policy } = tlogProof();
      const [head = "", checkpoint = ""] = file.split(/\n\n(.*)/s);
      const [header, extra, index, ...path] = head.split("\n");
      const [log, witness, quorum] = policy.trimEnd().split("\n");
      return { header, extra, index, path, checkpoint, policy: { log, witness, quorum } };
    },
    judge: (it: {
      header: string;
      extra: string;
      index: string;
      path: string[];
      checkpoint: string;
      policy: { log: string; witness: string; quorum: string };
    }) => {
      const file = `${[it.header, it.extra, it.index, ...it.path].join("\n")}\n\n${it.checkpoint}`;
      const policy = Object.values(it.policy).join("\n");
      verifyTlogProof(parseTlogProof(file), parseTrustPolicy(policy));
    },
    given: /^/,
    says: [
      { at: /^header/, words: /must be c2sp/ },
      { at: /^extra/, words: /The entry|no entry|base 64|index|entry/ },
      { at: /^index/, words: /is not entry|index/ },
      { at: /^path/, words: /proof|is not entry|checkpoint/ },
      { at: /^checkpoint/, words: /checkpoint|signed the checkpoint|has no log/ },
      { at: /^policy/, words: /policy|quorum|No key|has no log/ },
    ],
  },
  inclusion(6, 7),
  inclusion(3, 4),
  {
    ...inclusion(5, 7),
    taken: [
      {
        at: /^size one more/,
        why: SAME_PATH,
      },
    ],
  },
  { ...consistency(3, 7), taken: [{ at: /^to one (?:more|less)/, why: SAME_PATH }] },
  { ...consistency(4, 8), taken: [{ at: /^to one less/, why: SAME_PATH }] },
  { ...consistency(6, 7), taken: [{ at: /^to one more/, why: SAME_PATH }] },
  {
    name: "isNoteSignedBy",
    input: () => {
      const text = formatCheckpoint({ origin: ORIGIN, size: 7, root: tree.root(7) });
      const note = formatSignedNote({ text, signatures: [signNote(text, ORIGIN, SEED)] });
      return { note, key: formatVerifierKey(key) };
    },
    judge: ({ note, key: vkey }: { note: string; key: string }) =>
      isNoteSignedBy(parseSignedNote(note), parseVerifierKey(vkey)) ? undefined : "note is not signed by key",
    given: /^/,
  },
  {
    name: "isHeadSignedBy",
    input: async () => {
      const head = { ledgerId: toHex(tree.root(3)), size: 7n, root: toHex(tree.root(7)) };
      return {
        writer,
        head,
        deployment,
        signature: await account.signTypedData(headTypedData(head, deployment)),
      };
    },
    judge: (it: {
      writer: Address;
      head: { ledgerId: Hex; size: bigint; root: Hex };
      deployment: typeof deployment;
      signature: Hex;
    }) => no(isHeadSignedBy(it.writer, it.head, it.deployment, it.signature)),
    given: /^/,
    says: onlyNo,
  },
  {
    name: "verifyProofBundle with its own key",
    input: async () => ({ bundle: await bundle() }),
    judge: (input: { bundle: unknown }) => {
      verifyProofBundle(parseProofBundle(JSON.stringify(input.bundle ?? null)));
    },
    given: /^$/,
    says: bundleSays,
    taken: [looked, saysLess],
  },
  {
    name: "verifyProofBundle with a key and a writer that are known",
    input: async () => ({ bundle: await bundle(), known: { key: formatVerifierKey(key), writer } }),
    judge: (input: { bundle: unknown; known: { key: string; writer: Address } }) => {
      const keys = [parseVerifierKey(input.known.key, "known.key")];
      const proof = verifyProofBundle(parseProofBundle(JSON.stringify(input.bundle ?? null)), {
        keys,
        writer: input.known.writer,
      });
      return proof.ledger === null ? "bundle.ledger is missing, so nobody's word is in it" : undefined;
    },
    given: /^$|^known/,
    says: [...bundleSays, { at: /^known/, words: /the key|is by the writer/ }],
    taken: [
      looked,
      { at: /^bundle\.anchor null/, why: "the proof claims less, and the result shows that" },
      { at: /^bundle\.verifier_key (?:other|cut|empty|longer)/, why: "the verifier uses the known keys" },
    ],
  },
  {
    name: "confirmProof, which asks the chain",
    input: () => {
      const { ledger, checkpoint } = proof;
      return {
        ledger: {
          id: ledger?.id,
          writer: ledger?.writer,
          contract: ledger?.contract,
          chainId: ledger?.chainId,
        },
        transaction,
        checkpoint: { size: checkpoint.size, root: checkpoint.root },
      };
    },
    judge: async (input: VerifiedProof) => {
      await confirmProof(input, chainWith());
    },
    given: /^/,
    says: [
      { at: /^ledger\.chainId$/, words: /is about chain/ },
      { at: /^ledger\.writer$/, words: /does not write the ledger/ },
      { at: /^transaction$/, words: /The chain has no transaction/ },
      { at: /^ledger\.contract$/, words: /There is no contract at/ },
      { at: /^(?:ledger|checkpoint)\./, words: /did not anchor the checkpoint's size and root/ },
    ],
  },
  {
    name: "verifyTrustReport with the key that is known",
    input: () => trustReport,
    judge: (input: unknown) => {
      const { isValid, reason } = verifyTrustReport(input, { publicKey: reportKeyOf(SEED).public_key });
      return isValid ? undefined : reason;
    },
    says: [{ at: /^/, words: /other_key|signed_by|signature|trust_report|Unrecognized key/ }],
    taken: [
      { at: /verification_url (?:other|cut|empty|longer)/, why: "the signature does not cover this address" },
    ],
  },
  {
    name: "verifyLedgerLines with the head and root that are known",
    input: async () => {
      const lines = entries.map(entryLine);
      const { size, head, root } = await verifyLedgerLines(lines);
      return { lines, size, head, root: toHex(root) };
    },
    judge: async (input: { lines: string[]; size: number; head: string; root: Hex }) => {
      const { size, head, root } = await verifyLedgerLines(input.lines);
      if (size !== input.size) return `lines are ${size}, the size is ${input.size}`;
      if (head !== input.head) return "the last of the lines is not the head";
      return toHex(root) === input.root ? undefined : "root of the lines is another";
    },
    given: /^/,
    says: [{ at: /^lines/, words: /^line \d+:/ }],
  },
];
