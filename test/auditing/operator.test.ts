import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { within } from "tallystick-sdk/deadline";
import { createEscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { createEscrowSigner } from "tallystick-sdk/escrow/signEscrow";
import { nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { operatorApp } from "../../services/auditing/app.ts";
import type { AuditingConfig } from "../../services/auditing/config.ts";
import { createMetrics } from "../../services/auditing/metrics.ts";
import { openOperator } from "../../services/auditing/openOperator.ts";
import type { OpenAssignment, OperatorNode } from "../../services/auditing/operatorNode.ts";
import { openRpcProxy, type RpcProxy } from "../sdk/support/rpcProxy.ts";
import { newWallet, type SdkChain, startSdkChain, type Wallet } from "../sdk/support/sdkChain.ts";
import { rejection } from "../sdk/support/tamper.ts";
import { fakeNode } from "./support/fakeNode.ts";
import type { OperatorTask } from "./support/operatorProcess.ts";
import { accountsOf, transfersTo } from "./support/paymentScene.ts";

const PROCESS = nodeProgram("test/auditing/support/operatorProcess.ts");

describe("the process of an operator of audits", function () {
  this.timeout(180_000);
  let chain: SdkChain;
  let folder: string;
  let pool: Wallet;
  before(async () => {
    chain = await startSdkChain();
  });
  after(() => chain?.close());
  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), "tallystick-auditing-"));
    pool = newWallet();
    await chain.mint(pool, 1_000_000n);
    await chain.client.setBalance({ address: pool.address, value: 10n ** 18n });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const configOf = (rpcUrl = "http://127.0.0.1:1"): AuditingConfig => ({
    ...{ nodeUrl: "http://127.0.0.1:1", rpcUrl, network: chain.network, escrows: [] },
    ...{ operatorKey: newWallet().privateKey, poolKey: pool.privateKey, folder, host: "127.0.0.1", port: 0 },
    ...{
      roundMs: 60_000,
      budget: 1_000_000n,
      least: 1_000n,
      payBefore: true,
      confirmations: 1,
      devMode: true,
    },
  });
  /** Writes notes of a process that began long ago. A process without notes pays nobody in its first half hour. */
  const withNotes = () => {
    mkdirSync(path.join(folder, "operator"));
    writeFileSync(path.join(folder, "operator/began.json"), JSON.stringify({ time: 0 }));
  };
  const open = (changes: Partial<OperatorNode> = {}, config = configOf()) =>
    openOperator({
      ...{ config, log: () => {}, now: Date.now, transport: chain.transport, ledger: "local" as const },
      node: fakeNode(pool.address, changes),
    });

  it("pays each auditor once, even if it is killed before a payment is sent or before the answer arrives", async () => {
    withNotes();
    const auditors = [newWallet(), newWallet()];
    const accrued = auditors.map((auditor, n): [Wallet, bigint] => [auditor, 15_000n * BigInt(n + 1)]);
    const server: Server = createServer(async (_, response) => {
      const accounts = await accountsOf(chain, pool, accrued);
      const rows = accounts.map((it) => [it.auditor, String(it.accrued), String(it.paid)]);
      response.end(JSON.stringify(rows));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const proxy: RpcProxy = await openRpcProxy(chain);
    try {
      const { budget: _, least: __, ...config } = configOf(proxy.url);
      const accountsUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const run = (killAt: OperatorTask["killAt"], rounds: number) =>
        runProcess({ config, pool: pool.address, accountsUrl, killAt, rounds });
      const made = () => Promise.all(auditors.map((auditor) => transfersTo(chain, pool, auditor)));

      // In its first round a process learns what the node says. It may pay this after the next tick, in its second round.
      expect(await run({ method: "eth_sendRawTransaction", when: "before" }, 2)).to.equal("SIGKILL");
      expect(await made()).to.deep.equal([[], []]);
      // The notes contain the decided payment. The next process sends it, and is killed before it gets the result.
      expect(await run({ method: "eth_sendRawTransaction", when: "after" }, 2)).to.equal("SIGKILL");
      expect((await made()).flat()).to.deep.equal([15_000n]);
      // The third process books that payment, sends the other one, and is killed too.
      expect(await run({ method: "eth_sendRawTransaction", when: "after" }, 2)).to.equal("SIGKILL");
      expect(await run(null, 3)).to.equal(0);
      expect(await made()).to.deep.equal([[15_000n], [30_000n]]);
    } finally {
      await proxy.close();
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  });

  it("does not open the folder of another chain, token or pool, whose payments it would sign again", async () => {
    await (await open()).close();
    const config = configOf();
    const { network } = config;
    const others: AuditingConfig[] = [
      { ...config, network: { ...network, chainId: network.chainId + 1 } },
      { ...config, network: { ...network, token: newWallet().address } },
      { ...config, poolKey: newWallet().privateKey },
    ];
    for (const other of others) expect(await rejection(open({}, other))).to.include({ code: "other_store" });
    await (await open()).close();
  });

  it("pays amounts that were read before a final tick, if the node names its own pool, and only after the first half hour", async () => {
    const auditor = newWallet();
    const finalTime = await chain.now();
    let time = finalTime + 1_000;
    let accrued = 20_000n;
    const node: Partial<OperatorNode> = {
      status: async () => ({ time, isBlocked: false }),
      accounts: () => accountsOf(chain, pool, [[auditor, accrued]]),
    };
    const paid = () => transfersTo(chain, pool, auditor);
    const fresh = await open({ ...node, status: async () => ({ time: 1, isBlocked: false }) });
    await fresh.round();
    expect(await paid(), "without notes").to.deep.equal([]);
    await chain.passTo(finalTime + 1_800);
    for (const blocked of [
      { status: async () => ({ time: 1, isBlocked: true }) },
      { rules: async () => ({ pool: auditor.address, auditArbiters: [], fees: [] }) },
    ]) {
      const operator = await open({ ...node, ...blocked });
      await operator.round();
      expect(operator.state().failures).to.equal(1);
      expect(operator.state().roundAt).to.equal(0);
    }
    time = finalTime + 5_000;
    const operator = await open(node);
    await operator.round();
    expect(await paid(), "not final").to.deep.equal([]);
    // Amounts that accrue meanwhile are not final yet, and amounts that a reorganization removed are not paid.
    accrued = 50_000n;
    await chain.passTo(time);
    time += 5_000;
    await operator.round();
    expect(await paid(), "the answer may have blocks after the tick").to.deep.equal([]);
    await chain.passTo(time);
    time += 5_000;
    await operator.round();
    expect(await paid()).to.deep.equal([20_000n]);
    expect(operator.state()).to.deep.include({ owedAtomic: 50_000n, paymentsWaiting: 1 });
    await operator.round();
    expect(operator.state()).to.deep.include({ paidAtomic: 20_000n, owedAtomic: 30_000n });
    accrued = 15_000n;
    await chain.passTo(time);
    time += 5_000;
    await operator.round();
    expect(await paid()).to.deep.equal([20_000n]);
  });

  it("takes as final only what has as many confirmations as its settings ask for", async () => {
    withNotes();
    const auditor = newWallet();
    let time = (await chain.now()) + 1_000;
    const operator = await open(
      {
        status: async () => ({ time, isBlocked: false }),
        accounts: () => accountsOf(chain, pool, [[auditor, 20_000n]]),
      },
      { ...configOf(), confirmations: 3 },
    );
    const paid = () => transfersTo(chain, pool, auditor);
    await operator.round();
    time += 1_000;
    await chain.passTo(time);
    await operator.round();
    expect(await paid(), "the block of the tick has one confirmation").to.deep.equal([]);
    await chain.client.mine({ blocks: 2 });
    await operator.round();
    expect(await paid()).to.deep.equal([20_000n]);
    await operator.round();
    expect(operator.state(), "the payment has one confirmation").to.include({
      ...{ paidAtomic: 0n, paymentsWaiting: 1 },
    });
    await chain.client.mine({ blocks: 2 });
    await operator.round();
    expect(operator.state()).to.include({ paidAtomic: 20_000n, paymentsWaiting: 0 });
  });

  it("asks an auditor at a private address only if its settings allow it", async () => {
    let asked = 0;
    const server = createServer((_, response) => {
      asked++;
      response.writeHead(404).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      for (const [n, devMode] of [false, true].entries()) {
        const assignment: OpenAssignment = {
          ...{ hire: `0x${String(n).repeat(64)}-1`, round: 1, attempt: 1, auditor: newWallet().address },
          ...{ endpoint, capability: "text.translate", amount: 500_000n, time: 0, due: 100 },
        };
        const changes = { openAssignments: async () => [assignment] };
        const operator = await open(changes, { ...configOf(), devMode });
        await operator.round();
        expect(operator.state()).to.include({ notTaken: 1, failures: 0 });
        expect(asked > 0, `devMode: ${devMode}`).to.equal(devMode);
        await operator.close();
      }
    } finally {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    }
  });

  it("refunds a hire that was rolled back, if it has the arbiter's key and its settings name the escrow", async () => {
    const [buyer, arbiter, seller] = [newWallet(), newWallet(), newWallet().address];
    const hire: Hire = {
      ...{ hireId: `0x${"1d".repeat(32)}`, buyer: buyer.address, seller, payee: seller, amount: 500_000n },
      ...{ fee: 0n, feeRecipient: ZERO_ADDRESS, arbiter: arbiter.address },
      deadline: BigInt((await chain.now()) + 3_600),
    };
    const deployment = { chainId: chain.network.chainId, escrow: chain.escrow };
    const calls = createEscrowCalls({ sender: chain.sender, deployment });
    const signer = createEscrowSigner({ account: buyer.account, deployment, network: chain.network });
    await chain.mint(buyer, hire.amount);
    await calls.depositWithAuthorization(hire, await signer.authorizeDeposit(hire));
    const held = [{ id: calls.idOf(hire), escrow: chain.escrow, hire }];
    const { privateKey: arbiterKey } = arbiter;
    const escrows = [chain.escrow];
    for (const [settings, refunded] of [
      [{ escrows }, 0],
      [{ arbiterKey }, 0],
      [{ arbiterKey, escrows }, 1],
    ] as const) {
      const operator = await open(
        {
          rules: async () => ({ pool: pool.address, auditArbiters: [arbiter.address], fees: [] }),
          rolledBackEscrows: async () => ({ held, settled: [], unread: new Set<string>() }),
        },
        { ...configOf(), ...settings },
      );
      // The rollback is final after the next tick, in the second round.
      for (let n = 0; n < 2; n++) await operator.round();
      expect(operator.state()).to.include({ refunded, failures: 0 });
      expect(await chain.balanceOf(buyer)).to.equal(refunded === 1 ? hire.amount : 0n);
      await operator.close();
    }
  });

  it("stops at once, although its node and its ledger do not answer", async () => {
    const canary = {
      ...{ private_key: newWallet().privateKey, seller: pool.address, capability: "text.translate" },
      ...{ params: {}, max_price_usdc: "0.01", truth: "good" },
    };
    const canariesFile = path.join(folder, "canaries.json");
    writeFileSync(
      canariesFile,
      JSON.stringify({ name: "one", reveal_after: 2_000_000_000, hires: [canary] }),
    );
    // First the node does not answer the operator's own client, then the ledger does not answer about the canaries.
    for (const node of [undefined, fakeNode(pool.address)]) {
      const asked = Promise.withResolvers<string>();
      const operator = await openOperator({
        ...{ log: () => {}, now: Date.now, transport: chain.transport, ledger: "local" },
        config: { ...configOf(), canariesFile },
        ...(node !== undefined && { node }),
        fetch: (input) => {
          asked.resolve(new URL(input).pathname);
          return new Promise(() => {});
        },
      });
      const round = operator.round();
      expect(await asked.promise).to.equal(node === undefined ? "/graphql" : "/v1/records");
      const stopped = operator.close().then(() => round.then(() => "stopped"));
      // A request that nobody ends lasts thirty seconds.
      expect(await within(stopped, 20_000)).to.equal("stopped");
    }
  });

  it("does the rest of a round when a part of it fails, and reports the hires that wait for people", async () => {
    const challenged = [{ hire: `0x${"1".repeat(64)}-1`, seller: pool.address, capability: null, time: 5 }];
    const operator = await open({
      openAssignments: async () => {
        throw new Error("away");
      },
      challenged: async () => challenged,
    });
    await operator.round();
    expect(operator.state()).to.deep.include({ failures: 1, challenged, budgetAtomic: 1_000_000n });
    let now = 1_000_000;
    const app = operatorApp({
      ...{ state: operator.state, metrics: createMetrics(operator.state), roundMs: 60_000 },
      ...{ now: () => now, startedAt: now },
    });
    const get = async (route: string) => await app.request(route);
    expect(await (await get("/challenged")).json()).to.deep.equal({ challenged });
    const text = await (await get("/metrics")).text();
    expect(text)
      .to.contain("tallystick_audit_challenged 1")
      .and.contain("tallystick_audit_budget_left_usdc 1\n");
    expect((await get("/health")).status).to.equal(200);
    now += 11 * 60_000 + 1;
    expect((await get("/health")).status).to.equal(503);
  });
});

/** Runs an operator's process to its end: its exit code, or the signal that ended it. */
async function runProcess(task: OperatorTask): Promise<number | string | null> {
  const child = spawn(process.execPath, PROCESS, {
    env: { ...process.env, OPERATOR_TASK: JSON.stringify(task) },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let said = "";
  child.stderr.on("data", (text) => {
    said += text;
  });
  const ended = await new Promise<number | string | null>((resolve) => {
    child.on("close", (code, signal) => resolve(signal ?? code));
  });
  if (ended === 1) throw new Error(said);
  return ended;
}
