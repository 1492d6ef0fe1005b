import { expect } from "chai";
import fc from "fast-check";
import { parseEvent } from "tallystick-derive/parseEvent";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import type { Address } from "tallystick-protocol/address";
import { compareNodes, deriveNode } from "tallystick-sdk/openLog";
import { buyingAttacks } from "../../derive/attacks/buying.ts";
import type { EventLog } from "../../derive/eventLog.ts";
import { generatedLogOf } from "../../derive/oracle/generatedLog.ts";
import type { IndexerProcess } from "../support/indexerProcess.ts";
import { expectAgreement, expectRelevant, historyOf, letLockExpire } from "./agreement.ts";
import { openWorld, TICK_BLOCKS, type World } from "./openWorld.ts";
import { playAttack } from "./playAttack.ts";
import { playWithReorg, UNDONE } from "./playWithReorg.ts";
import { type Progress, RealizedLog } from "./realizedLog.ts";

/** A short log; `npm run soak:index` plays many longer ones. */
const LENGTH = { minLength: 16, maxLength: 20 };
/** The wallets of generated logs have money that no transfer gave them. So the check of balances is off. */
const RELEVANT = { TRANSFERS: "relevant", BALANCE_CHECK_TICKS: "0" };
/** The attack that every test run plays. `npm run soak:attacks` plays all attacks. */
const PLAYED = ["Ten wallets funded by payouts of the escrow"];

/**
 * Compares nodes, the offline derivation and the oracle over the same history. The oracle is a second, slow derivation
 * (`test/derive/oracle`). A generated log is played on a real chain, with a reorg in the middle. One node follows the
 * chain, and is killed at some block after the reorg. Another node reads only the transfers that matter. At the end, a
 * new node reads the whole chain.
 */
describe("nodes on one chain, the offline derivation and the oracle", function () {
  this.timeout(0);
  this.slow(60_000);

  let world: World;
  let { chain, postgres, followed, start } = {} as World;
  let databases: { followed: string; clean: string; relevant: string };
  let node: IndexerProcess;
  /** This node reads only the transfers that matter. */
  let relevant: IndexerProcess;
  let progress: Progress;
  const [drawn] = fc.sample(fc.record({ log: generatedLogOf(LENGTH), kill: fc.nat() }), {
    numRuns: 1,
    seed: 1,
  });
  const { log: generated, kill } = drawn as { log: EventLog; kill: number };

  before(async () => {
    world = await openWorld();
    ({ chain, postgres, followed, progress, start } = world);
    databases = {
      followed: await postgres.createDatabase("followed"),
      clean: await postgres.createDatabase("clean"),
      relevant: await postgres.createDatabase("relevant"),
    };
    node = await start("followed", databases.followed);
  });
  after(() => world?.close());

  it("agree on a generated log, with a reorg, and with a kill -9 after it", async () => {
    const log = new RealizedLog(chain, 0, generated.events, followed, progress);
    const middle = Math.floor(log.groups.length / 2);
    const earliest = middle + UNDONE;
    const moment = earliest + (kill % Math.max(1, log.groups.length - earliest));
    let restarted: Promise<void> | undefined;
    const last = await playWithReorg(world, log, {
      onBlock: (n) => {
        // Only undone blocks are made twice, and `moment` is after them. So the node is killed only once.
        if (n === moment) restarted ??= killAndRestart();
      },
      beforeReorg: async () => {
        // This node starts when a part of the chain exists, and follows the rest of the chain.
        relevant = await start("relevant", databases.relevant, RELEVANT);
      },
      untilSeen: async (orphaned) => {
        await node.until("the blocks that will be undone", async () => {
          const { meta } = await node.query<{ meta: { indexedBlock: number } }>("{ meta { indexedBlock } }");
          return meta.indexedBlock >= Number(orphaned);
        });
        await relevant.until("these blocks, at the second node", async () => {
          const { meta } = await relevant.query<{ meta: { block: number } }>("{ meta { block } }");
          return meta.block > Number(orphaned) - TICK_BLOCKS;
        });
      },
    });
    expect(restarted, "the restart of the node").to.not.equal(undefined);
    await restarted;
    ({ progress } = log);
    await Promise.all([node, relevant].map((it) => it.untilTick(last)));
    const { lines, digests } = await expectAgreement(databases.followed, node);
    const said = lines.map(parseEvent).flatMap((it) => (it.kind === "feedback.given" ? [it.tag1] : []));
    expect(said, "feedback on the chain").to.deep.equal(["first", "instead"]);
    expect(await historyOf(databases.followed)).to.deep.equal({ lines, digests });
    await expectRelevant(databases.relevant, relevant, { lines, digests });
  });

  async function killAndRestart(): Promise<void> {
    node.kill();
    await letLockExpire(databases.followed);
    node = await start("restarted", databases.followed);
  }

  it("have equal digests at every tick: a clean run, a run with kill -9 and reorg, and the offline derivation", async () => {
    const clean = await start("clean", databases.clean);
    await clean.untilTick(await chain.client.getBlockNumber());
    const offline = await expectAgreement(databases.clean, clean);
    const digests = {
      clean: (await historyOf(databases.clean)).digests,
      killed: (await historyOf(databases.followed)).digests,
      offline: offline.digests,
    };
    expect(digests.clean.size).to.be.greaterThan(5);
    expect(digests.killed).to.deep.equal(digests.clean);
    expect(digests.offline).to.deep.equal(digests.clean);
    await expectAgreementFromOutside(clean.url, relevant.url);
    await expectSeenAtOnce(relevant);
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
    for (const [n, attack] of attacks.entries())
      progress = await playAttack(world, [node, relevant], attack, { run: 1 + n, progress });
    const digests = await Promise.all([databases.followed, databases.relevant].map(historyOf));
    expect(digests[1]?.digests).to.deep.equal(digests[0]?.digests);
  });

  /**
   * Derives a node's log over HTTP. The digests must equal those that this node publishes, and those of another node.
   *
   * @param all the address of a node with all transfers
   * @param few the address of the node whose log is derived; it has only the relevant transfers
   */
  async function expectAgreementFromOutside(all: string, few: string): Promise<void> {
    const { agreed } = await deriveNode(few, { check: true });
    expect(agreed).to.be.greaterThan(0);
    const { ticks, difference } = await compareNodes([all, few]);
    expect({ ticks, difference }).to.deep.equal({ ticks: agreed, difference: null });
  }

  /** Checks that a transfer to an agent reaches the log without waiting for the next tick. */
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
