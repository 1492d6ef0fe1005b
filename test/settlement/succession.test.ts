import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { serve } from "@hono/node-server";
import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { toHex } from "tallystick-protocol/hex";
import { headTypedData } from "tallystick-protocol/ledger/anchor";
import { lineLeafHash } from "tallystick-protocol/merkle/entryLeafHash";
import { leafHash } from "tallystick-protocol/merkle/hash";
import { MerkleTree } from "tallystick-protocol/merkle/merkleTree";
import { formatCheckpoint } from "tallystick-protocol/note/checkpoint";
import { headNoteSignature } from "tallystick-protocol/note/headSignature";
import {
  formatSignedNote,
  formatVerifierKey,
  noteVerifierKey,
  signNote,
} from "tallystick-protocol/note/signedNote";
import { type ProofBundle, parseProofBundle, verifyProofBundle } from "tallystick-protocol/proof/proofBundle";
import { confirmProof } from "tallystick-sdk/proof/confirmProof";
import { createPublicClient, createWalletClient, type Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { hardhat } from "viem/chains";
import { localTransport } from "../../scripts/processes/localTransport.ts";
import { type LedgerChain, ledgerChain, WRITER_KEY } from "../../tools/bench/ledger/ledgerChain.ts";
import { commandHere } from "../support/commandHere.ts";
import { BUILD_TIMEOUT } from "../support/freshChain.ts";
import { KEY, proposal } from "./support/proposals.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";
import { openTestService, type TestService } from "./support/testService.ts";

/** The second and the third account of Hardhat's local chain, which have money. */
const GUARDIAN_KEY = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";
const NEXT_KEY = "0x5de4111afa1a4b94908f83103eb1f1706367c2e68ca870fc3fb9a804cdab365a";
const DAYS_7 = 7 * 86_400;

const addressOf = (key: Hex) => privateKeyToAccount(key).address.toLowerCase() as Address;
const [first, guardian, next] = [WRITER_KEY, GUARDIAN_KEY, NEXT_KEY].map((key) => addressOf(key as Hex)) as [
  Address,
  Address,
  Address,
];

describe("a ledger that another writer takes over", () => {
  const folder = temporaryFolder();
  let chain: LedgerChain;
  let origin: string;
  let ledgers = 0;
  const open = new Set<TestService>();
  let server: Server | undefined;
  before(async function () {
    this.timeout(BUILD_TIMEOUT);
    chain = await ledgerChain();
  });
  after(() => chain?.close());
  beforeEach(() => {
    origin = `tallystick.test/succession-${ledgers++}`;
  });
  afterEach(async () => {
    server?.close();
    server = undefined;
    for (const service of open) await service.close();
    open.clear();
  });

  const settings = (): { [name: string]: string } => ({
    LEDGER_ORIGIN: origin,
    LEDGER_GUARDIAN: guardian,
    ANCHOR_PRIVATE_KEY: WRITER_KEY,
    ANCHORED_LEDGER: chain.contract,
    RPC_URL: chain.rpcUrl,
    CHAIN_ID: String(hardhat.id),
    ANCHOR_INTERVAL_SECONDS: "0.1",
  });
  const nextSettings = () => ({
    ...settings(),
    ANCHOR_PRIVATE_KEY: NEXT_KEY,
    LEDGER_FIRST_WRITER: first,
    CHECKPOINT_PRIVATE_KEY: `0x${"44".repeat(32)}`,
  });
  const diskOf = (name: string) => path.join(folder.path, name);
  async function start(disk: string, given = settings()): Promise<TestService> {
    const service = await openTestService(disk, given);
    open.add(service);
    // On a slow machine the start ends before the chain has answered.
    await until(async () => (await health(service)).code !== "chain_unknown");
    return service;
  }
  async function settle(to: TestService, count: number): Promise<void> {
    for (let n = 0; n < count; n++)
      expect((await to.post("/v1/settle", proposal(to.ledger.head), KEY)).json.status).to.equal("SETTLED");
  }
  const until = async (condition: () => Promise<boolean>): Promise<void> => {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20));
  };
  const health = async (of: TestService) => (await of.get("/health")).json;
  const anchored = (of: TestService, size: number) =>
    until(
      async () => (await health(of)).anchoring.size === size && (await health(of)).anchoring.error === null,
    );
  const isRefused = (of: TestService, code: string | undefined) =>
    until(async () => (await health(of)).code === code);
  const bundleOf = async (of: TestService, index: number): Promise<ProofBundle> => {
    let bundle: ProofBundle | undefined;
    await until(async () => {
      const { status, text } = await of.get(`/v1/ledger/bundle?index=${index}`);
      // On a slow machine no checkpoint may cover the entry yet.
      if (status !== 503) bundle = parseProofBundle(text);
      return (bundle?.anchor ?? null) !== null;
    });
    return bundle as ProofBundle;
  };
  const refusal = (action: Promise<unknown>): Promise<string> =>
    action.then(
      () => "none",
      (error) => `${error.code}: ${error.message}`,
    );

  /** Runs a command of `tallystick ledger` with settings, and reads the JSON that it prints. */
  async function ledgerCommand(
    args: string[],
    given = settings(),
    disk = diskOf("first"),
    // biome-ignore lint/suspicious/noExplicitAny: whatever the command prints
  ): Promise<{ code: number; out: any }> {
    const { code, out } = await commandHere(["ledger", ...args], { ...given, LEDGER_DIR: disk });
    return { code, out: out.startsWith("{") ? JSON.parse(out) : out };
  }
  const sendBy = async (key: Hex, { to, data }: { to: Address; data: Hex }): Promise<void> => {
    const transport = localTransport(chain.rpcUrl);
    const wallet = createWalletClient({ account: privateKeyToAccount(key), chain: hardhat, transport });
    const client = createPublicClient({ transport, pollingInterval: 50 });
    await client.waitForTransactionReceipt({ hash: await wallet.sendTransaction({ to, data }) });
  };
  const pass = async (seconds: number): Promise<void> => {
    await chain.request("evm_increaseTime", seconds);
    await chain.request("evm_mine");
  };

  it("gets a writer whom its guardian announces, who accepts after 7 days, and who continues where the old writer stopped", async () => {
    const old = await start(diskOf("first"));
    await settle(old, 3);
    await anchored(old, 3);
    const before = await bundleOf(old, 1);

    // The settings do not contain the guardian's key. So the command prints what the guardian has to send.
    const announced = await ledgerCommand(["announce-writer", next, "--by", "guardian", "--json"]);
    expect(announced.out).to.include({ from: guardian, sent: false, to: chain.contract });
    await sendBy(GUARDIAN_KEY, announced.out);
    await isRefused(old, "guardian_announced");
    const refused = await old.post("/v1/settle", proposal(old.ledger.head), KEY);
    expect([refused.status, refused.json.code]).to.deep.equal([503, "guardian_announced"]);
    expect((await old.get("/v1/ledger/checkpoint")).status).to.equal(200);
    // The holder of the writer's key cannot withdraw the announcement.
    expect((await ledgerCommand(["announce-writer", first, "--json"])).code).to.equal(1);

    // The new writer fetches the ledger, and waits.
    server = serve({ fetch: old.app.fetch, hostname: "127.0.0.1", port: 0 }) as Server;
    await until(async () => server?.address() !== null);
    const from = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const pulled = await ledgerCommand(["pull", "--from", from], nextSettings(), diskOf("next"));
    expect(pulled.code, String(pulled.out)).to.equal(0);
    const young = await start(diskOf("next"), nextSettings());
    expect(young.ledger.size).to.equal(3);
    await isRefused(young, "writer_differs");
    expect((await health(young)).hint).to.contain("accept-writer");
    expect((await ledgerCommand(["accept-writer"], nextSettings())).code).to.equal(1);
    await pass(DAYS_7);
    const accepted = await ledgerCommand(["accept-writer", "--json"], nextSettings());
    expect(accepted.out).to.include({ from: next, sent: true });

    await isRefused(old, "writer_changed");
    const late = await old.post("/v1/settle", proposal(old.ledger.head), KEY);
    expect([late.status, late.json.code]).to.deep.equal([503, "writer_changed"]);
    expect((await old.get("/v1/ledger/checkpoint")).status).to.equal(503);
    expect((await old.get("/v1/ledger/entries")).status).to.equal(200);
    await isRefused(young, undefined);
    await settle(young, 2);
    await anchored(young, 5);

    const after = await bundleOf(young, 1);
    expect(after.ledger).to.deep.equal({ ...before.ledger, writer: next });
    expect(after.entry).to.equal(before.entry);
    expect(await refusal((async () => verifyProofBundle(after))())).to.contain("writer_unconfirmed");
    const client = createPublicClient({ transport: localTransport(chain.rpcUrl) });
    const confirm = (bundle: ProofBundle) =>
      confirmProof(verifyProofBundle(bundle, { leaveWriterToChain: true }), client);
    expect((await confirm(after)).transaction).to.equal(after.anchor?.transaction);
    // Proofs from the former writer's time are as valid as before. Its signatures over later entries are not valid.
    expect((await confirm(before)).transaction).to.equal(before.anchor?.transaction);
    const forged = await forgeBundle(before, WRITER_KEY, 4);
    expect(verifyProofBundle(forged).ledger?.rests).to.equal("id");
    expect(await refusal((async () => verifyProofBundle(forged, { writer: next }))())).to.contain("not by");
    expect(await refusal(confirm(forged))).to.contain("wrote the ledger up to 3 entries");
    const stranger = await forgeBundle(before, GUARDIAN_KEY, 4);
    expect(await refusal(confirm(stranger))).to.contain("never did");
    // The new writer's signature over entries that were never anchored confirms nothing.
    expect(await refusal(confirm(await forgeBundle(before, NEXT_KEY, 4)))).to.contain("did not anchor");
    // A contract that behaves like the released one, but has other code, could also answer something else.
    const code = (await client.getCode({ address: chain.contract })) as Hex;
    await chain.request("hardhat_setCode", chain.contract, `${code}00`);
    expect(await refusal(confirm(before))).to.contain("is not that of a released AnchoredLedger");
    await chain.request("hardhat_setCode", chain.contract, code);
    expect((await confirm(before)).transaction).to.equal(before.anchor?.transaction);
  });

  it("is passed on by its writer, who can withdraw the announcement", async () => {
    const old = await start(diskOf("first"));
    await settle(old, 1);
    await anchored(old, 1);
    const announced = await ledgerCommand(["announce-writer", next, "--json"]);
    expect(announced.out).to.include({ from: first, sent: true });
    // The old writer goes on meanwhile.
    await settle(old, 1);
    await anchored(old, 2);
    await pass(DAYS_7);
    expect((await ledgerCommand(["announce-writer", first, "--json"])).out).to.include({ sent: true });
    expect((await ledgerCommand(["accept-writer"], nextSettings())).code).to.equal(1);
    // An announcement changes nothing until the announced account accepts. A stranger cannot accept in its place.
    await ledgerCommand(["announce-writer", next]);
    await pass(DAYS_7);
    const stranger = { ...nextSettings(), ANCHOR_PRIVATE_KEY: GUARDIAN_KEY };
    expect((await ledgerCommand(["accept-writer", "--json"], stranger)).out).to.include({
      from: next,
      sent: false,
    });
    await settle(old, 1);
    await anchored(old, 3);
  });

  it("is not opened again by a service whose settings name another first writer", async () => {
    const lost = await start(diskOf("next"), { ...nextSettings(), LEDGER_FIRST_WRITER: guardian });
    await until(async () => String((await health(lost)).anchoring.error).includes("has no ledger"));
  });

  /** A forged proof of an entry that does not exist, in a ledger of `size` entries, with the signature of `key`. */
  async function forgeBundle(bundle: ProofBundle, key: Hex, size: number): Promise<ProofBundle> {
    const tree = new MerkleTree();
    for (let n = 0; n < size - 1; n++) tree.append(leafHash(Uint8Array.of(n)));
    tree.append(lineLeafHash(bundle.entry));
    const seed = new Uint8Array(32).fill(5);
    const root = tree.root();
    const text = formatCheckpoint({ origin, size, root });
    const ledger = bundle.ledger as NonNullable<ProofBundle["ledger"]>;
    const deployment = { chainId: ledger.chain_id, contract: ledger.contract };
    const head = headTypedData({ ledgerId: ledger.id, size: BigInt(size), root: toHex(root) }, deployment);
    const signature = await privateKeyToAccount(key).signTypedData(head);
    const signatures = [
      signNote(text, origin, seed),
      headNoteSignature(origin, addressOf(key), { by: "key", signature }),
    ];
    return {
      ...bundle,
      index: size - 1,
      inclusion_proof: tree.inclusionProof(size - 1, size).map(toHex),
      checkpoint: formatSignedNote({ text, signatures }),
      verifier_key: formatVerifierKey(noteVerifierKey(origin, ed25519.getPublicKey(seed))),
      ledger: { ...ledger, writer: addressOf(key) },
    };
  }
});
