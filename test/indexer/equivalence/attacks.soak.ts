import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect } from "chai";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { buyingAttacks } from "../../derive/attacks/buying.ts";
import { contractAttacks } from "../../derive/attacks/contracts.ts";
import { harmAttacks } from "../../derive/attacks/harm.ts";
import { furtherAttacks } from "../../derive/attacks/more.ts";
import { ringAttacks } from "../../derive/attacks/rings.ts";
import type { IndexerProcess } from "../support/indexerProcess.ts";
import { expectNumbered, historyOf } from "./agreement.ts";
import { openWorld, type World } from "./openWorld.ts";
import { playAttack, sellerOnChain } from "./playAttack.ts";
import type { Progress } from "./realizedLog.ts";

/** The wallets of attacks have money that no transfer gave them. So the check of balances is off. */
const RELEVANT = { TRANSFERS: "relevant", BALANCE_CHECK_TICKS: "0" };
/**
 * The last block of this attack comes a day after the others. Without this block, no receipt is missing yet, and the
 * day's volume still counts.
 */
const UNRECEIPTED = "Twelve payments of 0.001 without a request";
const UNDONE = {
  ...{ receipt_coverage: 1, unreceipted_payments: 0, unreceipted_usdc: "0.00" },
  last_24h_volume_usdc: "6.00",
};

/**
 * `npm run soak:attacks` plays every row of the table in docs/independence.md, one after the other on one chain. Two
 * nodes follow the chain, and one of them reads only the transfers that matter. Here a wallet is busy after 200
 * transfers, not 10,000.
 */
describe("attacks on a reputation, on a real chain and two nodes", function () {
  this.timeout(0);
  this.slow(600_000);

  let world: World;
  let databases: { all: string; relevant: string };
  let nodes: { all: IndexerProcess; relevant: IndexerProcess };
  let progress: Progress;
  /** The number of attacks that were played. With `--grep` it is smaller than the number of all attacks. */
  let happened = 0;

  before(async () => {
    world = await openWorld();
    ({ progress } = world);
    databases = {
      all: await world.postgres.createDatabase("attacks"),
      relevant: await world.postgres.createDatabase("relevant"),
    };
    nodes = {
      all: await world.start("attacks", databases.all),
      relevant: await world.start("relevant", databases.relevant, RELEVANT),
    };
  });
  after(() => world?.close());

  const scale = { busy: 200, rounds: 50, days: 10 };
  const attacks = [
    ...buyingAttacks(scale),
    ...ringAttacks(),
    ...harmAttacks(),
    ...furtherAttacks(scale),
    ...contractAttacks(scale),
  ];
  for (const [run, attack] of attacks.entries()) {
    const isUndone = attack.name === UNRECEIPTED;
    it(`${attack.name}${isUndone ? ", with a reorg that removes its last block" : ""}`, async () => {
      const played = { run, progress, ...(isUndone && { undone: UNDONE }) };
      progress = await playAttack(world, [nodes.all, nodes.relevant], attack, played);
      happened++;
      if (isUndone) await expectAdvice(nodes.relevant, sellerOnChain(attack, run));
    });
  }

  /** Checks that the command for sellers prints the missing receipts and advice. */
  async function expectAdvice({ url }: IndexerProcess, seller: string): Promise<void> {
    const program = nodeProgram("scripts/cli.ts", ["agent", seller, "--url", url]);
    const { stdout } = await promisify(execFile)(process.execPath, program, {
      env: childEnvironment({ NO_COLOR: "1" }),
    });
    expect(stdout).to.contain(
      "12 payments of $0.012 have no receipt after 24 hours. Publish a receipt for each",
    );
  }

  it("leave one log with numbered lines, and equal digests of both nodes at every tick", async () => {
    const { lines, digests } = await historyOf(databases.all);
    expect(lines.length).to.be.greaterThan(happened * 20);
    await expectNumbered(databases.all, lines);
    expect((await historyOf(databases.relevant)).digests).to.deep.equal(digests);
  });
});
