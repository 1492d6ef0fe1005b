import { expect } from "chai";
import fc from "fast-check";
import { parseEvent } from "tallystick-derive/parseEvent";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import type { Address } from "tallystick-protocol/address";
import { compareNodes, deriveNode } from "tallystick-sdk/openLog";
import { buyingAttacks } from "../../derive/attacks/buying.ts";
import { generatedLogOf } from "../../derive/oracle/generatedLog.ts";
import type { IndexerProcess } from "../support/indexerProcess.ts";
import { expectAgreement, expectRelevant, historyOf, letLockExpire } from "./agreement.ts";
import { openWorld, TICK_BLOCKS, type World } from "./openWorld.ts";
import { playAttack } from "./playAttack.ts";
import { copyOf, type Progress, RealizedLog } from "./realizedLog.ts";

/** How many generated logs, and which: `npm run soak:index` plays more, and longer ones. */
const RUNS = Number(process.env.EQUIVALENCE_RUNS ?? 1);
const SEED = Number(process.env.EQUIVALENCE_SEED ?? 1);
const IS_SOAK = RUNS > 1;
const LENGTH = IS_SOAK ? { minLength: 20, maxLength: 60 } : { minLength: 16, maxLength: 20 };
/** The wallets of generated logs have money without a transfer. */
const RELEVANT = { TRANSFERS: "relevant", BALANCE_CHECK_TICKS: "0" };
/** The attack that is played with every test run; `npm run soak:attacks` plays all. */
const PLAYED = ["Ten wallets, funded by payouts of the escrow"];
/** The number of blocks of a generated log that a reorg removes. */
const UNDONE = 3;

/**
 * The node, the offline derivation and the oracle over the same history. Generated logs are played on a real chain,
 * each with a reorg in the middle. A node follows them. It is killed once in every log, after the reorg, at any place
 * (in a soak this happens to a second node, at any time). Another node reads only the transfers that matter. At the
 * end, one new node of each kind reads the whole chain.
 */
describe("nodes on one chain, the offline derivation and the oracle", function () {
  this.timeout(0);
  this.slow(60_000);

  let world: World;
  let { chain, postgres, followed, start, mineToTick, register } = {} as World;
  let databases: { reorged: string; killed: string; clean: string; relevant: string; late: string };
  let reorged: IndexerProcess;
  let killed: IndexerProcess;
  /** Reads the transfers that matter only. */
  let relevant: IndexerProcess | undefined;
  let progress: Progress;
  const runs = fc.sample(fc.record({ log: generatedLogOf(LENGTH), kill: fc.nat() }), {
    numRuns: RUNS,
    seed: SEED,
  });

  before(async () => {
    world = await openWorld();
    ({ chain, postgres, followed, progress, start, mineToTick, register } = world);
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
  after(() => world?.close());

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

      // It starts with an existing part of the chain, and follows the rest.
      relevant ??= await start("relevant", databases.relevant, RELEVANT);
      const kept = copyOf(log.progress);
      const before = await chain.client.snapshot();
      log.progress.time = await register("undone");
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
      // The events of the first undone block never happen again. The others happen at other positions.
      for (let n = middle + 1; n < log.groups.length; n++) await realize(n);
      progress.time = await register("instead");
      while ((await chain.client.getBlockNumber()) <= orphaned) await chain.mine();
      progress.time = await mineToTick();

      const last = await chain.client.getBlockNumber();
      await restarted;
      expect(killing, "that it was killed").to.equal(true);
      await Promise.all([reorged, killed, relevant].map((it) => it?.untilTick(last)));
      const agreed = await expectAgreement(databases.reorged, reorged);
      const said = agreed.lines
        .map(parseEvent)
        .flatMap((it) => (it.kind === "feedback.given" ? [it.tag1] : []));
      expect(said.slice(-2), "feedback that stands").to.deep.equal([
        run === 0 ? "first" : "instead",
        "instead",
      ]);
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
    progress.time = await mineToTick();
    const last = await chain.client.getBlockNumber();
    const late = await start("late", databases.late, RELEVANT);
    await Promise.all([clean.untilTick(last), late.untilTick(last)]);
    await expectRelevant(databases.late, late, await historyOf(databases.clean));
  });

  it("derive an attack as its scenario says, with both ways of reading transfers", async () => {
    const { client, relayer } = chain;
    progress = {
      ...progress,
      nonce: await client.getTransactionCount({ address: relayer }),
      time: await chain.now(),
    };
    const attacks = buyingAttacks().filter(({ name }) => PLAYED.includes(name));
    expect(attacks).to.have.length(PLAYED.length);
    const nodes = [killed, relevant as IndexerProcess];
    for (const [n, attack] of attacks.entries())
      progress = await playAttack(world, nodes, attack, { run: RUNS + n, progress });
    const digests = await Promise.all([databases.killed, databases.relevant].map(historyOf));
    expect(digests[1]?.digests).to.deep.equal(digests[0]?.digests);
  });

  /**
   * A reader derives the published figures from its log over HTTP, and gets the same as from a node with all transfers.
   */
  async function expectAgreementFromOutside(all: string, few: string): Promise<void> {
    const { agreed } = await deriveNode(few, { check: true });
    expect(agreed).to.be.greaterThan(0);
    const { ticks, difference } = await compareNodes([all, few]);
    expect({ ticks, difference }).to.deep.equal({ ticks: agreed, difference: null });
  }

  /** A transfer to an agent is in the log as soon as its block is, even if the block has no tick. */
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
