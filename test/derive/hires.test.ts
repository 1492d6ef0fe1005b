import { expect } from "chai";
import { apply } from "tallystick-derive/apply";
import type { DeriveEvent, RecordEvent } from "tallystick-derive/events";
import { MemoryStore } from "tallystick-derive/memoryStore";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { DAY, EventLog, HOUR, START, wallet } from "./eventLog.ts";
import { oracle } from "./oracle/oracle.ts";
import { expectSame } from "./relevant/agreement.ts";

const seller = wallet(1);
const buyer = wallet(2);
const other = wallet(3);

async function sellerOf(log: EventLog) {
  const { agents } = await log.derive();
  return agents[seller];
}

describe("direct hires", () => {
  it("count when an authorized payment and a receipt agree, in any order", async () => {
    const receiptLast = new EventLog();
    receiptLast.hire(seller, buyer);
    const receiptFirst = new EventLog();
    const tx = receiptFirst.hash();
    receiptFirst.receipt(seller, buyer, { tx });
    receiptFirst.after(HOUR).transfer(buyer, seller, 500_000, { authorized: true, tx });

    for (const log of [receiptLast, receiptFirst]) {
      const agent = await sellerOf(log);
      expect(agent?.last_30d_hire_count).to.equal(1);
      expect(agent?.success_rate).to.equal(1);
      expect(agent?.last_24h_volume_usdc).to.equal("0.50");
    }
  });

  it("need a payment of exactly the amount and between the sides that the receipt names", async () => {
    for (const change of [{ amount: 499_999 }, { buyer: other }, { payee: other }]) {
      const log = new EventLog();
      const tx = log.transfer(buyer, seller, 500_000, { authorized: true });
      log.receipt(seller, buyer, { tx, ...change });
      expect(await sellerOf(log), JSON.stringify(change)).to.equal(undefined);
    }
  });

  it("need a receipt of the log's chain; if the log names no chain, a receipt of any", async () => {
    for (const [network, chainId, counts] of [
      ["base", 8_453, true],
      ["eip155:8453", 8_453, true],
      ["eip155:84532", 8_453, false],
      ["solana", 8_453, false],
      ["eip155:84532", undefined, true],
    ] as const) {
      const log = new EventLog({}, { ...(chainId !== undefined && { chainId }) });
      log.hire(seller, buyer, { network });
      const { store } = await log.derive();
      const [{ status, reason } = {}] = store.rows("record").values();
      expect([status, reason], network).to.deep.equal(
        counts ? ["valid", null] : ["invalid", "body.network must be this chain, eip155:8453"],
      );
      expect(store.rows("receipt").size, network).to.equal(counts ? 1 : 0);
    }
  });

  it("need a payment between exactly these sides, also if other addresses end with the same sixteen digits", async () => {
    // A payment is found by these digits. Somebody who tries 2^32 keys finds two addresses with the same digits.
    const near = (address: Address): Address => `0x${"e".repeat(24)}${address.slice(-16)}`;
    const sides: [from: Address, to: Address][] = [
      [near(buyer), seller],
      [buyer, near(seller)],
      [near(buyer), near(seller)],
    ];
    for (const [from, to] of sides) {
      const receiptLast = new EventLog();
      const tx = receiptLast.transfer(from, to, 500_000, { authorized: true });
      receiptLast.receipt(seller, buyer, { tx });
      expect(await sellerOf(receiptLast), "the receipt is last").to.equal(undefined);

      const receiptFirst = new EventLog();
      receiptFirst.receipt(seller, buyer, { tx });
      receiptFirst.after(HOUR).transfer(from, to, 500_000, { authorized: true, tx });
      expect(await sellerOf(receiptFirst), "the receipt is first").to.equal(undefined);

      for (const log of [receiptLast, receiptFirst]) {
        log.transfer(buyer, seller, 500_000, { authorized: true, tx });
        expect((await sellerOf(log))?.last_30d_hire_count, "the real payment").to.equal(1);
      }
    }
  });

  it("are stored with everything that is known of them", async () => {
    const log = new EventLog();
    log.after(60);
    const tx = log.transfer(buyer, seller, 500_000, { authorized: true });
    const receipt = log.after(60).receipt(seller, buyer, { tx, hire_id: "one", latency_ms: 9 });
    const said = log.events.at(-1) as RecordEvent;
    const { store } = await log.derive();
    expect([...store.rows("hire").values()]).to.deep.equal([
      {
        ...{ id: `${tx}-0`, seller, buyer, hireId: "one", capability: "text.translate", tx, receipt },
        ...{ paymentMode: "direct", price: 500_000n, amount: 500_000n, outcome: "success", refunded: false },
        ...{ dispute: false, disputeSource: null, silentTimeout: false, refundAfterDelivery: false },
        ...{ evidence: "seller", clusterSize: 1, leavesDay: START + 60 + DAY, latencyMs: 9 },
        ...{ time: START + 60, escrowId: null, buyerFamily: buyer, payeeAccount: buyer, brought: 0n },
        ...{ feePaid: 0n, inWindow: true, isAuditable: false, isCanary: false },
        ...{ countedBlock: said.block, countedLog: said.log, countedSeq: said.seq },
      },
    ]);
  });

  it("need the buyer's signature when the transfer was not authorized by EIP-3009", async () => {
    const log = new EventLog();
    log.receipt(seller, buyer, { tx: log.transfer(buyer, seller, 500_000) });
    expect(await sellerOf(log)).to.equal(undefined);
    log.receipt(seller, buyer, { tx: log.transfer(buyer, seller, 500_000), buyer_signature: "0x02" });
    expect((await sellerOf(log))?.last_30d_hire_count_raw).to.equal(1);
  });

  it("use each log of a transfer once, also when one transaction has several equal logs", async () => {
    const log = new EventLog();
    const tx = log.transfer(buyer, seller, 500_000, { authorized: true });
    log.transfer(buyer, seller, 500_000, { authorized: true, tx });
    for (let n = 0; n < 3; n++) log.receipt(seller, buyer, { tx });
    expect((await sellerOf(log))?.last_30d_hire_count_raw).to.equal(2);
  });

  it("find each of many equal logs in one transaction, in order", async () => {
    const log = new EventLog();
    const tx = log.hash();
    for (let n = 0; n < 37; n++) log.transfer(buyer, seller, 500_000, { authorized: true, tx });
    const { store } = await log.derive();
    const numbers = [...store.rows("payment").values()].map(({ id, log: at }) => [
      Number(id.split("/").at(-1)),
      at,
    ]);
    expect(numbers).to.deep.equal(numbers.map((_, n) => [n, 1 + n]));
    for (let n = 0; n < 38; n++) log.receipt(seller, buyer, { tx });
    expect((await log.derive()).agents[seller]?.last_30d_hire_count).to.equal(37);
  });

  it("use at most a hundred equal transfers of one transaction, and at most a hundred receipts wait for a payment", async () => {
    const log = new EventLog();
    const [tx, later] = [log.hash(), log.hash()];
    for (let n = 0; n < 101; n++) log.transfer(buyer, seller, 500_000, { authorized: true, tx });
    for (let n = 0; n < 101; n++) log.receipt(seller, buyer, { tx });
    expect((await sellerOf(log))?.last_30d_hire_count).to.equal(100);
    for (let n = 0; n < 101; n++) log.receipt(seller, buyer, { tx: later });
    log.transfer(buyer, seller, 500_000, { authorized: true, tx: later });
    const { agents, store } = await log.derive();
    expect(agents[seller]?.last_30d_hire_count).to.equal(101);
    const statuses = [...store.rows("receipt").values()].map((it) => it.status);
    expect(statuses.slice(99, 102)).to.deep.equal(["counted", "pending", "counted"]);
    expect(statuses.slice(200)).to.deep.equal(["pending", "unmatched"]);
  });

  it("do not wait for a payment to a payee that has not agreed when the receipt comes", async () => {
    const log = new EventLog();
    const tx = log.hash();
    const receipt = { tx, payee: other };
    const consent = { payee: other, payee_signature: "0x02" };
    log.receipt(seller, buyer, receipt);
    log.after(1).listing(seller, "text.translate", consent);
    log.after(1).receipt(seller, buyer, receipt);
    log.after(1).transfer(buyer, other, 500_000, { authorized: true, tx });
    const { store } = await log.derive();
    expect([...store.rows("receipt").values()].map((it) => it.status)).to.deep.equal([
      "unmatched",
      "counted",
    ]);
  });

  it("use the log that the receipt names", async () => {
    const log = new EventLog();
    const tx = log.transfer(buyer, seller, 500_000, { authorized: true });
    log.transfer(buyer, seller, 500_000, { authorized: true, tx });
    log.receipt(seller, buyer, { tx, log_index: log.lastLog });
    const { store } = await log.derive();
    expect([...store.rows("hire").keys()]).to.deep.equal([`${tx}-2`]);
  });

  it("count the same hire_id of an agent once", async () => {
    const log = new EventLog();
    log.hire(seller, buyer, { hire_id: "same" });
    log.hire(seller, buyer, { hire_id: "same" });
    const { agents, store } = await log.derive();
    expect(agents[seller]?.last_30d_hire_count_raw).to.equal(1);
    expect([...store.rows("receipt").values()].map((it) => it.status)).to.deep.equal([
      "counted",
      "duplicate",
    ]);
  });

  it("are unmatched from the first tick that is more than 24 hours after the receipt", async () => {
    for (const [wait, counted] of [
      [DAY, true],
      [DAY + 1, false],
    ] as const) {
      const log = new EventLog();
      const tx = log.hash();
      log.receipt(seller, buyer, { tx });
      log.after(wait).tick();
      log.transfer(buyer, seller, 500_000, { authorized: true, tx });
      expect((await sellerOf(log)) !== undefined, `after ${wait} s`).to.equal(counted);
    }
  });

  it("have the outcome that the buyer signed, else the outcome that the seller gave", async () => {
    const log = new EventLog();
    log.hire(seller, buyer, { passed: false });
    log.hire(seller, buyer, { buyer_signature: "0x02" });
    const { store } = await log.derive();
    expect([...store.rows("hire").values()].map((it) => [it.outcome, it.evidence])).to.deep.equal([
      ["failure", "seller"],
      ["success", "buyer"],
    ]);
  });

  it("are a failure in the trust score's day of the seller too, if the buyer measured one later", async () => {
    const log = new EventLog();
    const day = Math.floor(log.time / DAY);
    const receipt = log.hire(seller, buyer);
    const outcomes = async () => (await log.derive()).store.rows("steward").get(seller)?.outcomes;
    expect(await outcomes()).to.equal(`${day}:1:0`);
    log.after(2 * DAY).record("telemetry", buyer, { receipt, verification: { all_passed: false } });
    expect(await outcomes()).to.equal(`${day}:0:1`);
  });

  it("accept another payee only by that payee's consent in a listing from before the payment", async () => {
    const payee = wallet(9);
    const pay = (log: EventLog) =>
      log.receipt(seller, buyer, { tx: log.transfer(buyer, payee, 500_000, { authorized: true }), payee });
    const consent = { payee, payee_signature: "0x02" };

    const before = new EventLog();
    before.listing(seller, "text.translate", consent);
    before.after(1);
    pay(before);
    expect((await sellerOf(before))?.last_30d_hire_count_raw).to.equal(1);

    const after = new EventLog();
    pay(after);
    after.after(1).listing(seller, "text.translate", consent);
    expect((await sellerOf(after))?.last_30d_hire_count_raw).to.equal(0);
  });

  describe("with a latency", () => {
    const latencyOf = async (log: EventLog) => {
      await expectSame(log);
      log.after(1).tick();
      const shown = (await log.derive()).agents[seller]?.avg_latency_ms;
      expect(oracle(log.events).agents[seller]?.avg_latency_ms).to.equal(shown);
      return shown;
    };

    it("use the buyer's figure if it is at most an hour longer than the time since the payment, else the seller's; a late report makes it no longer", async () => {
      for (const how of ["direct", "escrow"]) {
        for (const [late, latency_ms, expected] of [
          [0, 3_660_000, 3_660_000],
          [0, 3_660_001, 800],
          [0, Number.MAX_SAFE_INTEGER, 800],
          [10 * DAY, 3_660_000, 3_660_000],
          [10 * DAY, 3_660_001, 3_660_000],
          [10 * DAY, 10 * DAY * 1_000, 3_660_000],
          [10 * DAY, Number.MAX_SAFE_INTEGER, 800],
        ] as const) {
          const log = new EventLog();
          const escrow_id = log.hash();
          const isDirect = how === "direct";
          const tx = isDirect ? log.transfer(buyer, seller, 500_000, { authorized: true }) : log.hash();
          if (!isDirect) log.deposit(seller, buyer, { escrowId: escrow_id, deadline: log.time + DAY });
          log.after(30);
          if (!isDirect) log.released(escrow_id);
          log.after(30);
          const paid = isDirect ? { tx } : { escrow_id };
          const receipt = log.receipt(seller, buyer, { latency_ms: 800, ...paid });
          log.after(late).record("telemetry", buyer, { receipt, latency_ms });
          expect(await latencyOf(log), `${how}, ${late} s, ${latency_ms} ms`).to.equal(expected);
        }
      }
    });

    it("have none if the seller's figure is longer too, also if the receipt comes before the payment", async () => {
      for (const [latency_ms, expected] of [
        [3_600_000, 3_600_000],
        [3_600_001, null],
      ] as const) {
        const log = new EventLog();
        const tx = log.hash();
        log.receipt(seller, buyer, { tx, latency_ms });
        log.after(HOUR).transfer(buyer, seller, 500_000, { authorized: true, tx });
        expect(await latencyOf(log)).to.equal(expected);
      }
    });

    it("still say that a result came if the buyer's figure is too long", async () => {
      const log = new EventLog();
      const id = log.deposit(seller, buyer);
      const receipt = log.receipt(seller, buyer, { escrow_id: id });
      const verification = { all_passed: false };
      log.record("telemetry", buyer, { receipt, latency_ms: Number.MAX_SAFE_INTEGER, verification });
      log.delivered(id).refunded(id, buyer);
      const { store } = await log.after(1).tick().derive();
      expect(store.rows("escrow").get(id)?.nothingCame).to.equal(false);
    });
  });

  describe("of an agent whose payee is paid for others too", () => {
    const payee = wallet(9);
    const agree = (log: EventLog, agent: Address) =>
      log.listing(agent, "text.translate", { payee, payee_signature: "0x02" });
    const signed = { payee, buyer_signature: "0x02" };
    /** A payment of the payee. Receipts with this transaction may come before it. */
    const pay = (log: EventLog, tx: Hex) => log.transfer(buyer, payee, 500_000, { authorized: true, tx });
    /** Gives all records that `add` adds the place of the first one, as records of one anchor have it. */
    const inOneAnchor = (log: EventLog, add: () => void) => {
      const before = log.events.length;
      add();
      const log0 = (log.events[before] as RecordEvent).log;
      for (const event of log.events.slice(before)) Object.assign(event, { log: log0 });
    };
    const counted = async (log: EventLog) => {
      await expectSame(log);
      const { agents } = await log.after(1).tick().derive();
      const { agents: expected } = oracle(log.events);
      return [seller, other].map((it) => {
        expect(expected[it]?.last_30d_hire_count_raw).to.equal(agents[it]?.last_30d_hire_count_raw);
        return agents[it]?.last_30d_hire_count_raw;
      });
    };

    it("count only if the buyer signed the receipt, so that no other agent takes the hire", async () => {
      for (const order of ["receipts first", "payment first"]) {
        const log = new EventLog();
        for (const agent of [seller, other]) agree(log, agent);
        log.after(1);
        const tx = log.hash();
        if (order === "payment first") pay(log, tx);
        log.receipt(other, buyer, { tx, payee });
        log.receipt(seller, buyer, { tx, payee });
        log.receipt(seller, buyer, { tx, ...signed });
        if (order === "receipts first") pay(log, tx);
        expect(await counted(log), order).to.deep.equal([1, 0]);
      }
    });

    it("count without the buyer's signature if they were paid before the payee agreed to the other agent", async () => {
      const log = new EventLog();
      agree(log, seller);
      const tx = log.after(1).hash();
      pay(log, tx);
      agree(log.after(1), other);
      log.receipt(seller, buyer, { tx, payee });
      expect(await counted(log)).to.deep.equal([1, 0]);
    });

    it("count only with the buyer's signature also if the payee itself sells", async () => {
      for (const [said, expected] of [
        [{ payee }, 0],
        [signed, 1],
      ] as const) {
        const log = new EventLog();
        agree(log, seller);
        log.listing(payee, "text.translate");
        const tx = log.after(1).hash();
        pay(log, tx);
        log.receipt(seller, buyer, { tx, ...said });
        log.hire(payee, buyer);
        expect((await counted(log))[0]).to.equal(expected);
      }
    });

    it("wait for their payment, however many receipts another agent signs first", async () => {
      const log = new EventLog();
      for (const agent of [seller, other]) agree(log, agent);
      const tx = log.after(1).hash();
      for (let n = 0; n < 100; n++) log.receipt(other, buyer, { tx, payee });
      log.receipt(seller, buyer, { tx, ...signed });
      pay(log, tx);
      expect(await counted(log)).to.deep.equal([1, 0]);
    });

    it("wait for their payment, also if those receipts are in one anchor with the consent to the other agent", async () => {
      const log = new EventLog();
      agree(log, seller);
      const tx = log.after(1).hash();
      inOneAnchor(log, () => {
        agree(log, other);
        for (let n = 0; n < 100; n++) log.receipt(other, buyer, { tx, payee });
      });
      log.receipt(seller, buyer, { tx, ...signed });
      pay(log, tx);
      expect(await counted(log)).to.deep.equal([1, 0]);
    });

    it("count if the consent and the receipt are in one anchor, before the payment", async () => {
      const log = new EventLog();
      const tx = log.hash();
      inOneAnchor(log, () => {
        agree(log, seller);
        log.receipt(seller, buyer, { tx, payee });
      });
      pay(log.after(1), tx);
      expect(await counted(log)).to.deep.equal([1, undefined]);
    });
  });

  it("count once when two ledgers have the same entry, also if the parameters do not allow the entry in the ledger that comes first", async () => {
    const [own, copy] = [`0x${"1e".repeat(32)}`, `0x${"2e".repeat(32)}`] as const;
    for (const allowed of [["receipt"], ["listing"]]) {
      const log = new EventLog({ ledgers: { [own]: ["receipt"], [copy]: allowed } });
      log.hire(seller, buyer);
      const original = log.events.pop() as RecordEvent;
      log.events.push({ ...original, ledger: copy }, { ...original, log: original.log + 1 });
      const { agents, store } = await log.derive();
      expect(agents[seller]?.last_30d_hire_count).to.equal(1);
      expect([...store.rows("record").values()].map((it) => it.status).sort()).to.deep.equal([
        "invalid",
        "valid",
      ]);
    }
  });

  it("never count between a wallet and itself", async () => {
    const log = new EventLog();
    log.receipt(seller, seller, { tx: log.transfer(seller, seller, 500_000, { authorized: true }) });
    const { agents, store } = await log.derive();
    expect(agents).to.deep.equal({});
    expect([...store.rows("record").values()][0]?.reason).to.match(/hiring oneself/);
  });

  it("never reconcile with transfers from hubs", async () => {
    const log = new EventLog({ hubs: [buyer] });
    log.hire(seller, buyer);
    expect(await sellerOf(log)).to.equal(undefined);
  });
});

describe("free hires", () => {
  it("need the buyer's signature, are shown once for each buyer and seller, and count nowhere", async () => {
    const log = new EventLog();
    log.listing(seller, "text.translate");
    const free = { amount: 0, buyer_signature: "0x02" };
    log.receipt(seller, buyer, { amount: 0 });
    log.receipt(seller, buyer, free);
    log.receipt(seller, buyer, free);
    log.receipt(seller, other, free);
    const agent = await sellerOf(log);
    expect(agent?.free_hires).to.equal(2);
    expect(agent?.last_30d_hire_count).to.equal(0);
    expect(agent?.success_rate).to.equal(null);
  });

  it("are hires below minHireAtomic", async () => {
    const log = new EventLog();
    log.hire(seller, buyer, { amount: 999, buyer_signature: "0x02" });
    expect(await sellerOf(log)).to.equal(undefined);
    log.hire(seller, buyer, { amount: 1000 });
    const agent = await sellerOf(log);
    expect([agent?.free_hires, agent?.last_30d_hire_count]).to.deep.equal([1, 1]);
  });
});

describe("windows", () => {
  it("include a hire while its time is after asOf minus 30 days, and its price for 24 hours", async () => {
    for (const [age, count, volume] of [
      [DAY - 1, 1, "0.50"],
      [DAY, 1, "0.00"],
      [30 * DAY - 1, 1, "0.00"],
      [30 * DAY, 0, "0.00"],
    ] as const) {
      const log = new EventLog();
      log.hire(seller, buyer);
      log.after(age).tick();
      const agent = await sellerOf(log);
      expect([agent?.last_30d_hire_count, agent?.last_24h_volume_usdc], `${age} s`).to.deep.equal([
        count,
        volume,
      ]);
      expect(agent?.success_rate).to.equal(count === 1 ? 1 : null);
      expect(agent?.distinct_buyers).to.equal(count);
    }
  });

  it("skip years without any due event in a few steps", async () => {
    const log = new EventLog();
    log.time = 0;
    log.events.splice(0, 1, { ...(log.events[0] as DeriveEvent), time: 0 } as DeriveEvent);
    log.tick();
    log.after(START).hire(seller, buyer);
    log.after(40 * 365 * DAY).tick();
    const store = new MemoryStore();
    let looks = 0;
    const get = store.get.bind(store);
    store.get = (table, id) => {
      looks++;
      return get(table, id);
    };
    for (const event of log.events) apply(store, event, { trustSignatures: true });
    expect(store.rows("hire").values().next().value).to.include({ inWindow: false });
    expect(looks).to.be.lessThan(400);
  });

  it("move at ticks only", async () => {
    const log = new EventLog();
    log.hire(seller, buyer);
    log.after(40 * DAY).transfer(buyer, other, 1);
    expect((await sellerOf(log))?.last_30d_hire_count).to.equal(1);
  });
});
