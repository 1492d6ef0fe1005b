import { expect } from "chai";
import fc from "fast-check";
import { addFunded, type Funded, type Order } from "tallystick-derive/funding/fundedAgents";
import { MemoryStore } from "tallystick-derive/memoryStore";
import type { Entry } from "tallystick-derive/orderIndex";

async function collect(entries: ReturnType<Order["up"]>): Promise<Entry[]> {
  const all: Entry[] = [];
  for await (const entry of entries) all.push(entry);
  return all;
}

const agents = 30;
const agent = fc.nat(agents - 1).map((n) => `0x${n}`);
/** An agent is registered once, so its id gives its block. */
const blockOf = (it: string) => Math.floor(Number(it.slice(2)) / 3) * 100;
const funded = fc
  .record({ agent, time: fc.nat(20).map((n) => n * 1_000) })
  .map((it): Funded => ({ ...it, block: blockOf(it.agent) }));

describe("the agents that a wallet funded", () => {
  it("are in the order of funding times and of registration blocks, also if they are many", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(funded, { maxLength: 60 }),
        fc.nat(40).map((n) => n * 500),
        async (added, from) => {
          const store = new MemoryStore();
          const times: Entry[] = [];
          const blocks: Entry[] = [];
          const note = (entries: Entry[], it: Entry) => {
            const isNew = !entries.some(({ at, member }) => at === it.at && member === it.member);
            if (isNew) entries.push(it);
            return isNew;
          };
          for (const it of added) {
            const { byTime, byBlock, others } = addFunded(store, "0xf", it);
            const ofOthers = times.filter(({ member }) => member !== it.agent).length;
            const most = byTime === null ? 0 : ofOthers;
            expect(others).to.equal(times.length > 24 ? Number.POSITIVE_INFINITY : most);
            expect(byTime !== null).to.equal(note(times, { at: it.time, member: it.agent }));
            expect(byBlock !== null).to.equal(note(blocks, { at: it.block, member: it.agent }));
            for (const [order, entries] of [
              [byTime, times],
              [byBlock, blocks],
            ] as const) {
              if (order === null) continue;
              const low = (a: Entry, b: Entry) => a.at - b.at;
              // A block may appear several times for an agent that was funded several times. The caller reads each agent
              // once.
              const distinct = (list: Entry[]) => [
                ...new Set(list.map(({ at, member }) => `${at} ${member}`)),
              ];
              expect(distinct(await collect(order.up(from, from + 5_000)))).to.deep.equal(
                distinct(entries.filter((e) => e.at >= from && e.at <= from + 5_000).toSorted(low)),
              );
              expect(distinct(await collect(order.down(from, 0)))).to.deep.equal(
                distinct(entries.filter((e) => e.at <= from).toSorted((a, b) => low(b, a))),
              );
            }
          }
        },
      ),
      { numRuns: 100 },
    );
  });

  it("cost the next one no more when thousands were registered in one block", () => {
    const store = new MemoryStore();
    const { get } = store;
    let reads = 0;
    store.get = (table, id) => {
      reads++;
      return get.call(store, table, id) as never;
    };
    const readsOf = (n: number) => {
      reads = 0;
      const { byBlock } = addFunded(store, "0xf", { agent: `0x${n}`, time: n, block: 7 });
      const [first] = byBlock?.down(7, 0) ?? [];
      expect(first?.member).to.equal("0x0");
      return reads;
    };
    for (let n = 0; n < 3_000; n++) readsOf(n);
    expect(readsOf(3_000)).to.be.at.most(30);
  });

  it("are one row while they are few", async () => {
    const store = new MemoryStore();
    for (let n = 0; n < 24; n++) addFunded(store, "0xf", { agent: `0x${n}`, time: n, block: n });
    expect([store.rows("orderIndex").size, store.rows("list").size]).to.deep.equal([1, 0]);
    addFunded(store, "0xf", { agent: "0x24", time: 24, block: 24 });
    expect(store.rows("orderIndex").get("funded/0xf")?.value).to.equal("");
  });
});
