import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { headTypedData, ledgerId } from "tallystick-protocol/ledger/anchor";
import { entryLine, GENESIS_HASH, sealEntry } from "tallystick-protocol/ledger/entry";
import { lineLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import { type HeadSignature, headNoteSignature } from "tallystick-protocol/note/headSignature";
import {
  formatSignedNote,
  formatVerifierKey,
  noteVerifierKey,
  signNote,
} from "tallystick-protocol/note/signedNote";
import { type ProofBundle, verifyProofBundle } from "tallystick-protocol/proof/proofBundle";
import { ProofError } from "tallystick-protocol/proof/provenEntry";
import { privateKeyToAccount } from "viem/accounts";

const ORIGIN = "tallystick.test/bundles";
const accountOf = (byte: string) => privateKeyToAccount(`0x${byte.repeat(32)}`);
const addressOf = (byte: string) => accountOf(byte).address.toLowerCase() as Address;
const [first, next] = [addressOf("11"), addressOf("22")];
const guardian = `0x${"99".repeat(20)}` as const;
const deployment = { chainId: 1, contract: `0x${"cc".repeat(20)}` } as const;
const idOf = (writer: Address, by: Address = guardian) =>
  ledgerId({ ...deployment, writer, guardian: by, origin: ORIGIN });
const seedOf = (byte: number) => new Uint8Array(32).fill(byte);
const keyOf = (byte: number) => noteVerifierKey(ORIGIN, ed25519.getPublicKey(seedOf(byte)));

const entry = sealEntry({ timestamp: 1, taskId: "one", payload: { type: "test" }, parentHash: GENESIS_HASH });
const root = lineLeafHash(entryLine(entry));

/** A bundle of a ledger with one entry, with a word and Ed25519 signatures of whoever is named. */
async function bundleOf({
  writer,
  word,
  seeds = [1],
  ledger = {},
}: {
  writer: Address;
  word?: HeadSignature;
  seeds?: number[];
  ledger?: Partial<NonNullable<ProofBundle["ledger"]>>;
}): Promise<ProofBundle> {
  const text = formatCheckpoint({ origin: ORIGIN, size: 1, root });
  const signatures = seeds.map((seed) => signNote(text, ORIGIN, seedOf(seed)));
  if (word) signatures.push(headNoteSignature(ORIGIN, writer, word));
  return {
    format: "tallystick/proof/v1",
    entry: entryLine(entry),
    index: 0,
    inclusion_proof: [],
    checkpoint: formatSignedNote({ text, signatures }),
    verifier_key: formatVerifierKey(keyOf(seeds[0] as number)),
    ledger: {
      id: idOf(first),
      chain_id: 1,
      contract: deployment.contract,
      first_writer: first,
      guardian,
      writer,
      ...ledger,
    },
    anchor: { transaction: `0x${"ab".repeat(32)}` },
  };
}

async function keyWord(byte: string, id: Hex = idOf(first)): Promise<HeadSignature> {
  const head = { ledgerId: id, size: 1n, root: toHex(root) };
  return { by: "key", signature: await accountOf(byte).signTypedData(headTypedData(head, deployment)) };
}

const refusal = (action: () => unknown): string => {
  try {
    action();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return "none";
};

describe("a proof bundle", () => {
  it("needs only the id when the first writer's key signed", async () => {
    const bundle = await bundleOf({ writer: first, word: await keyWord("11") });
    expect(verifyProofBundle(bundle).ledger).to.include({ rests: "id", firstWriter: first, guardian });
    expect(verifyProofBundle(bundle, { writer: first }).ledger?.rests).to.equal("id");
  });

  it("of another writer than the first is refused, unless the writer is known or the chain is consulted", async () => {
    const bundle = await bundleOf({ writer: next, word: await keyWord("22") });
    expect(refusal(() => verifyProofBundle(bundle))).to.equal("writer_unconfirmed");
    // Keys vouch for the root, and say nothing about who writes the ledger.
    expect(refusal(() => verifyProofBundle(bundle, { keys: [keyOf(1)] }))).to.equal("writer_unconfirmed");
    expect(refusal(() => verifyProofBundle(bundle, { writer: first }))).to.equal("proof_invalid");
    expect(verifyProofBundle(bundle, { writer: next }).ledger?.rests).to.equal("pinned");
    expect(verifyProofBundle(bundle, { leaveWriterToChain: true }).ledger?.rests).to.equal("nothing");
  });

  it("of a contract proves nothing by its signature alone, whatever the bytes", async () => {
    for (const writer of [first, next]) {
      const bundle = await bundleOf({ writer, word: { by: "contract", signature: "0x00" } });
      expect(refusal(() => verifyProofBundle(bundle))).to.equal("writer_unconfirmed");
      expect(refusal(() => verifyProofBundle(bundle, { writer }))).to.equal("writer_unconfirmed");
      expect(refusal(() => verifyProofBundle(bundle, { keys: [keyOf(1)] }))).to.equal("writer_unconfirmed");
      expect(verifyProofBundle(bundle, { writer, keys: [keyOf(1)] }).ledger?.rests).to.equal("pinned");
      expect(refusal(() => verifyProofBundle(bundle, { writer, keys: [keyOf(2)] }))).to.equal(
        "proof_invalid",
      );
    }
  });

  it("with another guardian or first writer belongs to another ledger, and reports it", async () => {
    const thief = addressOf("33");
    const swapped = await bundleOf({
      writer: first,
      word: await keyWord("11"),
      ledger: { guardian: thief },
    });
    expect(refusal(() => verifyProofBundle(swapped))).to.equal("proof_invalid");
    const renamed = await bundleOf({
      writer: thief,
      word: await keyWord("33"),
      ledger: { first_writer: thief },
    });
    expect(refusal(() => verifyProofBundle(renamed))).to.equal("proof_invalid");
    // With the id that belongs to it, it is the thief's own ledger: whoever names the ledger they mean sees it.
    const own = idOf(thief);
    const forged = await bundleOf({
      writer: thief,
      word: await keyWord("33", own),
      ledger: { first_writer: thief, id: own },
    });
    expect(verifyProofBundle(forged).ledger?.id).to.not.equal(idOf(first));
  });

  it("with the signature for another ledger, or two signatures of one writer, is refused", async () => {
    const elsewhere = await bundleOf({ writer: first, word: await keyWord("11", idOf(next)) });
    expect(() => verifyProofBundle(elsewhere)).to.throw(ProofError, "did not sign");
    const bundle = await bundleOf({ writer: first, word: await keyWord("11") });
    const [text = "", lines = ""] = bundle.checkpoint.split("\n\n");
    const [ed, head] = lines.trimEnd().split("\n");
    const twice = { ...bundle, checkpoint: `${text}\n\n${ed}\n${head}\n${head}\n` };
    expect(refusal(() => verifyProofBundle(twice))).to.equal("invalid_input");
  });

  it("is valid with either key while one follows the other", async () => {
    const bundle = await bundleOf({ writer: first, word: await keyWord("11"), seeds: [1, 2] });
    for (const keys of [[1], [2], [1, 2], [3, 2]])
      expect(verifyProofBundle(bundle, { keys: keys.map(keyOf) }).index).to.equal(0);
    expect(refusal(() => verifyProofBundle(bundle, { keys: [keyOf(3)] }))).to.equal("proof_invalid");
    expect(refusal(() => verifyProofBundle(bundle, { keys: [] }))).to.equal("proof_invalid");
  });
});
