import { readFileSync } from "node:fs";
import { expect } from "chai";
import hre, { network } from "hardhat";
import { createPublicClient, createWalletClient, type Hex, http } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { hardhat } from "viem/chains";
import { anchoredLedgerAbi } from "../../protocol/abi/anchoredLedgerAbi.ts";
import type { Address } from "../../protocol/address.ts";
import { toHex } from "../../protocol/hex.ts";
import { ledgerId } from "../../protocol/ledger/anchor.ts";
import { LedgerLineError } from "../../protocol/ledger/verifyLedger.ts";
import { verifyLedgerFile } from "../../scripts/commands/verifyLedger.ts";
import { freePort } from "../../scripts/processes/freePort.ts";
import { settle, settlementProcesses, stop } from "./support/settlementProcess.ts";
import { temporaryFolder } from "./support/temporaryFolder.ts";

/** The first account of Hardhat's local chain, which has money. */
const KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const ORIGIN = "tallystick.test/process";

describe("the settlement process with a chain", () => {
  const folder = temporaryFolder();
  const writer = privateKeyToAccount(KEY);
  let rpcUrl: string;
  let contract: Address;
  let server: Awaited<ReturnType<typeof network.createServer>>;
  const { start } = settlementProcesses(() => ({
    LEDGER_DIR: folder.path,
    LEDGER_ORIGIN: ORIGIN,
    ANCHOR_PRIVATE_KEY: KEY,
    ANCHORED_LEDGER: contract,
    RPC_URL: rpcUrl,
    CHAIN_ID: String(hardhat.id),
    ANCHOR_INTERVAL_SECONDS: "0.2",
  }));

  before(async () => {
    await hre.tasks.getTask("build").run({ quiet: true });
    const port = await freePort();
    server = await network.createServer(undefined, "127.0.0.1", port);
    await server.listen();
    rpcUrl = `http://127.0.0.1:${port}`;
    const { bytecode } = await hre.artifacts.readArtifact("AnchoredLedger");
    const wallet = createWalletClient({ account: writer, chain: hardhat, transport: http(rpcUrl) });
    const hash = await wallet.deployContract({ abi: anchoredLedgerAbi, bytecode: bytecode as Hex });
    const client = createPublicClient({ transport: http(rpcUrl), pollingInterval: 50 });
    contract = (await client.waitForTransactionReceipt({ hash })).contractAddress?.toLowerCase() as Address;
  });
  after(() => server.close());

  async function anchored(size: number): Promise<Hex> {
    const client = createPublicClient({ transport: http(rpcUrl) });
    const id = ledgerId({
      chainId: hardhat.id,
      contract,
      writer: writer.address.toLowerCase() as Address,
      origin: ORIGIN,
    });
    for (;;) {
      const head = await client
        .readContract({ address: contract, abi: anchoredLedgerAbi, functionName: "head", args: [id] })
        .catch(() => undefined);
      if (head?.size === BigInt(size)) return head.root;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  it("opens its ledger on chain, anchors what it settles, and goes on after a kill", async () => {
    const first = await start();
    expect(first.file).to.contain(`/${first.ledger}/ledger.jsonl`);
    for (const task of ["one", "two", "three"]) await settle(first.url, task);
    await anchored(3);
    const health = (await (await fetch(`${first.url}/health`)).json()) as {
      anchoring: { error: string | null };
    };
    expect(health.anchoring.error).to.equal(null);
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
});
