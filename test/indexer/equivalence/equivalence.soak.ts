import { expect } from "chai";
import { parseEvent } from "tallystick-derive/parseEvent";
import { compareNodes, deriveNode } from "tallystick-sdk/openLog";
import type { IndexerProcess } from "../support/indexerProcess.ts";
import { expectAgreement, expectRelevant, historyOf, letLockExpire, relevantEvents } from "./agreement.ts";
import { prepareCrowd } from "./crowd.ts";
import { type Glance, openGlance } from "./openGlance.ts";
import { openWorld, type World } from "./openWorld.ts";
import { playWithReorg } from "./playWithReorg.ts";
import { type Progress, RealizedLog } from "./realizedLog.ts";
import { situationsOf, withoutCrowd } from "./situations.ts";
import { type Kill, LOGS_PER_CHAIN, soakLogOf } from "./soakLog.ts";
import { type ChainResult, openResults, situationsIn, tableOf } from "./soakResults.ts";

const { SOAK_SEED = "1", SOAK_RUNS = "20", SOAK_FIRST = "0", SOAK_MINUTES = "Infinity" } = process.env;
const SEED = Number(SOAK_SEED);
const FIRST = Number(SOAK_FIRST);
const END = FIRST + Number(SOAK_RUNS);
const RESULTS = process.env.SOAK_RESULTS ?? ".tallystick/soak-index.jsonl";
/** A soak of at least this many logs must reach every situation. */
const MANY = 50;
const DEADLINE = performance.now() + Number(SOAK_MINUTES) * 60_000;

/**
 * The most ticks that only one of two nodes has as final. Ponder makes 30 blocks final at a time, and a tick is three
 * blocks.
 */
const LATER_FINAL = 11;

/** The wallets of generated logs have money that no transfer gave them. So the check of balances is off. */
const RELEVANT = { TRANSFERS: "relevant", BALANCE_CHECK_TICKS: "0" };

type Name = Kill["node"] & ("all" | "relevant");
type Node = { process: IndexerProcess; database: string; glance: Glance; restarted: Promise<void> | null };
type Chain = {
  number: number;
  nodes: Record<Name, Node>;
  progress: Progress;
  logs: { n: number; from: number; to: number; kills: Name[] }[];
  began: number;
};

/**
 * `npm run soak:index` plays generated logs, each with a reorg in its middle, on chains that two nodes follow. One node
 * reads all transfers, and the other only the transfers that matter. In one log of seven, a node is killed at any
 * place, and starts again. After each log, both nodes must have equal digests at every tick. At the end of a chain, two
 * new nodes read all of it. Then everything is compared: four nodes, the offline derivation of both logs, the logs,
 * their pages, rows, answers, and the oracle.
 */
describe("nodes on many chains, and the offline derivation", function () {
  this.timeout(0);
  this.slow(60_000);

  let world: World;
  let goBack: () => Promise<Progress>;
  let chain: Chain | undefined;
  let failed: string | undefined;
  const results = openResults(RESULTS);
  const sitting: ChainResult[] = [];

  before(async () => {
    world = await openWorld();
    await prepareCrowd(world.chain);
    goBack = await world.keepBeginning();
  });
  after(async () => {
    await world?.close();
    console.log(`\n  this sitting\n${tableOf(sitting)}\n  ${RESULTS}\n${tableOf(results.all())}`);
  });

  const chains = Map.groupBy(
    Array.from({ length: END - FIRST }, (_, n) => FIRST + n),
    (n) => Math.floor(n / LOGS_PER_CHAIN),
  );
  for (const [number, logs] of chains) {
    describe(`chain ${number} of seed ${SEED}`, () => {
      before(async () => {
        failed = undefined;
        chain = performance.now() > DEADLINE ? undefined : await openChain(number);
      });
      afterEach(function () {
        const { state, title, err } = this.currentTest ?? {};
        if (state === "failed") failed ??= `${title}: ${err?.message.slice(0, 500)}`;
      });
      after(async () => {
        if (chain === undefined) return;
        for (const { process, glance } of Object.values(chain.nodes)) {
          await glance.close();
          process.kill();
        }
        if (failed === undefined) return;
        note({ failed, ticks: 0, situations: {} });
        console.log(
          `      ${failed}: repeat it alone with --seed ${SEED} --first N --runs 1, or with the logs before it by ` +
            `--first ${logs[0]} --runs ${logs.length}`,
        );
      });
      for (const n of logs) {
        it(`agree on log ${n}`, async function () {
          if (chain === undefined || failed !== undefined || performance.now() > DEADLINE) this.skip();
          await playLog(chain, n);
        });
      }
      it("agree on everything with nodes that start late", async function () {
        if (chain === undefined || failed !== undefined || chain.logs.length === 0) this.skip();
        note(await compareAll(chain));
      });
    });
  }

  // Mocha runs the tests of a `describe` before the `describe`s inside of it. So this test needs a `describe` of its
  // own to run last.
  describe("together", () => {
    it("reached every situation", function () {
      if (sitting.reduce((sum, it) => sum + it.logs.length, 0) < MANY) this.skip();
      const missing = Object.entries(situationsIn(sitting)).filter(([, count]) => count === 0);
      expect(missing, "situations that no log reached").to.deep.equal([]);
      expect(
        sitting.some(({ kills }) => kills > 0),
        "a kill",
      ).to.equal(true);
    });
  });

  async function openChain(number: number): Promise<Chain> {
    const began = performance.now();
    const progress = await goBack();
    const open = async (name: Name): Promise<Node> => {
      const database = await world.postgres.createDatabase(`${name}_${number}`);
      const more = name === "relevant" ? RELEVANT : {};
      const process = await world.start(`${name} ${number}`, database, more);
      return { process, database, glance: await openGlance(database), restarted: null };
    };
    const [all, relevant] = await Promise.all([open("all"), open("relevant")]);
    return { number, nodes: { all, relevant }, progress, logs: [], began };
  }

  async function playLog(chain: Chain, n: number): Promise<void> {
    const { events, wallets, kept, kill } = soakLogOf(SEED, n);
    const log = new RealizedLog(world.chain, n, events, world.followed, chain.progress, { wallets, kept });
    const from = Number(await world.chain.client.getBlockNumber()) + 1;
    const kills: Name[] = [];
    const killed = ((): Name[] => {
      if (kill === null) return [];
      return kill.node === "both" ? ["all", "relevant"] : [kill.node];
    })();
    const last = await playWithReorg(world, log, {
      onBlock: (block) => {
        if (kill === null || kills.length > 0 || block !== kill.at % log.groups.length) return;
        kills.push(...killed);
        for (const name of killed) chain.nodes[name].restarted = killAndRestart(chain, n, name);
      },
      untilSeen: async (orphaned) => {
        // A node that is starting may not see the blocks that are undone. So nobody waits for it.
        const alive = Object.values(chain.nodes).filter(({ restarted }) => restarted === null);
        await Promise.all(alive.map(({ glance }) => glance.untilBlock(orphaned)));
      },
    });
    chain.progress = log.progress;
    const nodes = Object.values(chain.nodes);
    await Promise.all(nodes.map(({ restarted }) => restarted));
    for (const node of nodes) node.restarted = null;
    await Promise.all(nodes.map(({ glance }) => glance.untilTick(last)));
    chain.logs.push({ n, from, to: Number(last), kills });
    const [all, few] = await Promise.all(nodes.map(({ glance }) => glance.digestsAfter(from - 1)));
    expect(all?.length, "ticks").to.be.greaterThan(1);
    expect(few, "digests where only the transfers that matter are read").to.deep.equal(all);
  }

  async function killAndRestart(chain: Chain, n: number, name: Name): Promise<void> {
    const node = chain.nodes[name];
    node.process.kill();
    await letLockExpire(node.database);
    const more = name === "relevant" ? RELEVANT : {};
    node.process = await world.start(`${name} ${chain.number}, restarted in ${n}`, node.database, more);
  }

  /** Starts two more nodes, which read the whole chain, and compares everything that the four nodes say. */
  async function compareAll(chain: Chain): Promise<Pick<ChainResult, "ticks" | "situations">> {
    const { nodes, number } = chain;
    const last = await world.chain.client.getBlockNumber();
    const open = async (name: string, more: Record<string, string>) => {
      const database = await world.postgres.createDatabase(`${name}_${number}`);
      const process = await world.start(`${name} ${number}`, database, more);
      const glance = await openGlance(database);
      await glance.untilTick(last).finally(() => glance.close());
      await process.untilTick(last);
      return { process, database };
    };
    const [clean, late] = await Promise.all([open("clean", {}), open("late", RELEVANT)]);
    try {
      const agreed = await expectAgreement(nodes.all.database, nodes.all.process, withoutCrowd);
      const { lines, digests, store } = agreed;
      const history = await historyOf(clean.database);
      expect(history.lines, "lines of the late node").to.deep.equal(lines);
      expect(history.digests, "digests of the late node").to.deep.equal(digests);
      await expectRelevant(nodes.relevant.database, nodes.relevant.process, agreed);
      await expectRelevant(late.database, late.process, agreed);
      const { agreed: checked } = await deriveNode(nodes.relevant.process.url, { check: true });
      const urls = [nodes.all, nodes.relevant, clean, late].map(({ process }) => process.url);
      const { ticks, difference } = await compareNodes(urls);
      expect(difference, "the first difference between four nodes").to.equal(null);
      // Ponder makes blocks final in steps, so one node may have some more final ticks than another.
      expect(Math.abs(ticks - (checked ?? 0)), "ticks that not all nodes have as final").to.be.at.most(
        LATER_FINAL,
      );
      const [all, few] = [lines.map(parseEvent), await relevantEvents(lines)];
      return { ticks: digests.size, situations: situationsOf(all, few, store, chain.logs) };
    } finally {
      for (const { process } of [clean, late]) process.kill();
    }
  }

  function note(outcome: Pick<ChainResult, "ticks" | "situations" | "failed">): void {
    if (chain === undefined) return;
    const { logs, began } = chain;
    const result: ChainResult = {
      seed: SEED,
      logs: logs.map(({ n }) => n),
      reorgs: logs.length,
      kills: logs.reduce((sum, { kills }) => sum + kills.length, 0),
      killedLogs: logs.filter(({ kills }) => kills.length > 0).length,
      seconds: (performance.now() - began) / 1000,
      ...outcome,
    };
    sitting.push(result);
    results.add(result);
  }
});
