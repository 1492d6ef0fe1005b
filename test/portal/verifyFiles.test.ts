import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import { toHex } from "tallystick-protocol/hex";
import type { PyJson } from "tallystick-protocol/json/pythonJson";
import { ledgerId } from "tallystick-protocol/ledger/anchor";
import { entryLine, GENESIS_HASH, sealEntry } from "tallystick-protocol/ledger/entry";
import { lineLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import { cosign, cosignerKey, formatCosignerKey } from "tallystick-protocol/note/cosignature";
import {
  formatSignedNote,
  formatVerifierKey,
  noteVerifierKey,
  signNote,
} from "tallystick-protocol/note/signedNote";
import { formatTlogProof } from "tallystick-protocol/proof/tlogProof";
import { signBody, signRecord } from "tallystick-protocol/records/record";
import { reportKeyOf } from "tallystick-protocol/trustReport/reportKey";
import { signTrustReport } from "tallystick-protocol/trustReport/signTrustReport";
import { privateKeyToAccount } from "viem/accounts";
import type { ChainHead } from "../../portal/chain/readHeads.ts";
import { sourceUrlOf } from "../../portal/chain/sourceUrl.ts";
import { readEntryName } from "../../portal/ledger/readEntryName.ts";
import { rootFromTiles } from "../../portal/ledger/tiles.ts";
import { compareDigests } from "../../portal/network/compareDigests.ts";
import { paramChanges, paramRows } from "../../portal/network/paramRows.ts";
import type { Finding } from "../../portal/verify/check.ts";
import { fileKindOf } from "../../portal/verify/fileKind.ts";
import { readSources } from "../../portal/verify/readSources.ts";
import { verifyFile } from "../../portal/verify/verifyFile.ts";
import {
  ageCheck,
  codeCheck,
  idCheck,
  ledgerCheck,
  type NamedBy,
  nodeHeadChecks,
  type Prove,
  proves,
  recentCheck,
  sourceChecks,
  treeChecks,
} from "../../portal/verify/verifyHead.ts";
import { verifyLedgerOfNode } from "../../portal/verify/verifyLedgerOfNode.ts";

const ORIGIN = "tallystick.test/portal";
const SEED = new Uint8Array(32).fill(7);
const key = formatVerifierKey(noteVerifierKey(ORIGIN, ed25519.getPublicKey(SEED)));

const entry = sealEntry({
  timestamp: 1_767_225_600,
  taskId: "task-0",
  parentHash: GENESIS_HASH,
  payload: { type: "settlement", data_update: {} },
});
const line = entryLine(entry);
const tree = new MerkleTree();
for (let n = 0; n < 700; n++) tree.append(n === 3 ? lineLeafHash(line) : new Uint8Array(32).fill(n % 251));
const text = formatCheckpoint({ origin: ORIGIN, size: 7, root: tree.root(7) });
const checkpoint = formatSignedNote({ text, signatures: [signNote(text, ORIGIN, SEED)] });
const proof = formatTlogProof({
  extra: new TextEncoder().encode(line),
  index: 3,
  proof: tree.inclusionProof(3, 7),
  checkpoint,
});
const report = signTrustReport(
  {
    agent_id: `0x${"11".repeat(20)}`,
    trust_score: 0.93,
    tier: "VERIFIED",
    report_date: "2026-01-31T12:00:00Z",
  },
  { secretKey: SEED, verificationUrl: "https://node.example/v1/report-key" },
);

type Account = ReturnType<typeof privateKeyToAccount>;

const verify = (content: string, keys = "") => verifyFile(new Blob([content]), keys, () => {});
const said = ({ checks }: Finding, state: string) =>
  checks.flatMap((it) => (it.state === state ? [it.text] : []));

describe("files that the portal verifies", () => {
  it("are recognised by their beginning", () => {
    expect(fileKindOf(proof)).to.equal("tlogProof");
    expect(fileKindOf(checkpoint)).to.equal("checkpoint");
    expect(fileKindOf(JSON.stringify(report))).to.equal("report");
  });

  it("are checked with the keys that the reader gives; without keys the signer stays open", async () => {
    for (const file of [checkpoint, proof]) {
      expect(said(await verify(file), "open")).to.include("Who signed it");
      expect(said(await verify(file, key), "yes")).to.include("A key that you gave signed it");
      const other = formatVerifierKey(noteVerifierKey(ORIGIN, ed25519.getPublicKey(SEED.map(() => 8))));
      expect(said(await verify(file, other), "no")).to.deep.equal([
        "None of the keys that you gave signed it",
      ]);
      const policy = `log ${key}\nquorum none\n`;
      expect(said(await verify(file, policy), "yes")).to.include("A log of the policy signed it");
    }
    expect(said(await verify(checkpoint, "not-a-key"), "no")).to.deep.equal(["They cannot be read"]);
  });

  it("are checked with the reader's policy in both forms of a proof", async () => {
    const witness = formatCosignerKey(cosignerKey("witness.test", ed25519.getPublicKey(SEED)));
    const policy = `log ${key}\nwitness one ${witness}\nquorum one\n`;
    const own = signNote(text, ORIGIN, SEED);
    const cosigned = formatSignedNote({ text, signatures: [own, cosign(text, "witness.test", SEED, 1)] });
    const bundle = (note: string) =>
      JSON.stringify({
        ...{ format: "tallystick/proof/v1", entry: line, index: 3, checkpoint: note, verifier_key: key },
        ...{ inclusion_proof: tree.inclusionProof(3, 7).map(toHex), ledger: null, anchor: null },
      });
    for (const form of [(note: string) => proof.replace(checkpoint, note), bundle]) {
      expect(said(await verify(form(checkpoint), policy), "no")).to.deep.equal([
        "It is not what the policy asks for",
      ]);
      const good = await verify(form(cosigned), policy);
      expect(said(good, "no")).to.deep.equal([]);
      expect(said(good, "yes")).to.include("Its quorum of witnesses cosigned it");
    }
    expect(said(await verify(bundle(checkpoint), key), "yes")).to.include("The checkpoint is signed");
  });

  it("are no good receipts if somebody else than the seller that they name signed them", async () => {
    const seller = privateKeyToAccount(`0x${"11".repeat(32)}`);
    const named = seller.address.toLowerCase();
    const body = {
      ...{ agent_id: named, buyer: `0x${"22".repeat(20)}`, capability: "text.translate.en.it", hire_id: "h" },
      ...{ tx_hash: `0x${"fe".repeat(32)}`, amount_usdc_atomic: "500000", network: "eip155:8453" },
      ...{ completed_at: 1_767_225_500, protocol_version: "swarmwage/v0.3" },
      verification: { all_passed: true, checks: {} },
    };
    const checked = async (account: typeof seller) =>
      await verify(JSON.stringify(await signRecord({ type: "receipt", body, account })));
    const good = await checked(seller);
    expect(said(good, "no")).to.deep.equal([]);
    expect(said(good, "yes")).to.include("Its signer is the seller that it names");
    const forged = await checked(privateKeyToAccount(`0x${"33".repeat(32)}`));
    expect(said(forged, "no")).to.deep.equal(["Its signer is not the seller that it names"]);
  });

  it("are no good receipts if somebody else than the buyer signed in the buyer's name", async () => {
    const [seller, buyer, other] = [0x11, 0x22, 0x33].map((byte) =>
      privateKeyToAccount(`0x${byte.toString(16).repeat(32)}`),
    ) as [Account, Account, Account];
    const body = {
      ...{ agent_id: seller.address.toLowerCase(), buyer: buyer.address.toLowerCase(), hire_id: "h" },
      ...{ capability: "text.translate.en.it", tx_hash: `0x${"fe".repeat(32)}`, network: "eip155:8453" },
      ...{ amount_usdc_atomic: "500000", completed_at: 1_767_225_500, protocol_version: "swarmwage/v0.3" },
      verification: { all_passed: true, checks: {} },
    };
    const checked = async (account: Account) => {
      const signed = { ...body, buyer_signature: await signBody(body, { account }) };
      return await verify(
        JSON.stringify(await signRecord({ type: "receipt", body: signed, account: seller })),
      );
    };
    const good = await checked(buyer);
    expect(said(good, "no")).to.deep.equal([]);
    expect(said(good, "yes")).to.include("Its buyer signed it too");
    expect(said(await checked(other), "no")).to.deep.equal(["Its buyer's wallet did not sign it"]);
  });

  it("are no good listings if somebody else than the agent that they name signed them", async () => {
    const agent = privateKeyToAccount(`0x${"11".repeat(32)}`);
    const body = {
      ...{ agent_id: agent.address.toLowerCase(), capability: "text.translate.en.it", price_usdc: "0.50" },
      ...{ max_latency_ms: 1_000, endpoint: "https://agent.example", payment_mode: "direct" },
      ...{ verification_version: "v1", protocol_version: "swarmwage/v0.3" },
    };
    const checked = async (account: typeof agent) =>
      await verify(JSON.stringify(await signRecord({ type: "listing", body, account })));
    expect(said(await checked(agent), "no")).to.deep.equal([]);
    const forged = await checked(privateKeyToAccount(`0x${"33".repeat(32)}`));
    expect(said(forged, "no")).to.deep.equal(["Its signer is not the agent that it names"]);
  });

  it("have a root, which the portal compares with the chain", async () => {
    const { tree: found } = await verify(proof, key);
    expect(found).to.deep.equal({ what: "the proof", size: 7, root: toHex(tree.root(7)), isWhole: false });
  });

  it("name their ledger only by their first record that is bound to a ledger", async () => {
    const [own, other] = [`0x${"1e".repeat(32)}`, `0x${"2e".repeat(32)}`];
    const lines: string[] = [];
    let parentHash = GENESIS_HASH;
    const payloads: { [key: string]: PyJson }[] = [
      { type: "settlement", data_update: { ledger: other } },
      { type: "listing", body: { ledger: other } },
      { type: "receipt", body: { ledger: other } },
      { type: "params", body: { type: "params", ledger: "local" } },
      { type: "params", body: { type: "params", ledger: own } },
      { type: "rating", body: { type: "rating", ledger: other } },
    ];
    for (const payload of payloads) {
      const sealed = sealEntry({ timestamp: 1_767_225_600.5, taskId: "task", parentHash, payload });
      parentHash = sealed.currentHash;
      lines.push(entryLine(sealed));
    }
    expect((await verify(`${lines.join("\n")}\n`)).tree?.ledger).to.equal(own);
    expect((await verify(`${lines.slice(0, 4).join("\n")}\n`)).tree).to.not.have.property("ledger");
  });

  it("are refused after a change of one byte", async () => {
    expect(said(await verify(proof.replace("index 3", "index 2"), key), "no")).to.deep.equal([
      "It is not entry 2 of the checkpoint's ledger",
    ]);
    expect(said(await verify(checkpoint.replace("\n7\n", "\n8\n"), key), "no")).to.have.length(1);
  });

  it("may be a trust report, which is checked with the reader's key", async () => {
    const whole = JSON.stringify(report);
    const { public_key } = reportKeyOf(SEED);
    const unknown = await verify(whole);
    expect(said(unknown, "open")).to.include("Whose key signed it");
    expect(unknown.checks[0]?.detail).to.contain("score 0.93, tier VERIFIED, of 2026-01-31T12:00:00Z");
    expect(said(await verify(whole, public_key), "yes")).to.include("The key that you gave signed it");
    expect(said(await verify(whole, "ab".repeat(32)), "no")).to.include("Another key than yours signed it");
    // A reader may give the keys of several nodes.
    const both = await verify(whole, `${"ab".repeat(32)}\n0x${public_key}`);
    expect(said(both, "no")).to.deep.equal([]);
    expect(said(both, "yes")).to.include("The key that you gave signed it");
    expect(said(await verify(whole.replace("0.93", "0.99")), "no")).to.deep.equal([
      "The key that it names did not sign it",
    ]);
    expect(said(await verify('{"trust_report": 1}'), "no")).to.deep.equal(["The report cannot be read"]);
  });
});

describe("heads in the portal", () => {
  const head = (size: number, changed: Partial<ChainHead> = {}): ChainHead => ({
    blockHash: `0x${"b1".repeat(32)}`,
    blockTime: 1_000,
    size,
    root: toHex(tree.root(size)),
    time: 1,
    anchors: 3,
    isForked: false,
    code: "released",
    ...changed,
  });
  const told = (size: number) => ({ size, root: toHex(tree.root(size)) });
  const prove: Prove = async (from, to) => tree.consistencyProof(from, to);
  const node = { indexedBlock: 100, isBlocked: false };
  const at = { block: 100, isSameBlock: true, prove };
  const failsOf = (checks: { state: string; text: string }[]) =>
    checks.flatMap(({ state, text }) => (state === "no" ? [text] : []));

  it("agree, or are reported as old, of another ledger, longer than the anchored ledger, forked, or never anchored", async () => {
    expect(failsOf(await nodeHeadChecks(told(9), head(9), node, at))).to.deep.equal([]);
    expect(failsOf(await nodeHeadChecks(told(5), head(9), node, at))).to.deep.equal([
      "The node tells an old head",
    ]);
    expect(
      failsOf(await nodeHeadChecks({ ...told(5), root: head(6).root }, head(9), node, at)),
    ).to.have.length(2);
    expect(failsOf(await nodeHeadChecks({ size: 9, root: head(8).root }, head(9), node, at))).to.deep.equal([
      "The node tells the head of another ledger",
    ]);
    // A node cannot excuse an old head by naming a block that nobody has yet.
    const ahead = { indexedBlock: 10 ** 12, isBlocked: false };
    const late = { ...at, isSameBlock: false };
    expect(failsOf(await nodeHeadChecks(told(5), head(9), ahead, late))).to.deep.equal([
      "The node tells an old head",
    ]);
    expect(failsOf(await nodeHeadChecks(told(12), head(9), node, at))).to.deep.equal([
      "The node tells more entries than the chain has anchored",
    ]);
    expect(failsOf(await nodeHeadChecks(told(9), head(9, { isForked: true }), node, at))).to.have.length(1);
    expect(failsOf(await nodeHeadChecks(told(9), head(9, { anchors: 0 }), node, at))).to.have.length(1);
  });

  it("are no fault if time explains the difference: a blocked node, a newer block, a slow source", async () => {
    const blocked = { ...node, isBlocked: true };
    expect(failsOf(await nodeHeadChecks(told(5), head(9), blocked, at))).to.deep.equal([]);
    const later = { ...at, block: 120, isSameBlock: false };
    expect(failsOf(await nodeHeadChecks(told(5), head(9), node, later))).to.deep.equal([]);
    const behind = { ...at, block: 90, isSameBlock: false };
    expect(failsOf(await nodeHeadChecks(told(9), head(5), node, behind))).to.deep.equal([]);
  });

  it("must be of a recent block", () => {
    const failing = (indexedBlock: unknown) =>
      failsOf(recentCheck({ indexedBlock: indexedBlock as number }, 10_000)).length;
    expect([10_000, 9_100, 10_500].map(failing)).to.deep.equal([0, 0, 0]);
    expect(
      [9_099, 0, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, "10000", null].map(failing),
    ).to.deep.equal(Array(8).fill(1));
  });

  it("are refused if a later head has an impossible number of entries", async () => {
    for (const size of [Number.NaN, -1, 0.5, Number("1e400")]) {
      const heads = [told(5), { size, root: told(5).root }];
      // Nothing answers at this address, so the test shows that nobody is asked.
      const { checks } = await verifyLedgerOfNode(
        { url: "http://127.0.0.1:9", ledger: "0x1e", heads },
        () => {},
      );
      expect(checks.map(({ state }) => state)).to.deep.equal(["no"]);
    }
  });

  it("show entries that are missing at the end of a file, and a file of another ledger", async () => {
    const file = { what: "the file", isWhole: true };
    expect(failsOf(await treeChecks({ ...told(5), ...file }, head(9), prove))).to.deep.equal([
      "The last 4 entries are missing in the file",
    ]);
    const other = { size: 5, root: `0x${"ee".repeat(32)}`, ...file };
    expect(failsOf(await treeChecks(other, head(9), prove))).to.deep.equal([
      "The root of the file is not the beginning of what the chain has",
    ]);
    expect(failsOf(await treeChecks({ ...told(9), ...file }, head(5), prove))).to.deep.equal([]);
    expect(failsOf(await treeChecks({ ...told(5), ...file, isWhole: false }, head(9), prove))).to.deep.equal(
      [],
    );
    expect(failsOf(await treeChecks(other, head(9), async () => null))).to.deep.equal([]);
  });

  it("belong only to a ledger whose id follows from the contract that is read", () => {
    const contract = `0x${"c0".repeat(20)}` as const;
    const named = {
      firstWriter: `0x${"11".repeat(20)}`,
      guardian: `0x${"22".repeat(20)}`,
      origin: ORIGIN,
    } as const;
    const { firstWriter: writer, guardian, origin } = named;
    const ledger = ledgerId({ chainId: 8_453, contract, writer, guardian, origin });
    const place = { chainId: 8_453, contract, ledger };
    const check = (changed: Partial<Parameters<typeof idCheck>[0]> = {}) =>
      idCheck({ place, named, ...node, ...changed }).state;
    expect(check()).to.equal("yes");
    expect(check({ named: null })).to.equal("open");
    for (const changed of [
      { place: { ...place, contract: `0x${"c1".repeat(20)}` } },
      { place: { ...place, contract: "0xc0" } },
      { place: { ...place, chainId: 1 } },
      { place: { ...place, ledger: `0x${"ee".repeat(32)}` } },
      { named: { ...named, firstWriter: guardian } },
      { named: { ...named, guardian: writer } },
      { named: { ...named, origin: "another.test" } },
    ])
      expect(check(changed), JSON.stringify(changed)).to.equal("no");
  });

  it("are believed only if the contract has the released code, and on a public chain only at its own address", () => {
    const state = (code: ChainHead["code"], isPublic: boolean) =>
      codeCheck(head(9, { code }), "0xc0", isPublic).state;
    expect([state("released", true), state("released", false)]).to.deep.equal(["yes", "yes"]);
    expect([state("unknown", true), state("unknown", false)]).to.deep.equal(["no", "no"]);
    expect([state("copied", true), state("copied", false)]).to.deep.equal(["no", "open"]);
    expect([state("none", true), state("none", false)]).to.deep.equal(["no", "no"]);
    const { text, detail } = codeCheck(head(9, { code: "none" }), "0xc0", true);
    expect([text, detail].join(" ")).to.contain("no contract").and.not.to.contain("may answer any head");
  });

  it("are of the ledger that the reader, the page or the file names; a ledger that only the node names stays open", () => {
    const named = { firstWriter: "0x11", guardian: "0x22", origin: ORIGIN };
    const place = { chainId: 1, contract: "0xc0", ledger: "0x1e" };
    const by = (it: NamedBy) => ledgerCheck({ place, named, ...node }, it);
    expect((["reader", "page", "file", "node"] as const).map((it) => by(it).state)).to.deep.equal([
      ...["yes", "yes", "yes", "open"],
    ]);
    expect(by("node").detail).to.contain(`0x1e: ${ORIGIN}, first written by 0x11`);
  });

  it("of a node may have more entries than the chain's head only if the source is behind; a file may have more", async () => {
    const states = (checks: { state: string }[]) => checks.map(({ state }) => state);
    const behind = { ...at, block: 99, isSameBlock: false };
    expect(states(await nodeHeadChecks(told(9), head(5), node, behind))).to.deep.equal(["open"]);
    expect(states(await nodeHeadChecks(told(9), head(5), node, at))).to.deep.equal(["no"]);
    const late = { ...at, block: 120, isSameBlock: false };
    const blocked = { ...node, isBlocked: true };
    const waiting = await nodeHeadChecks(told(5), head(9), blocked, late);
    expect(states(waiting)).to.deep.equal(["open", "yes"]);
    expect(waiting[0]?.text).to.equal("The node waits for entries, as it says itself");
    const file = { what: "the file", isWhole: true };
    const noProof: Prove = async () => null;
    expect(states(await treeChecks({ ...told(9), ...file }, head(9), noProof))).to.deep.equal(["yes"]);
    const changed = { size: 9, root: head(8).root, ...file };
    expect(states(await treeChecks(changed, head(9), noProof))).to.deep.equal(["no"]);
    expect(states(await treeChecks({ ...told(9), ...file }, head(5), prove))).to.deep.equal(["yes", "open"]);
    expect(states(await treeChecks(changed, head(5), prove))).to.deep.equal(["no"]);
    expect(states(await treeChecks(changed, head(5), noProof))).to.deep.equal(["open", "open"]);
    for (const root of ["0xee", "zz", ""])
      expect(states(await treeChecks({ ...file, size: 5, root }, head(9), prove)), root).to.deep.equal([
        "no",
      ]);
    const bare = { ...told(5), root: told(5).root.slice(2), ...file, isWhole: false };
    expect(states(await treeChecks(bare, head(9), prove))).to.deep.equal(["yes"]);
    for (const marked of [{ isForked: true }, { anchors: 0 }])
      expect(states(await treeChecks({ ...told(9), ...file }, head(9, marked), prove))).to.deep.equal(["no"]);
    expect(await proves(told(9), told(9), () => expect.fail("nothing is to be proved"))).to.equal(true);
    expect(await proves(told(9), { ...told(9), root: told(8).root }, noProof)).to.equal(false);
  });

  it("are not trusted if the sources differ in anything", () => {
    const reading = (source: string, changed: Partial<ChainHead> = {}) => ({
      source,
      head: head(9, changed),
    });
    const of = (...readings: Parameters<typeof sourceChecks>[0]["readings"]) =>
      sourceChecks({ block: 1, isWanted: true, tip: 1, spread: 900, readings });
    expect(of(reading("a"), reading("b")).head?.size).to.equal(9);
    for (const changed of [
      { root: head(8).root },
      { size: 8 },
      { isForked: true },
      { blockHash: head(8).root },
      { code: "unknown" } as const,
    ])
      expect(of(reading("a"), reading("b", changed))).to.have.property("head", null);
    const apart = [reading("a"), reading("b")];
    const old = sourceChecks({ block: 1, isWanted: true, tip: 1, spread: 901, readings: apart });
    expect([old.head, old.checks[0]?.state]).to.deep.equal([null, "no"]);
    const ages = (isPublic: boolean) =>
      [4_600, 4_601, 900].map((now) =>
        ageCheck(head(9), isPublic, now)
          .map(({ state }) => state)
          .join(),
      );
    expect([ages(true), ages(false)]).to.deep.equal([
      ["", "no", ""],
      ["", "", ""],
    ]);
    const single = of(reading("a"), { source: "b", problem: "away" });
    expect(single.checks.map((it) => it.text)).to.deep.equal(["b could not be asked", "One source"]);
    const third = of({ source: "c", problem: "away" }, reading("a"), reading("b"));
    expect(third.checks.map((it) => it.state)).to.deep.equal(["open", "yes"]);
    expect(of({ source: "b", problem: "away" }).head).to.equal(null);
  });

  it("are read from different hosts, over HTTPS or on this machine", () => {
    expect(readSources(["https://a.example/key", ""])).to.deep.equal(["https://a.example/key"]);
    expect(readSources(["https://a.example/1", "https://a.example/2"])).to.be.a("string");
    for (const bad of ["", "ftp://a", "http://a.example", "https://me:secret@a.example", "javascript:1"])
      expect(readSources([bad]), bad).to.be.a("string");
    expect(sourceUrlOf("http://127.0.0.1:8545")).to.equal("http://127.0.0.1:8545/");
  });

  it("of every size are computed from tiles", async () => {
    let read = 0;
    for (const size of [1, 2, 255, 256, 257, 512, 513, 699, 700]) {
      read = 0;
      const root = await rootFromTiles(size, async ({ level, index, width }) => {
        read++;
        const hashes = Array.from({ length: width }, (_, n) => tree.node(8 * Number(level), 256 * index + n));
        return Uint8Array.from(hashes.flatMap((it) => [...it]));
      });
      expect(toHex(root), `${size}`).to.equal(toHex(tree.root(size)));
      expect(read).to.be.at.most(10);
    }
  });
});

describe("the page of the network and the page of a ledger", () => {
  it("compare the digests of two nodes at ticks that both nodes have", () => {
    const digests = (from: number, name: string) =>
      [0, 10, 20].map((n) => ({ block: from + n, digest: `${name} ${from + n}` }));
    expect(compareDigests(digests(0, "a"), digests(10, "a"), "b").checks[0]?.state).to.equal("yes");
    expect(compareDigests(digests(0, "a"), digests(10, "b"), "b").checks[0]?.text).to.equal(
      "The nodes differ from block 10 on",
    );
    expect(compareDigests(digests(0, "a"), digests(100, "a"), "b").checks[0]?.state).to.equal("open");
  });

  it("show what each record of parameters changed", () => {
    const record = (seq: number, body: object, valid = true) => ({
      ...{ ledger: "0x1", seq },
      record: { body: { ...body }, signer: "0x2", time: seq, valid, reason: null },
    });
    const history = [
      record(9, { version: 3, tickBlocks: 1 }, false),
      record(5, { version: 2, tickBlocks: 20, hubs: ["0xa", "0xb"] }),
      record(1, {
        version: 1,
        tickBlocks: 10,
        hubs: ["0xa"],
        fundingShare: { numerator: 1, denominator: 4 },
      }),
    ];
    expect(paramChanges(history).map(({ path, from, to }) => [path, from, to])).to.deep.equal([
      ["tickBlocks", "10", "20"],
      ["hubs", "0xa", "0xa, 0xb"],
      ["fundingShare", "1/4", null],
      ["all of them", null, "published first"],
    ]);
    expect(paramRows({ type: "params", operator: null })).to.deep.equal([
      { path: "operator", value: "nobody" },
    ]);
  });

  it("find an entry by its number or hash", () => {
    expect(readEntryName(" 1,024 ")).to.equal(1_024);
    expect(readEntryName(`0x${"AB".repeat(32)}`)).to.equal("ab".repeat(32));
    for (const bad of ["", "-1", "1.5", "0x12", "9".repeat(16)])
      expect(readEntryName(bad), bad).to.equal(undefined);
  });
});
