import { expect } from "chai";
import fc from "fast-check";
import type { DeriveEvent } from "tallystick-derive/events";
import { OrphanedError, type RetryRead } from "../../../indexer/relevant/retryRead.ts";
import type { EventLog } from "../../derive/eventLog.ts";
import { distantLogOf, generatedLog } from "../../derive/oracle/generatedLog.ts";
import { relevant } from "../../derive/relevant/agreement.ts";
import { NodeInMemory } from "./support/nodeInMemory.ts";
import { portOf } from "./support/portOf.ts";

const RUNS = Number(process.env.RELEVANT_RUNS ?? 10);
const SEED = { seed: Number(process.env.RELEVANT_SEED ?? 1) };

type Way = {
  finality: number;
  wakeUps: number;
  keep: number;
  /** For each orphaned block: after this many more reads, a read fails because its block is no longer on the chain. */
  orphaned: readonly number[];
  /** For each attempt to handle a block: the number of writes after which writes fail, or null. */
  failing: readonly (number | null)[];
};

const ways: fc.Arbitrary<Way> = fc.record({
  finality: fc.constantFrom(-100_000, -20, 0, 3, 40, 100_000),
  wakeUps: fc.constantFrom(0, 1, 5),
  keep: fc.constantFrom(1, 20, 1_000),
  orphaned: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 12 }),
  failing: fc.array(fc.option(fc.nat(60)), { maxLength: 40 }),
});

/**
 * Runs a node over a log of the whole chain. If a block is orphaned or a write fails, the node handles the block again.
 */
async function nodeOver(events: readonly DeriveEvent[], way: Way, together = 200): Promise<NodeInMemory> {
  const port = portOf(events);
  const [orphaned, failing] = [[...way.orphaned], [...way.failing]];
  let reads = 0;
  const retryRead: RetryRead = async (work) => {
    if (++reads === orphaned[0]) {
      orphaned.shift();
      reads = 0;
      throw new OrphanedError(0);
    }
    return work({ signal: new AbortController().signal, deadlineMs: 1_000 });
  };
  const node = new NodeInMemory(port, { retryRead, keep: way.keep, together });
  const { database } = node;
  const numbers = [...new Set(events.map(({ block }) => block))];
  let fork = 0;
  for (const block of numbers) {
    const own = events.filter((it) => it.block === block && it.kind !== "transfer");
    const isWakeUp = block === numbers.at(-1) || (way.wakeUps > 0 && block % way.wakeUps === 0);
    const putBack = node.save();
    for (let isDone = false; !isDone; ) {
      database.writesLeft = failing.shift() ?? Number.POSITIVE_INFINITY;
      port.final = Math.max(port.final, block - way.finality);
      try {
        for (const event of own) {
          if (event.kind === "params") await node.begin(event);
          else await node.handle(block, event, `${fork} ${block}`);
        }
        if (isWakeUp) await node.handle(block, null, `${fork} ${block}`);
        isDone = true;
      } catch (error) {
        if (error instanceof OrphanedError) fork++;
        else if (!String(error).includes("The connection is lost")) throw error;
        putBack();
      }
    }
  }
  return node;
}

describe("transfers that a node applies together", () => {
  let batches = 0;

  const isSame = async (log: EventLog, way: Way) => {
    const node = await nodeOver(log.events, way);
    batches += node.batches;
    const lines = [...node.database.log].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, json]) => json);
    expect(lines).to.deep.equal((await relevant(log)).map((it) => JSON.stringify(it)));
    const single = await nodeOver(log.events, { ...way, orphaned: [], failing: [] }, 1);
    const { tallies, market, moments } = node.written;
    expect(market).to.deep.equal(single.written.market);
    expect(moments).to.deep.equal(single.written.moments);
    for (const [id, tally] of tallies) expect(tally, id).to.deep.equal(single.written.tallies.get(id));
  };

  it("give the same lines and figures as single transfers, also after orphaned blocks and lost connections", async () => {
    const log = distantLogOf({ minLength: 5, maxLength: 40 }, 5);
    await fc.assert(fc.asyncProperty(log, ways, isSame), { numRuns: RUNS, ...SEED });
    await fc.assert(fc.asyncProperty(generatedLog, ways, isSame), { numRuns: RUNS, ...SEED });
    expect(batches).to.be.above(0);
  }).timeout(0);
});
