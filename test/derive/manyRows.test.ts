import { expect } from "chai";
import { apply } from "tallystick-derive/apply";
import type { ApplyContext } from "tallystick-derive/applyContext";
import { splitBuyerGroups } from "tallystick-derive/buyerGroups";
import { append } from "tallystick-derive/lists";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { EventLog, wallet } from "./eventLog.ts";
import { applyLater } from "./laterRows.ts";

/** How many rows of one kind each event below needs, and how often the event may wait for rows. */
const MANY = 60;
const FEW = 40;
const [seller, buyer, other, exchange, operator] = [wallet(1), wallet(2), wallet(3), wallet(4), wallet(5)];
const many = (first: number) => Array.from({ length: MANY }, (_, n) => wallet(first + n));

/** How often the last event of a log waits for rows when none is in memory. Each time it runs again from its start. */
async function waits({ events }: EventLog): Promise<number> {
  const store = new MemoryStore();
  const last = events.at(-1);
  if (last === undefined) throw new Error("The log is empty.");
  for (const event of events.slice(0, -1)) apply(store, event, { trustSignatures: true });
  return applyLater(store, last);
}

describe("a group of buyers", () => {
  it("splits also if it has more members than a function call takes arguments", () => {
    const store = new MemoryStore();
    for (let n = 0; n < 130_000; n++) append(store, `mergedGroups/${seller}`, `member ${n}`);
    let asked = 0;
    splitBuyerGroups({ store } as unknown as ApplyContext, [seller], () => {
      asked++;
      return [];
    });
    expect(asked).to.equal(130_001);
  });
});

describe("an event that concerns many rows waits for them together", () => {
  it("when an agent sold many capabilities", async () => {
    const log = new EventLog();
    for (let n = 0; n < MANY; n++) log.hire(seller, buyer, { capability: `custom.number${n}` });
    log.after(1).tick();
    expect(await waits(log)).to.be.below(FEW);
  });

  it("when an agent with many listings changes one, also if all lists of its tokens fill a page then", async () => {
    const log = new EventLog();
    for (let n = 0; n < MANY; n++) log.listing(seller, `custom.number${n}`);
    const listing = (n: number) => log.listing(seller, "custom.number0", { max_latency_ms: 2 ** (n + 11) });
    for (let n = 0; n < 15; n++) listing(n);
    expect(await waits(log)).to.be.below(FEW);
    listing(16);
    expect(await waits(log)).to.be.below(FEW);
    for (let n = 1; n < MANY; n++) log.listing(seller, `custom.number${n}`, { retired: true });
    for (let n = 1; n < MANY; n++) log.listing(seller, `custom.number${n}`, { price_usdc: "1.00" });
    expect(await waits(log), "after the agent had sets of many sizes").to.be.below(FEW);
  });

  it("when two buyers of many sellers become one buyer", async () => {
    const log = new EventLog();
    for (const it of many(100)) {
      log.listing(it, `custom.of${it}`);
      log.hire(it, buyer);
      log.hire(it, other);
    }
    for (const it of [exchange, operator]) log.listing(it, "text.summarize");
    for (const it of [buyer, other, exchange, operator]) log.transfer(wallet(9), it, 1_000_000);
    expect((await log.derive()).agents[buyer]?.cluster_size).to.equal(4);
    expect(await waits(log)).to.be.below(FEW);
  });

  it("when money comes back from the family of many sellers", async () => {
    const log = new EventLog({ hubs: [exchange] });
    log.transfer(exchange, buyer, 100_000_000);
    for (const it of many(100)) log.transfer(other, it, 1_000_000);
    for (const it of many(100)) log.after(1).listing(it, "text.translate");
    for (const it of many(100)) log.after(1).hire(it, buyer);
    log.tick();
    log.after(1).transfer(other, buyer, 1_000_000);
    log.after(1).tick();
    expect((await log.derive()).agents[wallet(100)]?.kept_usdc).to.equal("0.00");
    expect(await waits(log)).to.be.below(FEW);
  });

  it("when a hub is published late, and many hires weigh 1 again", async () => {
    const log = new EventLog({ operator });
    for (const it of [seller, ...many(100)]) {
      log.transfer(exchange, it, 1_000_000);
      log.after(1, 300).listing(it, `custom.of${it}`);
    }
    for (const it of many(100)) log.hire(seller, it);
    log.record("params", operator, { version: 2, operator, hubs: [exchange] });
    expect((await log.derive()).agents[seller]?.last_30d_hire_count).to.equal(MANY);
    expect(await waits(log)).to.be.below(FEW);
  });

  it("when a listing resembles many others", async () => {
    const log = new EventLog();
    const list = (it: (typeof seller)[]) => {
      for (const agent of it)
        for (let n = 0; n < 4; n++)
          log.listing(agent, `custom.number${n}`, { endpoint: `https://${agent}.example` });
    };
    list([...many(100), seller]);
    expect((await log.derive()).agents[seller]?.cluster_size).to.equal(MANY + 1);
    expect(await waits(log)).to.be.below(FEW);
  });

  it("when payments that came over hours get no receipt in time", async () => {
    const log = new EventLog();
    log.listing(seller, "text.translate");
    for (let n = 0; n < MANY; n++) log.after(600).transfer(buyer, seller, 250_000, { authorized: true });
    log.after(86_401).tick();
    expect((await log.derive()).agents[seller]?.unreceipted_payments).to.equal(MANY);
    expect(await waits(log)).to.be.below(FEW);
  });

  it("when the scores of many agents are due, each in another slot of the hour", async () => {
    const log = new EventLog();
    for (const it of many(100)) log.listing(it, "text.translate");
    log.tick().after(3_600).tick();
    expect(await waits(log)).to.be.below(FEW);
  });

  it("when strangers signed many receipts for an escrow before its deposit", async () => {
    const log = new EventLog();
    const escrowId = log.deposit(seller, buyer);
    const [deposited] = log.events.splice(-1);
    for (const it of many(100)) log.receipt(it, buyer, { escrow_id: escrowId });
    for (const it of many(200)) log.receipt(seller, it, { escrow_id: escrowId });
    log.receipt(seller, buyer, { escrow_id: escrowId });
    log.push({ ...deposited, log: log.lastLog + 1 });
    const { store } = await log.derive();
    expect(store.rows("escrow").get(escrowId)?.receipt).to.not.equal(null);
    expect(await waits(log)).to.be.below(FEW);
  });
});
