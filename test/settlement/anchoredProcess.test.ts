import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import hre, { network } from "hardhat";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import type { Address } from "tallystick-protocol/address";
import { toHex } from "tallystick-protocol/hex";
import { headTypedData, ledgerId } from "tallystick-protocol/ledger/anchor";
import { LedgerLineError } from "tallystick-protocol/ledger/verifyLedger";
import { headWord } from "tallystick-protocol/ledger/word";
import { type HeadSignature, headSignatureOf, isHeadSignedBy } from "tallystick-protocol/note/headSignature";
import { parseSignedNote } from "tallystick-protocol/note/signedNote";
import { type ProofBundle, parseProofBundle } from "tallystick-protocol/proof/proofBundle";
import { ProofError } from "tallystick-protocol/proof/provenEntry";
import { createPublicClient, createWalletClient, type Hex, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { hardhat } from "viem/chains";
import { verifyLedgerFile } from "../../scripts/commands/verifyLedger.ts";
import { verifyProofFile } from "../../scripts/commands/verifyProof.ts";
import { freePort } from "../../scripts/processes/freePort.ts";
import { localTransport } from "../../scripts/processes/localTransport.ts";
import { compiledOnce, nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { builtContracts } from "../../tools/testing/builtContracts.ts";
import { mortalRpc } from "./support/mortalRpc.ts";
import {
  listening,
  type RunningSettlement,
  settle,
  settlementProcesses,
  stop,
} from "./support/settlementProcess.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";

/** The first account of Hardhat's local chain, which has money. */
const KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

describe("the settlement process with a chain", function () {
  // The contracts may have to be built first, while the machine does other work.
  this.timeout(300_000);
  const folder = temporaryFolder();
  const writer = privateKeyToAccount(KEY);
  let rpcUrl: string;
  /** Each test has its own origin, because the chain keeps the ledgers of all tests. */
  let origin: string;
  let interval: string;
  let ledgers = 0;
  let rpc: Awaited<ReturnType<typeof mortalRpc>>;
  beforeEach(async () => {
    origin = `tallystick.test/process-${ledgers++}`;
    interval = "0.2";
    rpc = await mortalRpc(rpcUrl);
  });
  let contract: Address;
  let server: Awaited<ReturnType<typeof network.createServer>>;
  const commands: ChildProcess[] = [];
  const settings = () => ({
    LEDGER_DIR: folder.path,
    LEDGER_ORIGIN: origin,
    ANCHOR_PRIVATE_KEY: KEY,
    ANCHORED_LEDGER: contract,
    RPC_URL: rpc.url,
    CHAIN_ID: String(hardhat.id),
    ANCHOR_INTERVAL_SECONDS: interval,
  });
  const processes = settlementProcesses(settings);
  /** Starts a process, and waits until it accepts writes. On a slow machine it listens before the chain has answered. */
  const start = async (): Promise<RunningSettlement> => {
    const started = await processes.start();
    await until(async () => (await fetch(`${started.url}/health`)).status === 200);
    return started;
  };

  before(async () => {
    await builtContracts();
    const port = await freePort();
    server = await network.createServer(undefined, "127.0.0.1", port);
    await server.listen();
    rpcUrl = `http://127.0.0.1:${port}`;
    const { bytecode } = await hre.artifacts.readArtifact("AnchoredLedger");
    const wallet = createWalletClient({ account: writer, chain: hardhat, transport: localTransport(rpcUrl) });
    const hash = await wallet.deployContract({ abi: anchoredLedgerAbi, bytecode: bytecode as Hex });
    const client = createPublicClient({ transport: localTransport(rpcUrl), pollingInterval: 50 });
    contract = (await client.waitForTransactionReceipt({ hash })).contractAddress?.toLowerCase() as Address;
  });
  after(() => server.close());
  afterEach(async () => {
    for (const child of commands.splice(0)) child.kill("SIGKILL");
    rpc.close();
  });

  async function anchored(size: number): Promise<Hex> {
    const client = createPublicClient({ transport: localTransport(rpcUrl) });
    const id = ledgerId({
      chainId: hardhat.id,
      contract,
      writer: writer.address.toLowerCase() as Address,
      guardian: zeroAddress,
      origin,
    });
    for (;;) {
      const head = await client
        .readContract({ address: contract, abi: anchoredLedgerAbi, functionName: "head", args: [id] })
        .catch(() => undefined);
      if (head?.size === BigInt(size)) return head.root;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  it("opens its ledger on chain, anchors its entries, and continues after a kill", async () => {
    const first = await start();
    expect(first.file).to.contain(`/${first.ledger}/ledger.jsonl`);
    for (const task of ["one", "two", "three"]) await settle(first.url, task);
    await anchored(3);
    const anchoring = async () =>
      ((await (await fetch(`${first.url}/health`)).json()) as { anchoring: { error: string | null } })
        .anchoring;
    await until(async () => (await anchoring()).error === null);
    await stop(first.child, "SIGKILL");

    const second = await start();
    expect([second.size, second.ledger]).to.deep.equal([3, first.ledger]);
    await settle(second.url, "four");
    const root = await anchored(4);
    expect(await stop(second.child, "SIGTERM")).to.equal(0);

    const result = await verifyLedgerFile(second.file);
    if (result instanceof LedgerLineError) throw result;
    expect(toHex(result.root)).to.equal(root);
    expect(readFileSync(second.file, "latin1").trimEnd().split("\n")).to.have.length(4);
  });

  const metric = async (url: string, name: string): Promise<number> => {
    const page = await (await fetch(`${url}/metrics`)).text();
    return Number(new RegExp(`^tallystick_${name} (\\S+)$`, "m").exec(page)?.[1]);
  };
  const until = async (condition: () => boolean | Promise<boolean>): Promise<void> => {
    while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 25));
  };
  const chain = async (method: string, ...params: unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
    const headers = { "content-type": "application/json" };
    return ((await (await fetch(rpcUrl, { method: "POST", body, headers })).json()) as { result: unknown })
      .result;
  };

  it("keeps settling while the RPC does not answer, reports that the anchor is too old, and anchors everything afterwards", async () => {
    // With a shorter interval, every anchor of a slow machine would be too old.
    interval = "2";
    const { url, child, stderr } = await start();
    await settle(url, "one");
    await anchored(1);
    // The chain has the anchor before the service knows it.
    await until(async () => (await metric(url, "anchored_entries")) === 1);
    rpc.state.dead = true;
    for (const task of ["two", "three"]) expect(await settle(url, task)).to.be.a("string");
    await until(async () => (await metric(url, "anchor_stale")) === 1);
    await until(() => stderr().includes("The anchor is older than twice its interval."));
    await until(async () => (await metric(url, "anchor_failures")) >= 1);
    expect([await metric(url, "anchored_entries"), await metric(url, "ledger_entries")]).to.deep.equal([
      1, 3,
    ]);
    await until(() => stderr().includes("Anchoring failed"));
    rpc.state.dead = false;
    await anchored(3);
    await until(async () => (await metric(url, "anchor_stale")) === 0);
    expect(await stop(child, "SIGTERM")).to.equal(0);
  });

  it("anchors again after a reorg, and then proves entries with the new transaction", async () => {
    const { url, ledger, child } = await start();
    await settle(url, "one");
    await anchored(1);
    const before = await chain("evm_snapshot");
    await settle(url, "two");
    await anchored(2);
    const transaction = async () => {
      const answer = await fetch(`${url}/v1/ledger/bundle?index=1`);
      // On a slow machine no checkpoint may cover the entry yet.
      return answer.ok ? parseProofBundle(await answer.text()).anchor?.transaction : undefined;
    };
    await until(async () => (await transaction()) !== undefined);
    const undone = await transaction();
    await chain("evm_revert", before);
    // Mines another block than before, so that the same call becomes another transaction.
    await chain("evm_mine");
    const root = await anchored(2);
    await until(
      async () => ![undefined, undone].includes(await transaction()) || (await isMined(undone as Hex)),
    );
    const file = path.join(folder.path, "entry.proof");
    writeFileSync(file, await (await fetch(`${url}/v1/ledger/bundle?index=1`)).text());
    const result = await verifyProofFile(file, { ledger, rpcUrl });
    expect(result).to.include({ valid: true, size: 2, root });
    expect(await stop(child, "SIGTERM")).to.equal(0);
  });

  /** A transaction with the same nonce, call and fees has the same hash in both histories. */
  async function isMined(hash: Hex): Promise<boolean> {
    return (await chain("eth_getTransactionReceipt", hash)) !== null;
  }

  it("proves an entry with a file, offline and against the chain, and convicts a writer that signs two heads", async () => {
    const { url, ledger, child } = await start();
    for (const task of ["one", "two", "three"]) await settle(url, task);
    const root = await anchored(3);
    const file = path.join(folder.path, "entry.proof");
    const bundle = async (): Promise<ProofBundle> => {
      for (;;) {
        const answer = await fetch(`${url}/v1/ledger/bundle?index=1`);
        const bytes = await answer.text();
        writeFileSync(file, bytes);
        // The contract may have the root some moments before the service knows the transaction. On a slow machine no
        // checkpoint may cover the entry yet.
        if (answer.ok && parseProofBundle(bytes).anchor !== null) return parseProofBundle(bytes);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const made = await bundle();
    const result = await verifyProofFile(file, { ledger, rpcUrl });
    expect(result).to.include({
      valid: true,
      index: 1,
      size: 3,
      root,
      ledger,
      writer: writer.address.toLowerCase(),
    });
    expect(result.anchored?.transaction).to.equal(made.anchor?.transaction);

    const elsewhere = { ...made, anchor: { transaction: `0x${"ab".repeat(32)}` } };
    writeFileSync(file, JSON.stringify(elsewhere));
    expect(await verifyProofFile(file, { rpcUrl }).catch((error) => error)).to.be.instanceOf(ProofError);
    writeFileSync(file, JSON.stringify({ ...made, anchor: null }));
    const unanchored = await verifyProofFile(file, { rpcUrl }).catch((error) => error);
    expect(unanchored).to.be.instanceOf(ProofError);
    expect(unanchored.message).to.contain("was not anchored when the proof was made");
    writeFileSync(file, JSON.stringify({ ...made, ledger: { ...made.ledger, chain_id: 1 } }));
    expect(await verifyProofFile(file, {}).catch((error) => error)).to.be.instanceOf(ProofError);

    // The contract accepts the head in the checkpoint as evidence. A second signature of the writer for another root
    // convicts the writer.
    const note = parseSignedNote(made.checkpoint);
    const address = writer.address.toLowerCase() as Address;
    const { by, signature } = headSignatureOf(note, origin, address) as HeadSignature;
    expect(by).to.equal("key");
    const head = { ledgerId: ledger as Hex, size: 3n, root };
    expect(isHeadSignedBy(address, head, { chainId: hardhat.id, contract }, signature)).to.equal(true);
    const other = { ...head, root: `0x${"cd".repeat(32)}` as Hex };
    const typed = headTypedData(other, { chainId: hardhat.id, contract });
    const client = createPublicClient({ transport: localTransport(rpcUrl) });
    await client.simulateContract({
      address: contract,
      abi: anchoredLedgerAbi,
      functionName: "proveFork",
      args: [
        head.ledgerId,
        headWord({ ...head, signer: address, signature }),
        headWord({ ...other, signer: address, signature: await writer.signTypedData(typed) }),
        other.root,
        [],
      ],
    });

    await until(async () => (await metric(url, "anchored_entries")) === 3);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).to.match(/^tallystick_settlements_total\{type="settlement",outcome="SETTLED"\} 3$/m);
    expect(await stop(child, "SIGTERM")).to.equal(0);
  });

  /** Runs `tallystick ledger …` with the settings of the service or of a mirror. */
  const tallystick = (args: string[], settings: Record<string, string>): ChildProcess => {
    const child = spawn(process.execPath, nodeProgram("scripts/cli.ts", ["ledger", ...args]), {
      env: { PATH: process.env.PATH, ...compiledOnce, ...settings },
      cwd: folder.path,
      stdio: ["ignore", "pipe", "pipe"],
    });
    commands.push(child);
    return child;
  };
  const outcome = async (child: ChildProcess) => {
    const [out, err, [code]] = await Promise.all([
      text(child.stdout!),
      text(child.stderr!),
      once(child, "exit"),
    ]);
    return { code, out, err };
  };

  it("gets all its entries from a mirror after it lost its disk, and its next checkpoints continue the last one", async () => {
    const first = await start();
    for (const task of ["one", "two", "three"]) await settle(first.url, task);
    await anchored(3);
    rpc.state.dead = true;
    for (const task of ["four", "five"]) await settle(first.url, task);
    const ledgerFolder = path.dirname(first.file);
    const key = readFileSync(path.join(ledgerFolder, "checkpoint.key"));
    const vkey = (await (await fetch(`${first.url}/v1/ledger/key`)).text()).trim();
    const mirroring = {
      MIRROR_DIR: path.join(folder.path, "mirror"),
      MIRROR_VKEY: vkey,
      MIRROR_LEDGER: first.ledger,
      MIRROR_INTERVAL_SECONDS: "1",
      MIRROR_PORT: "0",
      RPC_URL: rpcUrl,
      CHAIN_ID: String(hardhat.id),
      ANCHORED_LEDGER: contract,
    };
    // These are the steps and the commands of docs/operators.md.
    const mirror = tallystick(["mirror", first.url], mirroring);
    const { url: mirrorUrl } = await listening(mirror);
    const mirrored = (name: string) => metric(mirrorUrl, `mirror_${name}`);
    await until(async () => (await mirrored("entries")) === 5 && (await mirrored("anchored_entries")) === 3);
    const lines = readFileSync(first.file, "latin1");
    await stop(first.child, "SIGKILL");
    rmSync(ledgerFolder, { recursive: true });

    // The RPC answers again, and the service has the same settings as before.
    rpc.state.dead = false;
    const pull = (...more: string[]) =>
      outcome(tallystick(["pull", "--from", mirrorUrl, ...more], settings()));
    const byAnchor = await pull();
    expect(byAnchor.code, byAnchor.err).to.equal(0);
    expect(byAnchor.out).to.contain("entries 3 (0 from disk, 3 fetched)").and.to.contain("checkpoint.key");
    const pulled = await pull("--key", vkey);
    expect(pulled.code, pulled.err).to.equal(0);
    expect(pulled.out)
      .to.contain("entries 5 (3 from disk, 2 fetched)")
      .and.to.contain("2 entries after the anchor");
    expect(readFileSync(first.file, "latin1")).to.equal(lines);
    writeFileSync(path.join(ledgerFolder, "checkpoint.key"), key);
    expect(await stop(mirror, "SIGTERM")).to.equal(0);

    const second = await start();
    expect([second.size, second.ledger]).to.deep.equal([5, first.ledger]);
    expect(await settle(second.url, "six")).to.be.a("string");
    await anchored(6);
    const checkpointed = async () =>
      (await (await fetch(`${second.url}/v1/ledger/checkpoint`)).text()).split("\n")[1];
    await until(async () => (await checkpointed()) === "6");
    const follows = await outcome(tallystick(["mirror", second.url, "--once"], mirroring));
    expect(follows.code, follows.err).to.equal(0);
    expect(JSON.parse(follows.out)).to.include({ agrees: true, size: 6, anchoredSize: 6 });
    expect(await stop(second.child, "SIGTERM")).to.equal(0);
  });
});
