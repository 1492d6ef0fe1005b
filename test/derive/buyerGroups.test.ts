import { expect } from "chai";
import { agentRow, saveAgents } from "tallystick-derive/agentRow";
import { openContext } from "tallystick-derive/applyContext";
import {
  addPurchase,
  buyerGroupOf,
  joinBuyerGroups,
  removePurchase,
  splitBuyerGroups,
} from "tallystick-derive/buyerGroups";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import { EventLog, wallet } from "./eventLog.ts";

const [seller, other, a, b, c, d] = [1, 2, 3, 4, 5, 6].map(wallet) as [
  string,
  string,
  string,
  string,
  string,
  string,
];

/** The rows of six agents that have not bought anything. */
async function open(store?: MemoryStore) {
  const log = new EventLog();
  for (let n = 1; n <= 6; n++) log.after(1, 300).listing(wallet(n), `text.task${n}`);
  const rows = store ?? (await log.derive()).store;
  const context = openContext(rows, { kind: "tick", block: log.block, time: log.time });
  return { store: rows, context, buyersOf: (it: string) => agentRow(context, it).distinctBuyers };
}

describe("buyers that count as one", () => {
  it("have the group at the end of the way; after one search each group on the way names it", async () => {
    const { store, context } = await open();
    for (const [id, parent] of [
      [a, b],
      [b, c],
      [c, d],
      [d, d],
    ] as const)
      store.insert("buyerGroup", { id, parent, members: 1 });
    const writes: string[] = [];
    const { update } = store;
    store.update = (table, id, change) => {
      writes.push(id);
      update.call(store, table, id, change as never);
    };
    expect(buyerGroupOf(context, a)).to.equal(d);
    expect([...store.rows("buyerGroup").values()].map(({ parent }) => parent)).to.deep.equal([d, d, d, d]);
    expect(writes, "the last of them named it already").to.deep.equal([a, b]);
    expect(buyerGroupOf(context, seller), "no row").to.equal(seller);
  });

  it("are one buyer of a seller until the last hire of any of them leaves the window", async () => {
    const { context, buyersOf } = await open();
    addPurchase(context, a, seller);
    addPurchase(context, a, seller);
    addPurchase(context, b, seller);
    expect(buyersOf(seller)).to.equal(2);
    joinBuyerGroups(context, a, b);
    expect(buyersOf(seller)).to.equal(1);
    addPurchase(context, b, other);
    expect(buyersOf(other)).to.equal(1);
    removePurchase(context, a, seller);
    removePurchase(context, a, seller);
    expect(buyersOf(seller)).to.equal(1);
    removePurchase(context, b, seller);
    expect([buyersOf(seller), buyersOf(other)]).to.deep.equal([0, 1]);
  });

  it("take the name of the heavier group: its addresses, and the sellers from which it ever bought", async () => {
    const { store, context } = await open();
    const groups = () =>
      [...store.rows("buyerGroup").values()].map(({ id, parent, members }) => [id, parent, members]);
    addPurchase(context, a, seller);
    joinBuyerGroups(context, b, a);
    expect(groups()).to.deep.equal([
      [b, a, 1],
      [a, a, 2],
    ]);
    // Two addresses and one seller are as much as one address and two sellers; a third seller is more.
    for (const it of [seller, other, d]) addPurchase(context, c, it);
    joinBuyerGroups(context, b, c);
    expect(groups()).to.deep.equal([
      [b, a, 1],
      [a, c, 2],
      [c, c, 3],
    ]);
    joinBuyerGroups(context, c, a);
    expect(groups(), "they are one group already").to.have.length(3);
    expect(store.rows("buyerGroup").get(c)?.members).to.equal(3);
    joinBuyerGroups(context, c, d);
    expect(store.rows("buyerGroup").get(d)).to.deep.equal({ id: d, parent: c, members: 1 });
    expect(store.rows("buyerGroup").get(c)?.members).to.equal(4);
  });

  it("get no rows for sellers from which nothing is in the window", async () => {
    const { store, context } = await open();
    for (const it of [other, c, d]) addPurchase(context, a, it);
    addPurchase(context, b, seller);
    removePurchase(context, b, seller);
    joinBuyerGroups(context, a, b);
    expect([...store.rows("purchases").keys()].filter((id) => id.endsWith(seller))).to.deep.equal([
      `${b}/${seller}`,
    ]);
    saveAgents(context);
    expect(store.rows("agent").get(a)?.sellers).to.equal(3);
  });

  it("are split into those that still share something, each with its own hires, however often they were merged", async () => {
    const { context, buyersOf } = await open();
    for (const it of [a, b, c]) addPurchase(context, it, seller);
    const split = (groupsOf: (it: string) => string[]) => splitBuyerGroups(context, [a], groupsOf);
    joinBuyerGroups(context, a, b);
    joinBuyerGroups(context, b, c);
    expect(buyersOf(seller)).to.equal(1);
    split((it) => (it === a ? [] : ["left"]));
    expect(buyersOf(seller)).to.equal(2);
    expect(buyerGroupOf(context, b)).to.equal(buyerGroupOf(context, c));
    expect(buyerGroupOf(context, a)).to.equal(a);
    // Now a joins the group of the other two, into which it was not merged before.
    for (const it of [other, d]) addPurchase(context, b, it);
    joinBuyerGroups(context, a, b);
    expect(buyersOf(seller)).to.equal(1);
    split(() => []);
    expect([seller, other, d].map(buyersOf)).to.deep.equal([3, 1, 1]);
    for (const it of [a, b, c]) removePurchase(context, it, seller);
    expect(buyersOf(seller)).to.equal(0);
  });

  it("count again with the addresses of their group after a split, and not with those before it", async () => {
    const { store, context } = await open();
    joinBuyerGroups(context, a, b);
    joinBuyerGroups(context, a, c);
    splitBuyerGroups(context, [c], (it) => (it === c ? [] : ["left"]));
    const { parent, members } = store.rows("buyerGroup").get(buyerGroupOf(context, a)) ?? {};
    expect([parent === a || parent === b, members]).to.deep.equal([true, 2]);
    expect(store.rows("buyerGroup").get(c)).to.deep.equal({ id: c, parent: c, members: 1 });
  });
});
