import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import type { Address } from "tallystick-protocol/address";
import { toHex } from "tallystick-protocol/hex";
import { headWord, storedWord } from "tallystick-protocol/ledger/word";
import { lineLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import { headNoteSignature, headSignatureOf } from "tallystick-protocol/note/headSignature";
import {
  formatSignedNote,
  formatVerifierKey,
  noteVerifierKey,
  parseSignedNote,
  signNote,
} from "tallystick-protocol/note/signedNote";
import { type ProofBundle, parseProofBundle } from "tallystick-protocol/proof/proofBundle";
import { createPublicClient, createWalletClient, encodeFunctionData, type Hex, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { hardhat } from "viem/chains";
import { runCli } from "../../scripts/cli.ts";
import { verifyProofFile } from "../../scripts/commands/verifyProof.ts";
import { localTransport } from "../../scripts/processes/localTransport.ts";
import { LAST_WORD_FILE } from "../../services/settlement/ledger/lastSigned.ts";
import { type LedgerChain, ledgerChain, WRITER_KEY } from "../../tools/bench/ledger/ledgerChain.ts";
import { BUILD_TIMEOUT } from "../support/freshChain.ts";
import { type DeployedSafe, deploySafe } from "./support/deploySafe.ts";
import { KEY, proposal } from "./support/proposals.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";
import { openTestService, type TestService } from "./support/testService.ts";

const addressOf = (key: Hex) => privateKeyToAccount(key).address.toLowerCase() as Address;

describe("a ledger whose writer does not send its anchors", () => {
  const folder = temporaryFolder();
  const [owner, other] = [generatePrivateKey(), generatePrivateKey()];
  let chain: LedgerChain;
  let safe: DeployedSafe;
  let origin: string;
  let ledgers = 0;
  let service: TestService | undefined;
  before(async function () {
    this.timeout(BUILD_TIMEOUT);
    chain = await ledgerChain();
    safe = await deploySafe(chain, [addressOf(owner), addressOf(other)]);
  });
  after(() => chain?.close());
  beforeEach(() => {
    origin = `tallystick.test/safe-${ledgers++}`;
  });
  afterEach(() => stop());

  const disk = () => path.join(folder.path, "disk");
  const words = () => path.join(folder.path, "words");
  const settings = (): { [name: string]: string } => ({
    LEDGER_ORIGIN: origin,
    ANCHOR_WRITER: safe.address,
    ANCHOR_PRIVATE_KEY: owner,
    RELAYER_PRIVATE_KEY: WRITER_KEY,
    ANCHOR_WORDS_DIR: words(),
    ANCHORED_LEDGER: chain.contract,
    RPC_URL: chain.rpcUrl,
    CHAIN_ID: String(hardhat.id),
    ANCHOR_INTERVAL_SECONDS: "0.1",
  });
  async function start(changes: { [name: string]: string } = {}): Promise<TestService> {
    const opened = await openTestService(disk(), { ...settings(), ...changes });
    service = opened;
    await untilChainAnswers(opened);
    return opened;
  }
  /** On a slow machine a start ends before the chain has answered. */
  const untilChainAnswers = (of: TestService) =>
    until(async () => (await of.get("/health")).json.code !== "chain_unknown");
  /** The proof of an entry, as soon as it names the anchor. */
  async function bundleOf(of: TestService, index: number): Promise<ProofBundle> {
    let bundle: ProofBundle | undefined;
    await until(async () => {
      const { status, text } = await of.get(`/v1/ledger/bundle?index=${index}`);
      // On a slow machine no checkpoint may cover the entry yet.
      if (status !== 503) bundle = parseProofBundle(text);
      return (bundle?.anchor ?? null) !== null;
    });
    return bundle as ProofBundle;
  }
  async function stop(): Promise<void> {
    await service?.close();
    service = undefined;
  }
  async function settle(to: TestService, count: number): Promise<void> {
    for (let n = 0; n < count; n++)
      expect((await to.post("/v1/settle", proposal(to.ledger.head), KEY)).json.status).to.equal("SETTLED");
  }
  const until = async (condition: () => Promise<boolean>): Promise<void> => {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const anchoring = async (of: TestService) => (await of.get("/health")).json.anchoring;
  const anchored = (of: TestService, size: number) =>
    until(async () => (await anchoring(of)).size === size && (await anchoring(of)).error === null);
  const refusal = (action: Promise<unknown>): Promise<string> =>
    action.then(
      () => "none",
      (error) => error.code,
    );

  it("may have a Safe as writer: a relayer anchors with one owner's signature, and the chain or a known writer confirms proofs", async () => {
    const running = await start();
    await settle(running, 3);
    await anchored(running, 3);
    const bundle = await bundleOf(running, 1);
    expect(bundle.ledger).to.include({ first_writer: safe.address, writer: safe.address });
    expect(headSignatureOf(parseSignedNote(bundle.checkpoint), origin, safe.address)?.by).to.equal(
      "contract",
    );

    const file = path.join(folder.path, "entry.proof");
    writeFileSync(file, JSON.stringify(bundle));
    const { rpcUrl } = chain;
    const ledger = bundle.ledger?.id as string;
    const key = [(await running.get("/v1/ledger/key")).text.trim()];
    const writer = safe.address;
    expect(await refusal(verifyProofFile(file, { ledger, key }))).to.equal("writer_unconfirmed");
    expect(await refusal(verifyProofFile(file, { ledger, writer }))).to.equal("writer_unconfirmed");
    expect(await refusal(verifyProofFile(file, { ledger, key, writer: addressOf(owner) }))).to.equal(
      "proof_invalid",
    );
    expect(await verifyProofFile(file, { ledger, key, writer })).to.include({ writer_confirms: null });
    expect(await verifyProofFile(file, { ledger, rpcUrl })).to.include({ writer, writer_confirms: true });
    try {
      expect(await runCli(["verify-proof", file, "--ledger", ledger])).to.equal(1);
      expect(await runCli(["verify-proof", file, "--ledger", ledger, "--rpc-url", rpcUrl])).to.equal(0);
    } finally {
      process.exitCode = undefined;
    }

    // A contract wallet can change its answer about its signatures. Entries that the ledger's contract accepted stay
    // valid.
    const abi = parseAbi(["function swapOwner(address, address, address)"]);
    const swap = (from: Hex, to: Hex) =>
      encodeFunctionData({
        abi,
        functionName: "swapOwner",
        args: [`0x${"0".repeat(39)}1`, addressOf(from), addressOf(to)],
      });
    const third = generatePrivateKey();
    await safe.execute(other, safe.address, swap(owner, third));
    expect(await verifyProofFile(file, { ledger, rpcUrl })).to.include({ writer, writer_confirms: false });
    await settle(running, 1);
    await until(async () =>
      String((await anchoring(running)).error).includes("does not accept the signature"),
    );
    await safe.execute(other, safe.address, swap(third, owner));
    await anchored(running, 4);
  });

  it("accepts no writes from an older copy after a signed anchor that no block has", async () => {
    const running = await start();
    await settle(running, 2);
    await anchored(running, 2);
    await stop();
    cpSync(disk(), path.join(folder.path, "image"), { recursive: true });
    // The anchor is signed and sent, and never mined.
    await chain.request("evm_setAutomine", false);
    try {
      const ahead = await start();
      await settle(ahead, 1);
      const pending = async () =>
        (await chain.request("eth_getBlockByNumber", "pending", false)) as { transactions: Hex[] };
      await until(async () => (await pending()).transactions.length > 0);
      await stop();
      for (const hash of (await pending()).transactions) await chain.request("hardhat_dropTransaction", hash);
    } finally {
      await chain.request("evm_setAutomine", true);
    }
    rmSync(disk(), { recursive: true });
    cpSync(path.join(folder.path, "image"), disk(), { recursive: true });
    const older = await start();
    const answer = await older.post("/v1/settle", proposal(older.ledger.head), KEY);
    expect([answer.status, answer.json.code]).to.deep.equal([503, "last_signed_ahead"]);
    expect(answer.json.hint).to.contain("succession");
  });

  it("accepts no writes while the signed anchors are unknown, until it is adopted", async () => {
    const running = await start();
    await settle(running, 2);
    await anchored(running, 2);
    await stop();
    rmSync(words(), { recursive: true });
    mkdirSync(words());
    const unsure = await start();
    const answer = await unsure.post("/v1/settle", proposal(unsure.ledger.head), KEY);
    expect([answer.status, answer.json.code]).to.deep.equal([503, "last_signed_missing"]);
    expect(answer.json.detail).to.contain(LAST_WORD_FILE);
    await stop();
    const before = { ...process.env };
    Object.assign(process.env, settings(), { LEDGER_DIR: disk() });
    try {
      expect(await runCli(["ledger", "adopt"])).to.equal(0);
      expect(await runCli(["ledger", "adopt"])).to.equal(1);
    } finally {
      process.env = before;
      process.exitCode = undefined;
    }
    const again = await start();
    await settle(again, 1);
    await anchored(again, 3);
  });

  it("proves nothing if its wallet accepts everything: anyone can anchor for it, and only anchors count", async () => {
    const yes = `0x${"15".repeat(20)}` as Address;
    // This contract answers every call with ERC-1271's magic value.
    await chain.request("hardhat_setCode", yes, "0x631626ba7e60e01b60005260206000f3");
    const running = await start({ ANCHOR_WRITER: yes });
    await settle(running, 2);
    await anchored(running, 2);
    const bundle = await bundleOf(running, 1);
    const id = bundle.ledger?.id as Hex;
    const client = createPublicClient({ transport: localTransport(chain.rpcUrl) });

    // A forged proof with the wallet's signature for another root. The chain never accepted such a root.
    const root = lineLeafHash(bundle.entry);
    const text1 = formatCheckpoint({ origin, size: 1, root });
    const seed = new Uint8Array(32).fill(5);
    const word = headNoteSignature(origin, yes, { by: "contract", signature: "0x00" });
    const forged: ProofBundle = {
      ...bundle,
      index: 0,
      inclusion_proof: [],
      checkpoint: formatSignedNote({ text: text1, signatures: [signNote(text1, origin, seed), word] }),
      verifier_key: formatVerifierKey(noteVerifierKey(origin, ed25519.getPublicKey(seed))),
    };
    const file = path.join(folder.path, "forged.proof");
    writeFileSync(file, JSON.stringify(forged));
    expect(await refusal(verifyProofFile(file, { rpcUrl: chain.rpcUrl }))).to.equal("proof_invalid");
    // With such a signature, anybody can prove a fork of the ledger, which ends it.
    const lies = headWord({ signer: yes, size: 2n, root: toHex(root), signature: "0x00" });
    const call = { address: chain.contract, abi: anchoredLedgerAbi } as const;
    const own = toHex(running.ledger.tree.root(2));
    await client.simulateContract({
      ...call,
      functionName: "proveFork",
      args: [id, lies, storedWord, own, []],
    });

    // A stranger anchors more entries, and the service sees a history that is not its own.
    const stranger = privateKeyToAccount(WRITER_KEY);
    const wallet = createWalletClient({
      account: stranger,
      chain: hardhat,
      transport: localTransport(chain.rpcUrl),
    });
    const leaves = [0, 1].map((n) => running.ledger.tree.leaf(n));
    const tree = new MerkleTree();
    for (const leaf of [...leaves, leafHash(Uint8Array.of(1))]) tree.append(leaf);
    const proof = tree.consistencyProof(2, 3).map(toHex);
    const args = [id, 3n, toHex(tree.root()), proof, "0x00"] as const;
    await wallet.writeContract({ ...call, functionName: "anchor", args });
    await until(async () => (await running.get("/health")).json.code === "chain_ahead");
  });

  it("explains that one owner is not enough, and anchors nothing", async () => {
    const strict = await deploySafe(chain, [addressOf(owner), addressOf(other)], 2n);
    const running = await start({ ANCHOR_WRITER: strict.address });
    await settle(running, 1);
    await until(async () =>
      String((await anchoring(running)).error).includes("does not accept the signature"),
    );
    expect((await anchoring(running)).size).to.equal(0);
    await stop();
    const nobody = await start({ ANCHOR_WRITER: `0x${"12".repeat(20)}` });
    await settle(nobody, 1);
    await until(async () => String((await anchoring(nobody)).error).includes("is no contract"));
  });

  it("can follow a retired key with a Safe, whose owner signs by a command and is replaced later", async () => {
    // The drill of docs/operators.md. Three keys write one ledger, one after the other.
    const retired = await start({
      ANCHOR_WRITER: "",
      ANCHOR_PRIVATE_KEY: WRITER_KEY,
      RELAYER_PRIVATE_KEY: "",
    });
    await settle(retired, 2);
    await anchored(retired, 2);
    const first = addressOf(WRITER_KEY);
    const { ledger: id } = (await retired.get("/health")).json;
    const transport = localTransport(chain.rpcUrl);
    const wallet = createWalletClient({
      account: privateKeyToAccount(WRITER_KEY),
      chain: hardhat,
      transport,
    });
    const call = { address: chain.contract, abi: anchoredLedgerAbi } as const;
    await wallet.writeContract({ ...call, functionName: "announceWriter", args: [id, safe.address] });
    await settle(retired, 1);
    await anchored(retired, 3);
    await stop();
    await chain.request("evm_increaseTime", 7 * 86_400);
    await chain.request("evm_mine");
    const data = encodeFunctionData({ abi: anchoredLedgerAbi, functionName: "acceptWriter", args: [id] });
    await safe.execute(owner, chain.contract, data);

    const keyFile = path.join(folder.path, "owner.key");
    writeFileSync(keyFile, owner);
    const signer = path.join(import.meta.dirname, "support/signer.mjs");
    const bySafe = (account: Hex) => ({
      LEDGER_FIRST_WRITER: first,
      ANCHOR_PRIVATE_KEY: "",
      ANCHOR_SIGNER: JSON.stringify([process.execPath, signer, keyFile]),
      ANCHOR_SIGNER_ADDRESS: addressOf(account),
    });
    // It is the same copy, and the retired key signed no anchor for others to send.
    mkdirSync(path.join(words(), id), { recursive: true });
    cpSync(path.join(disk(), id, "last-signed.json"), path.join(words(), id, LAST_WORD_FILE));
    const next = await start(bySafe(owner));
    expect((await next.get("/health")).json.ledger).to.equal(id);
    await settle(next, 2);
    await anchored(next, 5);
    await stop();

    const third = generatePrivateKey();
    const abi = parseAbi(["function swapOwner(address, address, address)"]);
    const args = [`0x${"0".repeat(39)}1`, addressOf(owner), addressOf(third)] as const;
    const swap = encodeFunctionData({ abi, functionName: "swapOwner", args });
    await safe.execute(other, safe.address, swap);
    const stale = await start(bySafe(owner));
    await settle(stale, 1);
    await until(async () => String((await anchoring(stale)).error).includes("does not accept the signature"));
    await stop();
    writeFileSync(keyFile, third);
    const last = await start(bySafe(third));
    await anchored(last, 6);
    const asked = readFileSync(`${keyFile}.asked`, "utf8");
    expect(asked).to.contain("SafeMessage").and.not.contain('"kind":"hash"');
  });

  it("may have a key for which another account pays; its proofs then need no named writer", async () => {
    const key = generatePrivateKey();
    const service = await openTestService(path.join(folder.path, "disk"), {
      ANCHOR_PRIVATE_KEY: key,
      RELAYER_PRIVATE_KEY: WRITER_KEY,
      ANCHOR_WORDS_DIR: path.join(folder.path, "words"),
      ANCHORED_LEDGER: chain.contract,
      RPC_URL: chain.rpcUrl,
      CHAIN_ID: String(hardhat.id),
      ANCHOR_INTERVAL_SECONDS: "0.1",
    });
    try {
      await untilChainAnswers(service);
      expect((await service.post("/v1/settle", proposal(service.ledger.head), KEY)).status).to.equal(200);
      const file = path.join(folder.path, "entry.proof");
      writeFileSync(file, JSON.stringify(await bundleOf(service, 0)));
      const result = await verifyProofFile(file, { rpcUrl: chain.rpcUrl });
      expect(result).to.include({ writer: addressOf(key), writer_confirms: true });
      expect(await verifyProofFile(file)).to.include({ writer: addressOf(key) });
    } finally {
      await service.close();
    }
  });
});
