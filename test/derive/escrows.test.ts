import { expect } from "chai";
import { DAY, EventLog, wallet } from "./eventLog.ts";

const seller = wallet(1);
const buyer = wallet(2);
const arbiter = wallet(4);

async function hireOf(build: (log: EventLog) => void, params = {}) {
  const log = new EventLog(params);
  build(log);
  const { agents, store } = await log.derive();
  return { hire: [...store.rows("hire").values()][0], seller: agents[seller], buyer: agents[buyer], store };
}

describe("escrow hires", () => {
  it("cannot be settled if they were never deposited", async () => {
    for (const settle of ["released", "refunded", "timedOut"] as const) {
      const log = new EventLog();
      const id = log.hash();
      if (settle === "refunded") log.refunded(id, buyer);
      else log[settle](id);
      const error = await log.derive().catch((it) => it);
      expect(error).to.be.an("error").with.property("message", `The escrow ${id} was never deposited.`);
    }
  });

  it("are held from the deposit on, with everything that the deposit says", async () => {
    const log = new EventLog();
    const id = log
      .after(5)
      .deposit(seller, buyer, { arbiter, payee: wallet(5), fee: 7, feeRecipient: wallet(6) });
    const deposited = log.events.at(-1);
    const row = (await log.derive()).store.rows("escrow").get(id);
    expect(row).to.include({
      ...{ id, seller, buyer, arbiter, payee: wallet(5), amount: 500_000n, fee: 7n, feeRecipient: wallet(6) },
      ...{ provider: "swarmwage-partnered", status: "held", delivered: false, resultHash: null, feePaid: 0n },
      ...{
        depositedBlock: log.block,
        depositedTime: log.time,
        depositedLog: log.lastLog,
        deadline: log.time + 60,
      },
      ...{ toSeller: null, toBuyer: null, refundedBy: null, takenBack: false, settledTime: null, hire: null },
      ...{ nothingCame: false, unanswered: false, receipt: null },
    });
    expect(deposited).to.include({ hireId: row?.hireId, tx: row?.tx, escrow: row?.escrow });
  });

  it("succeed when released", async () => {
    const { hire, seller: agent } = await hireOf((log) => {
      const id = log.deposit(seller, buyer);
      log.delivered(id).released(id);
    });
    expect([hire?.outcome, hire?.evidence, hire?.paymentMode]).to.deep.equal([
      "success",
      "escrow",
      "platform_escrow:swarmwage-partnered",
    ]);
    expect([agent?.success_rate, agent?.refund_rate, agent?.last_24h_volume_usdc]).to.deep.equal([
      1,
      0,
      "0.50",
    ]);
  });

  it("count for a seller only after an act of the seller: a deposit alone changes nobody's reputation", async () => {
    const {
      hire,
      seller: agent,
      buyer: payer,
    } = await hireOf((log) => {
      log.refunded(log.deposit(seller, buyer), buyer);
    });
    expect([hire, agent]).to.deep.equal([undefined, undefined]);
    expect(payer?.hires_bought).to.equal(0);
  });

  it("count with a receipt that comes before the deposit, while the escrow holds the money, or after the settlement", async () => {
    for (const when of ["before", "held", "settled"]) {
      const { hire } = await hireOf((log) => {
        const escrowId = log.hash();
        if (when === "before") log.receipt(seller, buyer, { escrow_id: escrowId });
        const id = log.after(10).deposit(seller, buyer, { escrowId });
        if (when === "held") log.receipt(seller, buyer, { escrow_id: id });
        log.after(10).released(id);
        if (when === "settled") log.receipt(seller, buyer, { escrow_id: id });
      });
      expect([hire?.outcome, hire?.capability], when).to.deep.equal(["success", "text.translate"]);
    }
  });

  it("count with a receipt that waited for the deposit up to 24 hours, if the receipt is one of the first hundred", async () => {
    for (const [wait, receipts, counted] of [
      [DAY, 1, true],
      [DAY + 1, 1, false],
      [DAY, 101, true],
    ] as const) {
      const { hire, store } = await hireOf((log) => {
        const escrowId = log.hash();
        for (let n = 0; n < receipts; n++) log.receipt(seller, buyer, { escrow_id: escrowId, latency_ms: n });
        log.after(wait).tick();
        log.released(log.deposit(seller, buyer, { escrowId }));
      });
      expect([hire?.latencyMs, hire?.outcome], `${wait} s`).to.deep.equal(
        counted ? [0, "success"] : [undefined, undefined],
      );
      const statuses = [...store.rows("receipt").values()].map(({ status }) => status);
      const first = counted ? "counted" : "unmatched";
      const others = receipts === 1 ? [] : [...new Array(99).fill("duplicate"), "unmatched"];
      expect(statuses, `${wait} s, ${receipts}`).to.deep.equal([first, ...others]);
    }
  });

  it("wait for the settlement of a long escrow, also for days after the receipt", async () => {
    const { hire } = await hireOf((log) => {
      const id = log.deposit(seller, buyer);
      log.receipt(seller, buyer, { escrow_id: id });
      log.after(3 * DAY).tick();
      log.released(id);
    });
    expect(hire?.outcome).to.equal("success");
  });

  it("get capability and latency from a receipt that comes after the hire counted", async () => {
    const { hire, store } = await hireOf((log) => {
      const id = log.deposit(seller, buyer);
      log.delivered(id).released(id);
      log.receipt(seller, buyer, { escrow_id: id, latency_ms: 70, passed: false });
      log.receipt(seller, buyer, { escrow_id: id, latency_ms: 90 });
    });
    expect([hire?.capability, hire?.latencyMs, hire?.outcome]).to.deep.equal([
      "text.translate",
      70,
      "success",
    ]);
    expect([...store.rows("receipt").values()].map((it) => it.status)).to.deep.equal([
      "counted",
      "duplicate",
    ]);
  });

  it("do not accept a receipt of other sides", async () => {
    const { hire } = await hireOf((log) => {
      const id = log.deposit(seller, buyer);
      log.receipt(wallet(8), buyer, { escrow_id: id });
      log.receipt(seller, wallet(8), { escrow_id: id });
      log.released(id);
    });
    expect(hire).to.equal(undefined);
  });

  const refunds = [
    { by: buyer, outcome: "failure", dispute: true, source: "escrow" },
    { by: arbiter, outcome: "failure", dispute: true, source: "escrow" },
    { by: arbiter, outcome: "failure", dispute: true, source: "audit", params: { auditArbiters: [arbiter] } },
    { by: seller, outcome: "failure", dispute: false, source: null },
  ];
  for (const { by, outcome, dispute, source, params } of refunds) {
    it(`fail on a refund by ${by}: dispute ${dispute}, source ${source}`, async () => {
      const { hire, seller: agent } = await hireOf((log) => {
        const id = log.deposit(seller, buyer, { arbiter });
        log.delivered(id).refunded(id, by);
      }, params);
      expect([hire?.outcome, hire?.dispute, hire?.disputeSource]).to.deep.equal([outcome, dispute, source]);
      expect([agent?.success_rate, agent?.refund_rate, agent?.last_24h_volume_usdc]).to.deep.equal([
        0,
        1,
        "0.00",
      ]);
    });
  }

  it("fail on a timeout without delivery, if the seller had accepted by a receipt", async () => {
    const {
      hire,
      seller: agent,
      buyer: payer,
    } = await hireOf((log) => {
      const id = log.deposit(seller, buyer);
      log.receipt(seller, buyer, { escrow_id: id });
      log.timedOut(id);
    });
    expect([hire?.outcome, agent?.success_rate, agent?.refund_rate]).to.deep.equal(["failure", 0, 1]);
    expect(payer?.silent_timeout_rate).to.equal(0);
  });

  it("are neutral on a timeout after delivery: only the rates of refunds and of the buyer's silence change", async () => {
    const {
      hire,
      seller: agent,
      buyer: payer,
    } = await hireOf((log) => {
      const id = log.deposit(seller, buyer);
      log.delivered(id).timedOut(id, true);
    });
    expect(hire?.outcome).to.equal("neutral");
    expect([agent?.success_rate, agent?.refund_rate, agent?.last_30d_hire_count]).to.deep.equal([null, 1, 1]);
    expect(payer?.silent_timeout_rate).to.equal(1);
  });

  it("succeed on a split that gives the seller at least half, and count the seller's part", async () => {
    for (const [toSeller, outcome] of [
      [250_000, "success"],
      [249_999, "failure"],
    ] as const) {
      const {
        hire,
        seller: agent,
        buyer: payer,
      } = await hireOf((log) => {
        const id = log.deposit(seller, buyer);
        log.delivered(id).released(id, toSeller, 500_000 - toSeller);
      });
      expect([hire?.outcome, hire?.refunded]).to.deep.equal([outcome, false]);
      // With less than half for the seller, the buyer took the money back.
      expect(payer?.refund_after_delivery_rate).to.equal(outcome === "success" ? 0 : 1);
      expect(agent?.last_24h_volume_usdc).to.equal(toSeller === 250_000 ? "0.25" : "0.249999");
    }
  });

  it("succeed on a split whose part for the seller is below the smallest price of a hire, if no fee took it", async () => {
    const { hire, seller: agent } = await hireOf((log) => {
      const id = log.deposit(seller, buyer, { amount: 1_000 });
      log.delivered(id).released(id, 500, 500);
    });
    expect([hire?.outcome, hire?.price, agent?.last_24h_volume_usdc]).to.deep.equal([
      ...["success", 500n, "0.0005"],
    ]);
  });
});
