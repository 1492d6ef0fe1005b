import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { headTypedData, ledgerId } from "tallystick-protocol/ledger/anchor";
import { entryLine, GENESIS_HASH, sealEntry } from "tallystick-protocol/ledger/entry";
import { lineLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import { type HeadSignature, headNoteSignature } from "tallystick-protocol/note/headSignature";
import {
  formatSignedNote,
  formatVerifierKey,
  noteVerifierKey,
  parseSignedNote,
  signNote,
} from "tallystick-protocol/note/signedNote";
import { type ProofBundle, parseProofBundle, verifyProofBundle } from "tallystick-protocol/proof/proofBundle";
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

/** A bundle of a ledger with one entry. It has the given word, and an Ed25519 signature for each seed. */
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
  it("needs only the ledger's id when the first writer's key signed", async () => {
    const bundle = await bundleOf({ writer: first, word: await keyWord("11") });
    expect(verifyProofBundle(bundle).ledger).to.include({ rests: "id", firstWriter: first, guardian });
    expect(verifyProofBundle(bundle, { writer: first }).ledger?.rests).to.equal("id");
  });

  it("of a later writer is accepted only if the reader knows this writer or asks the chain", async () => {
    const bundle = await bundleOf({ writer: next, word: await keyWord("22") });
    expect(refusal(() => verifyProofBundle(bundle))).to.equal("writer_unconfirmed");
    // An Ed25519 key proves the root. It does not prove who writes the ledger.
    expect(refusal(() => verifyProofBundle(bundle, { keys: [keyOf(1)] }))).to.equal("writer_unconfirmed");
    expect(refusal(() => verifyProofBundle(bundle, { writer: first }))).to.equal("proof_invalid");
    expect(verifyProofBundle(bundle, { writer: next }).ledger?.rests).to.equal("pinned");
    expect(verifyProofBundle(bundle, { leaveWriterToChain: true }).ledger?.rests).to.equal("nothing");
  });

  it("of a contract as writer is accepted only with a known writer and a known key", async () => {
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

  it("with another guardian or first writer is refused, because it belongs to another ledger", async () => {
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
    // With the matching id this is the thief's own ledger. A reader who compares the id notices this.
    const own = idOf(thief);
    const forged = await bundleOf({
      writer: thief,
      word: await keyWord("33", own),
      ledger: { first_writer: thief, id: own },
    });
    expect(verifyProofBundle(forged).ledger?.id).to.not.equal(idOf(first));
  });

  it("with a signature for another ledger, or with two signatures of one writer, is refused", async () => {
    const elsewhere = await bundleOf({ writer: first, word: await keyWord("11", idOf(next)) });
    expect(() => verifyProofBundle(elsewhere)).to.throw(ProofError, "did not sign");
    const bundle = await bundleOf({ writer: first, word: await keyWord("11") });
    const [text = "", lines = ""] = bundle.checkpoint.split("\n\n");
    const [ed, head] = lines.trimEnd().split("\n");
    const twice = { ...bundle, checkpoint: `${text}\n\n${ed}\n${head}\n${head}\n` };
    expect(refusal(() => verifyProofBundle(twice))).to.equal("invalid_input");
  });

  it("is valid with each of two keys while one replaces the other", async () => {
    const bundle = await bundleOf({ writer: first, word: await keyWord("11"), seeds: [1, 2] });
    for (const keys of [[1], [2], [1, 2], [3, 2]])
      expect(verifyProofBundle(bundle, { keys: keys.map(keyOf) }).index).to.equal(0);
    expect(refusal(() => verifyProofBundle(bundle, { keys: [keyOf(3)] }))).to.equal("proof_invalid");
    expect(refusal(() => verifyProofBundle(bundle, { keys: [] }))).to.equal("proof_invalid");
    // A key with the name of another log is refused, even if its bytes are those of the right key.
    const stranger = noteVerifierKey("tallystick.test/other", keyOf(1).publicKey);
    expect(() => verifyProofBundle(bundle, { keys: [stranger] })).to.throw(
      ProofError,
      "The checkpoint's origin is not the key's name.",
    );
    expect(() => verifyProofBundle(bundle, { keys: [stranger, keyOf(3)] })).to.throw(
      ProofError,
      "The checkpoint is not signed by the key.",
    );
  });

  it("is not signed by a key of another log, although the note has a valid signature by that key", async () => {
    const other = "tallystick.test/other";
    const bundle = await bundleOf({ writer: first, word: await keyWord("11") });
    const { text, signatures } = parseSignedNote(bundle.checkpoint);
    const both = formatSignedNote({ text, signatures: [...signatures, signNote(text, other, seedOf(5))] });
    const stranger = noteVerifierKey(other, ed25519.getPublicKey(seedOf(5)));
    expect(() => verifyProofBundle({ ...bundle, checkpoint: both }, { keys: [stranger, keyOf(3)] })).to.throw(
      ProofError,
      "The checkpoint is not signed by the key.",
    );
    expect(verifyProofBundle({ ...bundle, checkpoint: both }, { keys: [stranger, keyOf(1)] }).index).to.equal(
      0,
    );
  });

  it("gives the entry, the checkpoint, the ledger and the transaction", async () => {
    const word = await keyWord("11");
    const bundle = await bundleOf({ writer: first, word });
    expect(verifyProofBundle(bundle)).to.deep.equal({
      entry,
      index: 0,
      leafHash: toHex(root),
      checkpoint: { origin: ORIGIN, size: 1, root },
      verifierKey: formatVerifierKey(keyOf(1)),
      ledger: {
        id: idOf(first),
        ...deployment,
        firstWriter: first,
        guardian,
        writer: first,
        word,
        rests: "id",
      },
      transaction: `0x${"ab".repeat(32)}`,
    });
  });

  it("needs the writer's signature if it has an anchor, and names no ledger without both", async () => {
    const bare = await bundleOf({ writer: first });
    const { ledger, transaction } = verifyProofBundle({ ...bare, anchor: null });
    expect([ledger, transaction]).to.deep.equal([null, null]);
    expect(() => verifyProofBundle(bare)).to.throw(
      ProofError,
      "The checkpoint carries no signature of the ledger's writer.",
    );
    const signed = await bundleOf({ writer: first, word: await keyWord("11") });
    expect(verifyProofBundle({ ...signed, anchor: null }).ledger?.rests).to.equal("id");
    expect(verifyProofBundle({ ...signed, ledger: null }).ledger).to.equal(null);
  });

  it("shows an entry of a larger ledger by its path, and no other entry by this path", async () => {
    const tree = new MerkleTree();
    for (const leaf of [root, new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]) tree.append(leaf);
    const text = formatCheckpoint({ origin: ORIGIN, size: 3, root: tree.root(3) });
    const bundle = {
      ...(await bundleOf({ writer: first })),
      checkpoint: formatSignedNote({ text, signatures: [signNote(text, ORIGIN, seedOf(1))] }),
      inclusion_proof: tree.inclusionProof(0, 3).map((node) => toHex(node)),
      anchor: null,
    };
    expect(bundle.inclusion_proof).to.have.length(2);
    expect(verifyProofBundle(bundle).checkpoint.size).to.equal(3);
    for (const wrong of [{ index: 1 }, { inclusion_proof: bundle.inclusion_proof.toReversed() }])
      expect(() => verifyProofBundle({ ...bundle, ...wrong })).to.throw(ProofError, "is not entry");
  });

  it("is refused with the part that is wrong, and with advice", async () => {
    const bundle = await bundleOf({ writer: first, word: await keyWord("11") });
    const later = await bundleOf({ writer: next, word: await keyWord("22") });
    const contract = await bundleOf({ writer: first, word: { by: "contract", signature: "0x00" } });
    const [hint, file] = [/--rpc-url.*--writer/, "The file was changed, or it proves something else."];
    for (const [action, message, advice] of [
      [
        () => verifyProofBundle({ ...bundle, index: 1 }),
        "The entry is not entry 1 of the checkpoint's ledger.",
        file,
      ],
      [
        () => verifyProofBundle({ ...bundle, ledger: { ...bundle.ledger, guardian: next } as never }),
        "The ledger's id does not follow from its chain, contract, first writer, guardian and origin.",
        file,
      ],
      [
        () => verifyProofBundle(bundle, { writer: next }),
        `The proof is by the writer ${first}, not by ${next}.`,
        file,
      ],
      [
        () => verifyProofBundle(later),
        `The writer ${next} is not the ledger's first writer, and only the chain shows whether it became the writer later.`,
        hint,
      ],
      [
        () => verifyProofBundle(contract),
        `The writer ${first} is a contract, and only the chain says what it signed.`,
        hint,
      ],
      [
        () => verifyProofBundle({ ...bundle, entry: `${bundle.entry} ` }),
        "The entry is not a canonical ledger line.",
        file,
      ],
      [
        () => verifyProofBundle({ ...bundle, entry: bundle.entry.replace('"one"', '"two"') }),
        "The entry's current_hash is not its hash.",
        file,
      ],
    ] as const)
      expect(action, message)
        .to.throw(message)
        .with.property("hint")
        .that.satisfies((said: string) => (typeof advice === "string" ? said === advice : advice.test(said)));
  });

  it("is refused with the field of its entry that cannot be read", async () => {
    const bundle = await bundleOf({ writer: first });
    const fields = (text: string) => {
      try {
        verifyProofBundle({ ...bundle, entry: text });
      } catch (error) {
        return (error as InvalidInputError).issues.map(({ field, message }) => `${field}: ${message}`);
      }
      return [];
    };
    expect(fields("[]")).to.deep.equal(["entry: must be a JSON object"]);
    expect(fields("{")[0]).to.match(/^entry: is no JSON: /);
    expect(fields(bundle.entry.replace('"one"', "1"))).to.deep.equal(["entry.task_id: must be a string"]);
  });

  it("is refused with the name of its key or its checkpoint if this cannot be read", async () => {
    const bundle = await bundleOf({ writer: first });
    for (const field of ["verifier_key", "checkpoint"])
      expect(() => verifyProofBundle({ ...bundle, [field]: "x" }))
        .to.throw(InvalidInputError)
        .with.property("field", field);
  });
});

describe("the file of a proof bundle", () => {
  const refused = (text: string, words: string) =>
    expect(() => parseProofBundle(text)).to.throw(InvalidInputError, words);

  it("is the same after it is written and read", async () => {
    const bundle = await bundleOf({ writer: first, word: await keyWord("11") });
    for (const it of [bundle, { ...bundle, ledger: null, anchor: null }])
      expect(parseProofBundle(JSON.stringify(it))).to.deep.equal(it);
  });

  it("is refused if it is too long, not JSON, or has an invalid field, and the error names the field", async () => {
    const bundle = await bundleOf({ writer: first });
    const withField = (change: object) => JSON.stringify({ ...bundle, ...change });
    const hash = `0x${"ab".repeat(32)}`;
    refused("{".padEnd(2 ** 27 + 1), `The input: must have at most ${2 ** 27} characters`);
    refused("{".padEnd(2 ** 27), "The input: is no JSON");
    refused(withField({ format: "tallystick/proof/v2" }), 'format: must be "tallystick/proof/v1"');
    refused(withField({ index: -1 }), "index: ");
    refused(withField({ index: 0.5 }), "index: ");
    refused(withField({ more: 1 }), "more");
    refused(withField({ inclusion_proof: new Array(65).fill(hash) }), "inclusion_proof: ");
    for (const bad of [`${hash}0`, `1${hash}`, hash.toUpperCase(), hash.slice(0, -1)])
      refused(
        withField({ anchor: { transaction: bad } }),
        "anchor.transaction: must be 0x and 64 lower-case hex digits",
      );
    refused(withField({ checkpoint: "x".repeat(1_000_001) }), "checkpoint: ");
    refused(withField({ verifier_key: "x".repeat(1_001) }), "verifier_key: ");
    refused(withField({ ledger: { ...bundle.ledger, chain_id: -1 } }), "ledger.chain_id: ");
    const most = { ...bundle, inclusion_proof: new Array(64).fill(hash), checkpoint: "x".repeat(1_000_000) };
    expect(parseProofBundle(JSON.stringify(most))).to.deep.equal(most);
  });
});
