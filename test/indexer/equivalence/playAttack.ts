import { expect } from "chai";
import type { DeriveEvent } from "tallystick-derive/events";
import { camelName, fieldNames } from "tallystick-derive/publishedFields";
import type { Reputation } from "tallystick-derive/reputation";
import type { Address } from "tallystick-protocol/address";
import { type Attack, OPERATOR as PUBLISHER } from "../../derive/attacks/scene.ts";
import { EventLog } from "../../derive/eventLog.ts";
import type { IndexerProcess } from "../support/indexerProcess.ts";
import type { Wallet } from "../support/localChain.ts";
import { actor, OPERATOR } from "./actors.ts";
import { TICK_BLOCKS, type World } from "./openWorld.ts";
import { copyOf, type Progress, RealizedLog } from "./realizedLog.ts";

/**
 * The fields of an attack's result that are the same on every chain. Its first block and the names on the chain differ.
 */
const FIELDS = fieldNames.filter(
  (name) => !["registered_block", "registered_time", "cluster_id", "avg_cost_per_capability"].includes(name),
);

/**
 * The number of a wallet of an attack's log. On the chain, `APART` is added to it: no role of a generated log has such
 * a number.
 */
const numberOf = (address: Address) => Number(BigInt(address));
const APART = 1_000_000;

/** Some attacks have tens of thousands of transfers. */
const PATIENCE_MS = 1_800_000;

/**
 * Plays an attack on a chain, and compares each node's figures of the seller with the figures that are derived from the
 * log.
 *
 * @param run a number that nothing else on the chain uses
 * @param undone the expected figures of the seller while the last block is undone. The block is mined, removed by a
 * reorg, and mined again
 */
export async function playAttack(
  world: World,
  nodes: readonly IndexerProcess[],
  attack: Attack,
  { run, progress, undone }: { run: number; progress: Progress; undone?: Partial<Reputation> },
): Promise<Progress> {
  const expected = (await attack.log.derive()).agents[attack.seller];
  if (expected === undefined) throw new Error("The seller is no agent.");
  const events = [...publication(attack.log), ...attack.log.events];
  const actorOf = (n: number): Wallet =>
    n === numberOf(PUBLISHER) ? actor(0, OPERATOR) : actor(run, APART + n);
  const realized = new RealizedLog(world.chain, run, events, world.followed, progress, {
    wallets: walletsOf(events),
    actorOf,
    deployBatchBlocks: 256,
  });
  await realized.prepare();
  const final = realized.groups.length - 1;
  for (let n = 0; n < final; n++) await realized.realize(n);
  const { address } = actorOf(numberOf(attack.seller));
  const happens = async () => {
    await realized.realize(final);
    realized.progress.time = await world.mineToTick();
    await expectSaid(world, nodes, address, expected, attack.name);
  };
  if (undone !== undefined) {
    realized.progress.time = await world.mineToTick();
    const kept = copyOf(realized.progress);
    const id = await world.chain.client.snapshot();
    await happens();
    const orphaned = await world.chain.client.getBlockNumber();
    await world.chain.client.revert({ id });
    realized.progress = kept;
    while ((await world.chain.client.getBlockNumber()) <= orphaned) await realized.mineOn();
    while ((await world.chain.client.getBlockNumber()) % BigInt(TICK_BLOCKS) !== 0n) await realized.mineOn();
    await expectSaid(world, nodes, address, { ...expected, ...undone }, `${attack.name}, undone`);
  }
  await happens();
  return realized.progress;
}

/** Compares each node's figures of an agent, as of the chain's last tick, with the expected ones. */
async function expectSaid(
  { chain }: World,
  nodes: readonly IndexerProcess[],
  address: Address,
  expected: Reputation,
  what: string,
): Promise<void> {
  const last = await chain.client.getBlockNumber();
  for (const node of nodes) {
    await node.until(`the tick of block ${last}`, () => isAt(node, last), PATIENCE_MS);
    const { agent } = await node.query<{ agent: object | null }>(
      `query ($address: Address!) { agent(address: $address) { ${FIELDS.map(camelName).join(" ")} } }`,
      { address },
    );
    expect(agent, what).to.deep.equal(told(expected));
  }
}

/** The address that an attack's seller has on the chain. */
export function sellerOnChain({ seller }: Attack, run: number): Address {
  return actor(run, APART + numberOf(seller)).address;
}

async function isAt(node: IndexerProcess, block: bigint): Promise<boolean> {
  const { meta } = await node.query<{ meta: { block: number } }>("{ meta { block } }");
  return meta.block >= Number(block);
}

/** The parameters of the log's first line, as a record of the operator. A node has a first line of its own. */
function publication({ events: [first] }: EventLog): DeriveEvent[] {
  if (first?.kind !== "params") throw new Error("The log has no parameters.");
  const { hubs, feeRecipients, hubTransfers } = first.params;
  const log = new EventLog();
  log.record("params", PUBLISHER, { version: 1, operator: PUBLISHER, hubs, feeRecipients, hubTransfers });
  const [, record] = log.events;
  return record === undefined ? [] : [{ ...record, block: 0 }];
}

/** The wallets of a log, by their numbers. */
function walletsOf(events: readonly DeriveEvent[]): number[] {
  const found = new Set<number>();
  for (const [address] of JSON.stringify(events).matchAll(/0x0{24}[0-9a-f]{16}(?![0-9a-f])/g)) {
    const n = numberOf(address as Address);
    if (n > 0) found.add(n);
  }
  return [...found];
}

function told(expected: Reputation): object {
  return Object.fromEntries(FIELDS.map((name) => [camelName(name), expected[name]]));
}
