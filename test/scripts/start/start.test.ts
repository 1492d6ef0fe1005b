import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { expect } from "chai";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import { signRecord } from "tallystick-protocol/records/record";
import { createQueryClient } from "tallystick-sdk/query/createQueryClient";
import { type Abi, createTestClient, publicActions, walletActions } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { hardhat as hardhatChain } from "viem/chains";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";
import { freePort } from "../../../scripts/processes/freePort.ts";
import { localTransport } from "../../../scripts/processes/localTransport.ts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { openSupervisor, type Supervisor } from "../../../scripts/processes/openSupervisor.ts";
import { startService } from "../../../scripts/processes/startService.ts";
import { waitUntil } from "../../../scripts/processes/waitUntil.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { newWallet } from "../../indexer/support/localChain.ts";
import { commandHere } from "../../support/commandHere.ts";
import { SECOND_NODES } from "../../support/secondNodes.ts";
import { testDatabase } from "../../support/testDatabase.ts";

/** Another chain id than that of the demo and the other tests. */
const CHAIN_ID = 31_338;
/** The first account that a Hardhat chain gives ether to. */
const WRITER_KEY = "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";

describe("npm start", function () {
  this.timeout(600_000);
  this.slow(60_000);

  let folder: string;
  let supervisor: Supervisor;
  let envFile: string;
  const port = freePort();
  const settlementPort = freePort();

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-start-"));
    supervisor = await openSupervisor();
    const chainPort = await freePort();
    const rpcUrl = `http://127.0.0.1:${chainPort}`;
    const how = ["--chain-id", String(CHAIN_ID), "--port", String(chainPort)];
    const [databaseUrl] = await Promise.all([
      testDatabase(),
      startService(supervisor, {
        name: "chain",
        command: process.execPath,
        args: nodeProgram("scripts/demo/runChain.ts", how),
        cwd: repositoryRoot,
        env: childEnvironment(),
        logFile: path.join(folder, "chain.log"),
        isReady: async (signal) => {
          const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "eth_chainId", params: [] });
          const headers = { "content-type": "application/json" };
          return (await fetch(rpcUrl, { method: "POST", headers, body, signal })).ok;
        },
      }),
    ]);
    const chain = { ...hardhatChain, id: CHAIN_ID };
    const account = privateKeyToAccount(WRITER_KEY);
    const client = createTestClient({ chain, mode: "hardhat", account, transport: localTransport(rpcUrl) })
      .extend(publicActions)
      .extend(walletActions);
    const deploy = async (name: string, abi: Abi, args: unknown[]) => {
      const file = path.join(repositoryRoot, `artifacts/contracts/${name}.sol/${path.basename(name)}.json`);
      const { bytecode } = JSON.parse(await readFile(file, "utf8"));
      const hash = await client.deployContract({ abi, bytecode, args });
      return (await client.waitForTransactionReceipt({ hash, pollingInterval: 50 })).contractAddress;
    };
    const token = await deploy("test/TestUSDC", testUsdcAbi as Abi, []);
    const escrow = await deploy("HireEscrow", hireEscrowAbi as Abi, [token, account.address, "second-chain"]);
    const anchoredLedger = await deploy("AnchoredLedger", anchoredLedgerAbi as Abi, []);
    envFile = path.join(folder, ".env");
    const settings = {
      DATABASE_URL: databaseUrl,
      RPC_URL: rpcUrl,
      CHAIN_ID,
      TOKEN_ADDRESS: token,
      ANCHORED_LEDGER: anchoredLedger,
      ESCROWS: `${escrow}=second-chain`,
      START_BLOCK: 1,
      LEDGER_DIR: path.join(folder, "ledger"),
      LEDGER_ORIGIN: "second.example/ledger",
      ANCHOR_PRIVATE_KEY: WRITER_KEY,
      ANCHOR_INTERVAL_SECONDS: 1,
      SETTLEMENT_PORT: await settlementPort,
      INDEXER_PORT: await port,
      TICK_BLOCKS: 1,
      POLLING_INTERVAL_MS: 100,
    };
    const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
    await writeFile(envFile, `${lines.join("\n")}\n`);
  });
  after(async () => {
    await supervisor?.close();
    await rm(folder, { recursive: true, force: true });
  });

  const start = (...args: string[]) => run("start", "--logs", folder, ...args);
  /** A start that ends before it starts a process. */
  const refused = (...args: string[]) => commandHere(["start", "--logs", folder, ...args]);

  function run(...args: string[]) {
    const child = spawn(process.execPath, nodeProgram("scripts/cli.ts", args), {
      env: childEnvironment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let said = "";
    child.stderr.on("data", (chunk) => {
      said += chunk;
    });
    const exit = once(child, "exit").then(([code]) => code as number | null);
    const line = once(createInterface({ input: child.stdout }), "line").then(([said]) =>
      JSON.parse(String(said)),
    );
    line.catch(() => {});
    return { child, exit, line, said: () => said };
  }

  it("refuses to start on another chain than that of the settings, and starts nothing", async () => {
    const wrong = path.join(folder, "wrong.env");
    const settings = await readFile(envFile, "utf8");
    await writeFile(wrong, settings.replace(`CHAIN_ID=${CHAIN_ID}`, "CHAIN_ID=8453"));
    const { code, err } = await refused("--env-file", wrong);
    expect(code).to.equal(1);
    expect(err).to.contain(`CHAIN_ID: is 8453, but RPC_URL is chain ${CHAIN_ID}`);
  });

  it("does not use another process's settlement or indexer as its own", async () => {
    const stranger = createServer((_, response) => response.end("{}"));
    for (const [setting, at] of [
      ["SETTLEMENT_PORT", settlementPort],
      ["INDEXER_PORT", port],
    ] as const) {
      stranger.listen(await at, "127.0.0.1");
      await once(stranger, "listening");
      const { code, err } = await refused("--env-file", envFile);
      expect(code).to.equal(1);
      expect(err).to.contain(`${setting}: 127.0.0.1, port ${await at}, is taken`);
      stranger.close();
      await once(stranger, "close");
    }
    expect((await readdir(folder)).filter((name) => /^(settlement|indexer)/.test(name))).to.deep.equal([]);
  });

  it("warns that npm writes into the output of --print, and adds the settings to the file itself with --save", async () => {
    const copy = path.join(folder, "copy.env");
    await writeFile(copy, await readFile(envFile));
    const tell = (args: string[], env: Record<string, string> = {}) =>
      commandHere(["start", "--env-file", copy, ...args], env);
    const silent = await tell(["--print"], { npm_lifecycle_event: "start", npm_config_loglevel: "silent" });
    expect(silent.out).to.match(/^LEDGERS=0x[0-9a-f]{64}=http/m);
    expect(silent.err).to.equal("");
    expect((await tell(["--print"], { npm_lifecycle_event: "start" })).err).to.contain("--save");
    await tell(["--save"]);
    expect(await readFile(copy, "utf8")).to.equal((await readFile(envFile, "utf8")) + silent.out);
    expect((await tell(["--print"])).out).to.equal("");
  });

  it("runs a node that accepts a listing and finds it, with only .env as configuration", async () => {
    const node = start("--env-file", envFile);
    const ready = await Promise.race([node.line, node.exit.then(() => expect.fail(node.said()))]);
    expect(ready.listening).to.equal(`http://127.0.0.1:${await port}`);
    const seller = newWallet();
    const { account } = seller;
    const body = {
      agent_id: seller.address,
      capability: "text.translate.en.it",
      endpoint: "https://seller.example",
      max_latency_ms: 1000,
      price_usdc: "0.50",
    };
    const listing = await signRecord({ type: "listing", body, account });
    const posted = await fetch(`${ready.listening}/v1/listings`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...listing.body, signature: listing.signature }),
    });
    expect(posted.status, await posted.clone().text()).to.be.within(200, 201);
    const client = createQueryClient({ baseUrl: ready.listening });
    const found = await waitUntil(
      async () => {
        const { agents } = await client.search({ capability: body.capability });
        return agents.length > 0 && agents;
      },
      { what: "the listing", withinMs: 120_000 },
    );
    expect(found[0]?.agent_id).to.equal(seller.address);

    // A replica of the same schema finds the listing, and a second indexer reaches the same state by itself, as in an
    // upgrade (test/indexer/replicas.test.ts).
    const others = [
      { part: "replica", args: [] },
      ...(SECOND_NODES ? [{ part: "indexer", args: ["--schema", "tallystick_v2"] }] : []),
    ];
    for (const { part, args } of others) {
      const other = String(await freePort());
      const process = run(part, "--logs", folder, "--env-file", envFile, "--port", other, ...args);
      const { listening } = await Promise.race([
        process.line,
        process.exit.then(() => expect.fail(process.said())),
      ]);
      expect(listening).to.equal(`http://127.0.0.1:${other}`);
      const asked = createQueryClient({ baseUrl: listening });
      await waitUntil(
        async () =>
          (await asked.search({ capability: body.capability })).agents[0]?.agent_id === seller.address,
        { what: `the ${part} to find the listing`, withinMs: 120_000 },
      );
      process.child.kill("SIGTERM");
      expect(await process.exit).to.equal(143);
    }
    for (const name of await readdir(folder))
      if (/^(settlement|indexer|replica).*log$/.test(name))
        expect(await readFile(path.join(folder, name), "utf8")).to.not.contain(WRITER_KEY);

    node.child.kill("SIGTERM");
    expect(await node.exit).to.equal(143);
    expect(await fetch(`${ready.listening}/health`).catch(() => "gone")).to.equal("gone");
  });
});
