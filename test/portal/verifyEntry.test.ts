import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import { toHex } from "tallystick-protocol/hex";
import { entryLine, GENESIS_HASH, sealEntry } from "tallystick-protocol/ledger/entry";
import { lineLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import { noteVerifierKey, signNote } from "tallystick-protocol/note/signedNote";
import { recordPayload, signRecord } from "tallystick-protocol/records/record";
import { privateKeyToAccount } from "viem/accounts";
import { type ToldEntry, verifyEntry } from "../../portal/verify/verifyEntry.ts";
import { signatureChecks } from "../../portal/verify/verifyKeys.ts";

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const signer = account.address.toLowerCase();
const OTHER = `0x${"22".repeat(20)}`;

describe("an entry that a node shows", () => {
  let line: string;
  let told: ToldEntry;
  before(async () => {
    const body = { agent_id: signer, capability: "code.review", price_usdc: "0.50" };
    const record = await signRecord({ type: "listing", body, account });
    const entry = sealEntry({
      ...{ timestamp: 1_767_225_600, taskId: "t", parentHash: GENESIS_HASH, payload: recordPayload(record) },
    });
    line = entryLine(entry);
    const tree = new MerkleTree();
    for (let n = 0; n < 9; n++) tree.append(n === 3 ? lineLeafHash(line) : new Uint8Array(32).fill(n));
    told = {
      ...{ seq: 3, hash: `0x${entry.currentHash}`, record: { body, signer } },
      inclusionProof: {
        ...{ hashes: tree.inclusionProof(3, 8).map((hash) => toHex(hash)), index: 3, size: 8 },
        ...{ root: toHex(tree.root(8)), checkpoint: { block: 5, tx: "0x01" } },
      },
    };
  });
  const failures = (changed: ToldEntry, text = line) =>
    verifyEntry(changed, text)
      .checks.filter(({ state }) => state === "no")
      .map(({ text: what }) => what);

  it("verifies with or without 0x before its hashes, and with its fields in any order", () => {
    expect(failures(told)).to.deep.equal([]);
    expect(failures({ ...told, hash: told.hash.slice(2) })).to.deep.equal([]);
    const proof = told.inclusionProof as NonNullable<ToldEntry["inclusionProof"]>;
    const bare = { ...proof, root: proof.root.slice(2), hashes: proof.hashes.map((it) => it.slice(2)) };
    expect(failures({ ...told, inclusionProof: bare })).to.deep.equal([]);
    const turned = Object.fromEntries(Object.entries(told.record?.body as object).reverse());
    expect(failures({ ...told, record: { body: turned, signer } })).to.deep.equal([]);
  });

  it("fails with the name of the check that a change breaks", () => {
    const proof = told.inclusionProof as NonNullable<ToldEntry["inclusionProof"]>;
    const body = told.record?.body as object;
    const within = (changes: object) => ({ ...told, inclusionProof: { ...proof, ...changes } });
    const hash = `0x${"00".repeat(32)}`;
    const [notIn, notSigned] = ["It is not in the tree of that root", "Its signer's wallet did not sign it"];
    const notShown = "The page shows something else than what was signed";
    const cases: [ToldEntry, string[]][] = [
      [{ ...told, hash }, ["The entry is another one than the page shows"]],
      [{ ...told, seq: 4 }, [notIn]],
      [within({ index: 2 }), [notIn]],
      [within({ size: 9 }), [notIn]],
      [within({ root: hash }), [notIn]],
      [within({ hashes: [...proof.hashes, hash] }), [notIn]],
      [within({ hashes: proof.hashes.slice(1) }), [notIn]],
      [{ ...told, record: { body, signer: OTHER } }, [notSigned]],
      [{ ...told, record: { body: { ...body, price_usdc: "0.05" }, signer } }, [notShown]],
      [{ ...told, record: { body: { ...body, more: 1 }, signer } }, [notShown]],
      [{ ...told, record: { type: "receipt", body, signer } }, [notShown]],
      [{ ...told, record: null }, [notSigned, notShown]],
    ];
    for (const [changed, wanted] of cases) expect(failures(changed), wanted.join()).to.deep.equal(wanted);
    expect(failures(told, line.replace("0.50", "0.05"))).to.deep.equal(["The entry does not hold"]);
  });

  it("must be the receipt of the hire on the page", async () => {
    const [tx, escrow] = [`0x${"7a".repeat(32)}`, `0x${"e5".repeat(32)}`];
    const body = {
      ...{ agent_id: signer, buyer: OTHER, hire_id: "h", tx_hash: tx, escrow_id: escrow },
      verification: { all_passed: true, checks: {} },
    };
    const record = await signRecord({ type: "receipt", body, account });
    const entry = sealEntry({
      ...{ timestamp: 1, taskId: "t", parentHash: GENESIS_HASH, payload: recordPayload(record) },
    });
    const receipt = { seq: 0, hash: entry.currentHash, record: { body, signer }, inclusionProof: null };
    const right = { id: `${tx}-4`, seller: signer, buyer: OTHER, allPassed: true };
    const failing = (of: object) => failures({ ...receipt, of: { ...right, ...of } }, entryLine(entry));
    for (const id of [`${tx}-4`, escrow, `${escrow}-hire`]) expect(failing({ id }), id).to.deep.equal([]);
    for (const it of [{ id: `0x${"7b".repeat(32)}-4` }, { buyer: signer }, { allPassed: false }])
      expect(failing(it), JSON.stringify(it)).to.deep.equal(["It is the receipt of another hire"]);
    expect(failing({ seller: OTHER })).to.deep.equal(["Another wallet than the seller's signed it"]);
  });

  it("is no receipt of the hire if somebody signed it in the seller's name, or if it is another record", async () => {
    const tx = `0x${"7a".repeat(32)}`;
    const body = {
      ...{ agent_id: OTHER, buyer: OTHER, hire_id: "h", tx_hash: tx },
      verification: { all_passed: true, checks: {} },
    };
    const of = { id: `${tx}-4`, seller: OTHER, buyer: OTHER, allPassed: true };
    const failing = async (type: "receipt" | "listing", seller: string) => {
      const record = await signRecord({ type, body: { ...body, agent_id: seller }, account });
      const entry = sealEntry({
        ...{ timestamp: 1, taskId: "t", parentHash: GENESIS_HASH, payload: recordPayload(record) },
      });
      const shown = { body: record.body, signer };
      const receipt = { seq: 0, hash: entry.currentHash, record: shown, inclusionProof: null };
      return failures({ ...receipt, of: { ...of, seller } }, entryLine(entry));
    };
    expect(await failing("receipt", OTHER)).to.deep.equal(["Another wallet than the seller's signed it"]);
    expect(await failing("listing", signer)).to.deep.equal(["It is no receipt"]);
    expect(await failing("receipt", signer)).to.deep.equal([]);
  });

  it("does not fail because a proof is missing, or because nobody signs this kind of entry", () => {
    expect(failures({ ...told, inclusionProof: null })).to.deep.equal([]);
    const payload = { type: "settlement", data_update: {} };
    const work = sealEntry({ timestamp: 1, taskId: "t", parentHash: GENESIS_HASH, payload });
    const bare = { seq: 0, hash: work.currentHash, record: null, inclusionProof: null };
    expect(failures(bare, entryLine(work))).to.deep.equal([]);
    expect(failures({ ...bare, record: { body: {}, signer } }, entryLine(work))).to.deep.equal([
      "The entry has no signed record",
    ]);
  });
});

describe("a checkpoint that is checked with the reader's keys", () => {
  it("is not accepted with a signature by the key of another log, even if the reader gave this key too", () => {
    const origin = "a.example/log";
    const keyOf = (name: string, byte: number) => {
      const secret = new Uint8Array(32).fill(byte);
      return { secret, key: noteVerifierKey(name, ed25519.getPublicKey(secret)) };
    };
    const [own, other] = [keyOf(origin, 1), keyOf("b.example/log", 2)];
    const text = formatCheckpoint({ origin, size: 1, root: new Uint8Array(32) });
    const states = (by: typeof own) => {
      const note = { text, signatures: [signNote(text, by.key.name, by.secret)] };
      const believed = { logs: [own.key, other.key], policy: null, reports: [] };
      return signatureChecks(note, origin, believed).map(({ state }) => state);
    };
    expect(states(own)).to.deep.equal(["yes"]);
    expect(states(other)).to.deep.equal(["no"]);
  });
});
