import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import type { Address } from "tallystick-protocol/address";
import { ledgerId } from "tallystick-protocol/ledger/anchor";
import { compareNodes, deriveNode } from "tallystick-sdk/openLog";
import { zeroAddress } from "viem";
import { type PostgresServer, startPostgres } from "../../../scripts/postgres/startPostgres.ts";
import { openSupervisor, type Supervisor } from "../../../scripts/processes/openSupervisor.ts";
import { generatedLogOf } from "../../derive/oracle/generatedLog.ts";
import { type IndexerProcess, startIndexer } from "../support/indexerProcess.ts";
import { CHAIN_ID, type LocalChain, PROVIDER, startLocalChain } from "../support/localChain.ts";
import { TestLedger } from "../support/testLedger.ts";
import { ARBITER, ATTESTOR, actor, OPERATOR } from "./actors.ts";
import { expectAgreement, expectRelevant, historyOf, letLockExpire } from "./agreement.ts";
import { copyOf, type FollowedLedger, type Progress, RealizedLog } from "./realizedLog.ts";

/** How many generated logs, and which: `npm run soak:index` plays more, and longer ones. */
const RUNS = Number(process.env.EQUIVALENCE_RUNS ?? 1);
const SEED = Number(process.env.EQUIVALENCE_SEED ?? 1);
const IS_SOAK = RUNS > 1;
const LENGTH = IS_SOAK ? { minLength: 20, maxLength: 60 } : { minLength: 24, maxLength: 32 };
const TICK_BLOCKS = 3;
/** The wallets of generated logs have money that no transfer tells of. */
const RELEVANT = { TRANSFERS: "relevant", BALANCE_CHECK_TICKS: "0" };
/** Blocks of a generated log that happen and are then undone. */
const UNDONE = 3;

/**
 * The node, the offline derivation and the oracle over the same history. Generated logs are made to happen on a real chain,
 * each with a reorg in the middle. A node follows them; once in every log it is killed, wherever it is then, after the reorg
 * (in a soak that happens to a second node, at any time). One reads the transfers that matter only. Another of each kind comes when all is over and reads the chain as it is.
 */
describe("nodes on one chain, the offline derivation and the oracle", function () {
  this.timeout(0);
  this.slow(60_000);

  let folder: string;
  let supervisor: Supervisor;
  let postgres: PostgresServer;
  let chain: LocalChain;
  let environment: Record<string, string>;
  let databases: { reorged: string; killed: string; clean: string; relevant: string; late: string };
  let reorged: IndexerProcess;
  let killed: IndexerProcess;
  /** Reads the transfers that matter only. */
  let relevant: IndexerProcess | undefined;
  let progress: Progress;
  const followed: FollowedLedger[] = [];
  const runs = fc.sample(fc.record({ log: generatedLogOf(LENGTH), kill: fc.nat() }), {
    numRuns: RUNS,
    seed: SEED,
  });

  const start = (name: string, databaseUrl: string, more: Record<string, string> = {}) =>
    startIndexer(supervisor, folder, { ...environment, ...more, DATABASE_URL: databaseUrl }, name);

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "tallystick-equivalence-"));
    supervisor = await openSupervisor();
    [postgres, chain] = await Promise.all([
      startPostgres({ supervisor }),
      startLocalChain(supervisor, folder),
    ]);
    const { anchoredLedger, relayer, client } = chain;
    for (const name of ["a", "b"]) {
      const origin = `test.local/${name}`;
      await chain.send(anchoredLedger, anchoredLedgerAbi, "open", [origin, relayer, zeroAddress]);
      const id = ledgerId({
        chainId: CHAIN_ID,
        contract: anchoredLedger,
        writer: relayer,
        guardian: zeroAddress,
        origin,
      });
      const ledger = new TestLedger();
      followed.push({ id, ledger, publish: (it) => it.save(path.join(folder, name)) });
    }
    const role = (n: number) => actor(0, n).address;
    environment = {
      RPC_URL: chain.rpcUrl,
      CHAIN_ID: String(CHAIN_ID),
      TOKEN_ADDRESS: chain.token,
      ESCROWS: `${chain.escrow}=${PROVIDER}`,
      ANCHORED_LEDGER: anchoredLedger,
      LEDGERS: followed.map(({ id }, n) => `${id}=${path.join(folder, n === 0 ? "a" : "b")}`).join(","),
      OPERATOR: role(OPERATOR),
      CLAIM_ATTESTORS: role(ATTESTOR),
      AUDIT_ARBITERS: role(ARBITER),
      TICK_BLOCKS: String(TICK_BLOCKS),
    };
    progress = {
      nonce: await client.getTransactionCount({ address: relayer }),
      time: await chain.now(),
      version: 1,
      hubs: [],
      names: new Map(),
      hires: new Map(),
      ledgers: followed.map(({ ledger }) => ledger),
      anchored: followed.map(() => 0),
      nextLedger: 0,
    };
    const following = await postgres.createDatabase("reorged");
    databases = {
      reorged: following,
      killed: IS_SOAK ? await postgres.createDatabase("killed") : following,
      clean: await postgres.createDatabase("clean"),
      relevant: await postgres.createDatabase("relevant"),
      late: await postgres.createDatabase("late"),
    };
    reorged = await start("reorged", databases.reorged);
    killed = IS_SOAK ? await start("killed", databases.killed) : reorged;
    if (IS_SOAK) relevant = await start("relevant", databases.relevant, RELEVANT);
  });
  after(async () => {
    await supervisor?.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** Mines up to a tick. */
  async function mineToTick(): Promise<void> {
    const { client } = chain;
    while ((await client.getBlockNumber()) % BigInt(TICK_BLOCKS) !== 0n) await chain.mine();
    progress.time = await chain.now();
  }

  for (const [run, { log: generated, kill }] of runs.entries()) {
    it(`agree on generated log ${run} of seed ${SEED}, with a reorg, and with a kill -9, in the middle`, async () => {
      const log = new RealizedLog(chain, run, generated.events, followed, progress);
      await log.prepare();
      const middle = Math.floor(log.groups.length / 2);
      const earliest = IS_SOAK ? 0 : middle + UNDONE;
      const moment = earliest + (kill % Math.max(1, log.groups.length - earliest));
      let killing = false;
      let restarted: Promise<void> = Promise.resolve();
      const realize = async (n: number) => {
        await log.realize(n);
        // The blocks in the middle are made twice.
        if (n !== moment || killing) return;
        killing = true;
        restarted = killAndRestart(run);
      };
      for (let n = 0; n < middle; n++) await realize(n);

      // It finds a part of the chain that is there already, and follows the rest.
      relevant ??= await start("relevant", databases.relevant, RELEVANT);
      const kept = copyOf(log.progress);
      const before = await chain.client.snapshot();
      for (let n = middle; n < middle + UNDONE; n++) await realize(n);
      await chain.mine();
      const orphaned = await chain.client.getBlockNumber();
      await reorged.until("the blocks that will be undone", async () => {
        const { meta } = await reorged.query<{ meta: { indexedBlock: number } }>("{ meta { indexedBlock } }");
        return meta.indexedBlock >= Number(orphaned);
      });
      const following = relevant;
      await following.until("them, by who reads the transfers that matter", async () => {
        const { meta } = await following.query<{ meta: { block: number } }>("{ meta { block } }");
        return meta.block > Number(orphaned) - TICK_BLOCKS;
      });
      await chain.client.revert({ id: before });
      for (const [n, ledger] of kept.ledgers.entries()) await followed[n]?.publish(ledger);
      log.progress = progress = kept;
      // What the first undone block did never happens; the rest happens at other places.
      for (let n = middle + 1; n < log.groups.length; n++) await realize(n);
      while ((await chain.client.getBlockNumber()) <= orphaned) await chain.mine();
      await mineToTick();

      const last = await chain.client.getBlockNumber();
      await restarted;
      expect(killing, "that it was killed").to.equal(true);
      await Promise.all([reorged, killed, relevant].map((it) => it?.untilTick(last)));
      const agreed = await expectAgreement(databases.reorged, reorged);
      expect(await historyOf(databases.reorged)).to.deep.equal(agreed);
      expect(await historyOf(databases.killed)).to.deep.equal(agreed);
      await expectRelevant(databases.relevant, relevant, agreed);
    });
  }

  async function killAndRestart(run: number): Promise<void> {
    killed.kill();
    await letLockExpire(databases.killed);
    killed = await start(`restarted ${run}`, databases.killed);
    if (!IS_SOAK) {
      reorged = killed;
      return;
    }
    relevant?.kill();
    await letLockExpire(databases.relevant);
    relevant = await start(`relevant, restarted ${run}`, databases.relevant, RELEVANT);
  }

  it("have one digest at every tick: clean run, kill -9 run, reorg run, offline derive", async () => {
    const clean = await start("clean", databases.clean);
    await clean.untilTick(await chain.client.getBlockNumber());
    const offline = await expectAgreement(databases.clean, clean);
    const digests = {
      clean: (await historyOf(databases.clean)).digests,
      killed: (await historyOf(databases.killed)).digests,
      reorged: (await historyOf(databases.reorged)).digests,
      offline: offline.digests,
    };
    expect(digests.clean.size).to.be.greaterThan(5);
    expect(digests.killed).to.deep.equal(digests.clean);
    expect(digests.reorged).to.deep.equal(digests.clean);
    expect(digests.offline).to.deep.equal(digests.clean);
    await expectAgreementFromOutside(clean.url, (relevant as IndexerProcess).url);
    await expectSeenAtOnce(relevant as IndexerProcess);
    if (!IS_SOAK) return;
    await mineToTick();
    const last = await chain.client.getBlockNumber();
    const late = await start("late", databases.late, RELEVANT);
    await Promise.all([clean.untilTick(last), late.untilTick(last)]);
    await expectRelevant(databases.late, late, await historyOf(databases.clean));
  });

  /** Whoever reads its log over HTTP derives what it publishes, and finds it equal to a node that has all transfers. */
  async function expectAgreementFromOutside(all: string, few: string): Promise<void> {
    const { agreed } = await deriveNode(few, { check: true });
    expect(agreed).to.be.greaterThan(0);
    const { ticks, difference } = await compareNodes([all, few]);
    expect({ ticks, difference }).to.deep.equal({ ticks: agreed, difference: null });
  }

  /** A transfer to an agent is in the log when its block is, which is no tick's. */
  async function expectSeenAtOnce(node: IndexerProcess): Promise<void> {
    const { agents } = await node.query<{ agents: { nodes: { address: Address }[] } }>(
      "{ agents(first: 1) { nodes { address } } }",
    );
    const to = agents.nodes[0]?.address as Address;
    const { transactionHash, blockNumber } = await chain.send(chain.token, testUsdcAbi, "mint", [to, 1n]);
    expect(Number(blockNumber) % TICK_BLOCKS, "a block without a tick").to.not.equal(0);
    await node.until("the transfer", async () =>
      (await historyOf(databases.relevant)).lines.some((line) => line.includes(transactionHash)),
    );
  }
});
