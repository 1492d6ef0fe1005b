import { expect } from "chai";
import { openContext } from "tallystick-derive/applyContext";
import type { DeriveEvent, HistoryEvent } from "tallystick-derive/events";
import { formatLeg } from "tallystick-derive/funding/legs";
import { itemsOf } from "tallystick-derive/lists";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { Place } from "tallystick-derive/place";
import { askInflow, inflowTold, WATCHED } from "tallystick-derive/relevant/inflow";
import type { Read } from "tallystick-derive/relevant/reads";
import { EventLog, wallet } from "../eventLog.ts";
import { derive, relevant } from "./agreement.ts";

const [SELLER, BUYER, OTHER, FUNDER] = [wallet(1), wallet(2), wallet(3), wallet(100)];

const inflowOf = (store: MemoryStore, id: string) => store.rows("inflow").get(id);

/** What the log says of a transfer, as a line about the past. */
function pastOf(log: EventLog, tx: string): HistoryEvent {
  const found = log.events.find((it) => it.kind === "transfer" && it.tx === tx);
  if (found?.kind !== "transfer") throw new Error(`no transfer ${tx}`);
  const { authorized: _, ...event } = found;
  return { ...event, kind: "history" };
}

/** Tells earlier transfers to the rows of a relevant log. */
async function tell(log: EventLog, lines: readonly DeriveEvent[], told: readonly HistoryEvent[]) {
  const store = await derive(lines);
  const context = await openContext(store, { kind: "tick", block: log.block, time: log.time });
  for (const event of told) inflowTold(context, event);
  return store;
}

describe("what reached a wallet before it was watched", () => {
  it("is told once: neither a repeated line nor a transfer of the log itself counts again", async () => {
    const log = new EventLog();
    const early = [log.transfer(FUNDER, SELLER, 3_000_000), log.after(1).transfer(OTHER, SELLER, 1_000_000)];
    log.after(1).listing(SELLER, "text.translate");
    const watched = log.after(1).transfer(FUNDER, SELLER, 2_000_000);
    const lines = await relevant(log);
    const row = inflowOf(await derive(lines), SELLER);
    expect(row).to.include({ incoming: 2, received: 4_000_000n });
    for (const tx of [...early, watched]) {
      const store = await tell(log, lines, [pastOf(log, tx)]);
      expect(inflowOf(store, SELLER), tx).to.deep.equal(row);
    }
  });

  it("ends where its log begins: a transfer at the place at which it is watched, or later, is not of the past", async () => {
    const log = new EventLog();
    log.transfer(FUNDER, SELLER, 3_000_000);
    log.after(60, 9).listing(SELLER, "text.translate");
    const lines = await relevant(log);
    const row = inflowOf(await derive(lines), SELLER);
    const [block, index] = [row?.watchedBlock ?? 0, row?.watchedLog ?? 0];
    const transfer = pastOf(log, log.transfer(FUNDER, SELLER, 5));
    const at = async (block: number, log_: number) =>
      inflowOf(await tell(log, lines, [{ ...transfer, block, log: log_ }]), SELLER)?.incoming;
    expect(await at(block, index)).to.equal(1);
    expect(await at(block, index + 1)).to.equal(1);
    expect(await at(block - 1, index + 1)).to.equal(2);
  });

  it("funds nobody if it paid for a hire that is counted already", async () => {
    const log = new EventLog();
    log.listing(SELLER, "text.translate");
    const tx = log.after(1).transfer(BUYER, SELLER, 5_000_000, { authorized: true });
    log.receipt(SELLER, BUYER, { tx, amount: 5_000_000 });
    const plain = log.transfer(BUYER, SELLER, 5_000_000);
    const lines = await relevant(log);
    const of = async (tx: string) => {
      const store = await derive(lines);
      expect(store.rows("hire").size).to.equal(1);
      // As if the wallet was not watched, and the payment was told late.
      store.rows("inflow").delete(SELLER);
      const context = await openContext(store, { kind: "tick", block: log.block, time: log.time });
      inflowTold(context, pastOf(log, tx));
      return inflowOf(store, SELLER)?.fundings;
    };
    expect(await of(tx)).to.equal("");
    expect(await of(plain)).to.equal(formatLeg(pastOf(log, plain), "claimable"));
  });
});

describe("the question for what reached a wallet", () => {
  const asked = async (store: MemoryStore, log: EventLog, before: Place) => {
    const reads: Read[] = [];
    const ask = (it: Read) => reads.push(it) === 0;
    const at = { kind: "tick", block: log.block, time: log.time } as const;
    askInflow(await openContext(store, at, { ask }), OTHER, before);
    return reads;
  };
  const about = (more: object) => [{ kind: "transfersTo", wallet: OTHER, ...more }];

  it("goes on where the last answer ended, and is left out if that answer goes far enough", async () => {
    const log = new EventLog({ hubTransfers: 3 });
    const [first] = await relevant(log);
    const event = pastOf(log, log.after(9, 9).transfer(FUNDER, OTHER, 5));
    const place = { block: event.block, log: event.log };
    const later = { block: event.block + 9, log: 0 };
    const store = await tell(log, [first as DeriveEvent], []);
    expect(await asked(store, log, later)).to.deep.equal(
      about({ known: 0, after: null, before: later, limit: 3 }),
    );
    const told = await tell(log, [first as DeriveEvent], [event]);
    expect(await asked(told, log, later)).to.deep.equal(
      about({ known: 1, after: place, before: later, limit: 2 }),
    );
    for (const before of [place, { block: event.block - 1, log: 9 }])
      expect(await asked(told, log, before)).to.deep.equal([]);
    const next = [1, 2].map((n) => ({ ...event, log: event.log + n }));
    const full = await tell(log, [first as DeriveEvent], [event, ...next]);
    expect(await asked(full, log, later), "three of three are known").to.deep.equal([]);
  });

  it("is left out for a watched wallet, unless its answer was cut", async () => {
    const log = new EventLog({ hubTransfers: 3 });
    log.transfer(FUNDER, OTHER, 5);
    log.after(9, 9).listing(OTHER, "text.translate");
    const { block } = log;
    const later = { block: block + 9, log: 0 };
    const store = await derive(await relevant(log));
    expect(inflowOf(store, OTHER)).to.include({ incoming: 1, watchedBlock: block });
    expect(await asked(store, log, later)).to.deep.equal([]);
    // Now there is a count, as if the answer had been cut at the first transfer.
    store.insert("transferCount", { id: `${OTHER}/in/1`, block: 1, log: 1, time: 1 });
    const reads = await asked(store, log, later);
    expect(
      reads.map((it) => it.kind === "transfersTo" && [it.known, it.limit, it.before.block]),
    ).to.deep.equal([[1, 2, block]]);
  });
});

describe("a watched wallet", () => {
  it("is watched from its first reason on, and is on the list once", async () => {
    const log = new EventLog();
    log.listing(SELLER, "text.translate");
    const { block } = log;
    log.after(60).listing(OTHER, "text.translate", { payee: SELLER, payee_signature: "0x02" });
    const store = await derive(await relevant(log));
    expect(store.rows("payee").has(`${OTHER}/${SELLER}`)).to.equal(true);
    expect(inflowOf(store, SELLER)?.watchedBlock).to.equal(block);
    expect([...itemsOf(store, WATCHED)]).to.deep.equal([SELLER, OTHER]);
  });
});

describe("the lines of one event", () => {
  it("are in the order of the chain; at one place the inflow comes first, then the payment, then the count", async () => {
    const log = new EventLog();
    const tx = log.transfer(BUYER, SELLER, 500_000, { authorized: true });
    log.after(5).receipt(SELLER, BUYER, { tx, buyer_signature: "0x02" });
    const lines = await relevant(log);
    expect(lines.slice(1, -1).map((it) => [it.kind, "authorized" in it && it.authorized])).to.deep.equal([
      ["history", false],
      ["history", true],
      ["count", false],
    ]);
  });
});
