import { expect } from "chai";
import { buyingAttacks } from "../../derive/attacks/buying.ts";
import { harmAttacks } from "../../derive/attacks/harm.ts";
import { furtherAttacks } from "../../derive/attacks/more.ts";
import { ringAttacks } from "../../derive/attacks/rings.ts";
import type { IndexerProcess } from "../support/indexerProcess.ts";
import { expectNumbered, historyOf } from "./agreement.ts";
import { openWorld, type World } from "./openWorld.ts";
import { playAttack } from "./playAttack.ts";
import type { Progress } from "./realizedLog.ts";

/** `npm run soak:attacks`: every row of the table in docs/independence.md, one after the other on one chain that one node follows. */
describe("attacks on a reputation, on a real chain and a node", function () {
  this.timeout(0);
  this.slow(600_000);

  let world: World;
  let databaseUrl: string;
  let node: IndexerProcess;
  let progress: Progress;

  before(async () => {
    world = await openWorld();
    ({ progress } = world);
    databaseUrl = await world.postgres.createDatabase("attacks");
    node = await world.start("attacks", databaseUrl);
  });
  after(() => world?.close());

  const attacks = [...buyingAttacks(), ...ringAttacks(), ...harmAttacks(), ...furtherAttacks()];
  for (const [run, attack] of attacks.entries()) {
    it(attack.name, async () => {
      progress = await playAttack(world, [node], attack, { run, progress });
    });
  }

  it("leave one log, whose lines are numbered", async () => {
    const { lines } = await historyOf(databaseUrl);
    expect(lines.length).to.be.greaterThan(attacks.length * 20);
    await expectNumbered(databaseUrl, lines);
  });
});
