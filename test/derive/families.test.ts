import { expect } from "chai";
import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import { DAY, ESCROW, EventLog, wallet } from "./eventLog.ts";
import { oracle } from "./oracle/oracle.ts";
import { expectSame } from "./relevant/agreement.ts";

const [S, B, F, G] = [wallet(1), wallet(2), wallet(50), wallet(51)];

/** The published fields of a seller. They must be equal in both forms of the log and in the oracle. */
async function figures(log: EventLog, seller = S) {
  await expectSame(log);
  const { agents, store } = await log.derive();
  const expected = oracle(log.events).agents[seller];
  const shown = agents[seller];
  for (const name of ["independent_buyers", "established_buyers", "kept_usdc", "receipt_coverage"] as const)
    expect(shown?.[name], name).to.equal(expected?.[name]);
  if (shown === undefined) throw new Error("no seller");
  return { ...shown, family: (it: string) => store.rows("familyMember").get(it)?.family };
}

/** The family of a buyer with this funding, after its first purchase. */
async function familyOf(fund: (log: EventLog) => unknown, params = {}): Promise<string | undefined> {
  const log = new EventLog(params);
  fund(log);
  log.after(1).hire(S, B);
  log.after(1).tick();
  return (await figures(log)).family(B);
}

describe("funding families, at the boundaries", () => {
  it("of a wallet are fixed by the money that came before the wallet's first own transfer of value", async () => {
    expect(await familyOf((log) => [log.transfer(F, B, 5), log.transfer(B, G, 1)])).to.equal(F);
    expect(await familyOf((log) => [log.transfer(B, G, 1), log.transfer(F, B, 5)])).to.equal(B);
  });

  it("are not fixed by a registration or by the consent of a payee, because both are free", async () => {
    expect(await familyOf((log) => [log.transfer(F, B, 5), log.listing(B, "x.y")])).to.equal(F);
    expect(await familyOf((log) => [log.listing(B, "x.y"), log.transfer(F, B, 5)])).to.equal(F);
    const consent = (log: EventLog) => [
      log.listing(wallet(9), "x.y", { payee: B, payee_signature: "0x02" }),
      log.transfer(F, B, 5),
    ];
    expect(await familyOf(consent)).to.equal(F);
  });

  it("of a seller are fixed by its registration, if it has not spent before", async () => {
    const log = (acts: (it: EventLog) => unknown) => {
      const it = new EventLog();
      acts(it);
      it.transfer(F, B, 5_000_000);
      it.after(1).hire(S, B);
      return it.after(1).tick();
    };
    const own = async (acts: (it: EventLog) => unknown) => (await figures(log(acts))).independent_buyers;
    expect(await own((it) => [it.transfer(F, S, 5), it.listing(S, "x.y")])).to.equal(0);
    expect(await own((it) => [it.listing(S, "x.y"), it.transfer(F, S, 5)])).to.equal(1);
    expect(await own((it) => [it.transfer(F, S, 5), it.transfer(S, G, 1), it.listing(S, "x.y")])).to.equal(0);
    expect(await own((it) => [it.transfer(G, S, 5), it.transfer(S, G, 1), it.transfer(F, S, 9)])).to.equal(1);
    // Payments of the seller's buyers change nothing, also after the seller spends them.
    const paid = log((it) => it.listing(S, "x.y"));
    paid.transfer(S, G, 400_000);
    paid.after(1).hire(S, B);
    expect((await figures(paid.after(1).tick())).independent_buyers).to.equal(1);
  });

  it("count money that came through the seller as the seller's own", async () => {
    const through = async (way: number[]) => {
      const log = new EventLog();
      log.listing(S, "x.y");
      log.transfer(F, S, 5_000_000);
      const wallets = [S, ...way.map(wallet), B];
      for (const [n, to] of wallets.slice(1).entries()) log.transfer(wallets[n] ?? S, to, 1_000_000);
      log.after(1).hire(S, B);
      return (await figures(log.after(1).tick())).independent_buyers;
    };
    expect(await through([])).to.equal(0);
    expect(await through([60, 61])).to.equal(0);
    const before = new EventLog();
    before.listing(S, "x.y");
    before.transfer(F, B, 1_000_001);
    before.transfer(S, B, 1_000_000);
    before.after(1).hire(S, B);
    expect((await figures(before.after(1).tick())).independent_buyers).to.equal(1);
  });

  it("ignore transfers of nothing", async () => {
    const empty = (log: EventLog) => [log.transfer(B, G, 0), log.transfer(F, B, 1)];
    expect(await familyOf(empty)).to.equal(F);
    expect(await familyOf((log) => log.transfer(F, B, 0))).to.equal(B);
  });

  it("follow the largest inflow, and the first of equal ones", async () => {
    expect(await familyOf((log) => [log.transfer(F, B, 5), log.transfer(G, B, 5)])).to.equal(F);
    expect(await familyOf((log) => [log.transfer(F, B, 5), log.transfer(G, B, 6)])).to.equal(G);
  });

  it("follow money for sixteen steps", async () => {
    const chain = (steps: number) => (log: EventLog) => {
      for (let n = 0; n < steps; n++) log.transfer(wallet(100 + n), n + 1 === steps ? B : wallet(101 + n), 9);
    };
    expect(await familyOf(chain(16))).to.equal(wallet(100));
    expect(await familyOf(chain(17))).to.equal("deep");
  });

  it("do not reach back over the zero address, a hub or a busy sender, from the position on at which the wallet is one", async () => {
    expect(await familyOf((log) => log.transfer(F, B, 5), { hubs: [F] })).to.equal(B);
    const later = (log: EventLog) => {
      log.transfer(F, B, 5);
      log.record("params", wallet(9), { version: 2, operator: wallet(9), hubs: [F] });
    };
    expect(await familyOf(later, { operator: wallet(9) })).to.equal(F);
    const late = (sent: number) => (log: EventLog) => {
      for (let n = 0; n < sent; n++) log.transfer(F, wallet(200 + n), 1);
      log.transfer(F, B, 5);
    };
    expect(await familyOf(late(3), { hubTransfers: 4 })).to.equal(F);
    expect(await familyOf(late(4), { hubTransfers: 4 })).to.equal(B);
    expect(await familyOf((log) => log.transfer(ZERO_ADDRESS, B, 5))).to.equal(B);
    const both = (log: EventLog) => [log.transfer(ZERO_ADDRESS, B, 5), log.transfer(F, B, 6)];
    expect(await familyOf(both)).to.equal(F);
  });

  it("count a payout of an escrow as its buyer's money, and ignore a withdrawal", async () => {
    const settle = (value: number) => (log: EventLog) => {
      const id = log.deposit(wallet(8), F, { payee: B });
      log.released(id).transfer(ESCROW, B, value);
    };
    expect(await familyOf(settle(500_000))).to.equal(F);
    expect(await familyOf(settle(499_999))).to.equal(B);
  });

  it("are established after 30 days, with purchases from three other families of sellers", async () => {
    const log = (seconds: number, sellers: number, own = false) => {
      const it = new EventLog();
      it.transfer(F, B, 5_000_000);
      if (own) it.transfer(F, wallet(3), 5);
      for (let n = 0; n < 3; n++) it.listing(wallet(1 + (n === 0 ? 0 : n + 1)), "x.y");
      it.after(seconds - 100);
      for (let n = 0; n < sellers; n++) it.hire(wallet(n === 0 ? 1 : n + 2), B);
      return it.after(100).tick();
    };
    expect((await figures(log(30 * DAY, 3))).established_buyers).to.equal(1);
    expect((await figures(log(30 * DAY - 1, 3))).established_buyers).to.equal(0);
    expect((await figures(log(30 * DAY, 2))).established_buyers).to.equal(0);
    expect((await figures(log(30 * DAY, 3, true))).established_buyers).to.equal(0);
  });

  it("count money as returned if it is at least 100,000 units, and only within the window", async () => {
    const log = (value: number, seconds: number) => {
      const it = new EventLog();
      it.transfer(ZERO_ADDRESS, F, 5_000_000);
      it.transfer(F, B, 5_000_000);
      it.listing(S, "x.y");
      it.after(60).transfer(S, F, value);
      it.after(seconds - 1).hire(S, B);
      return it.after(1).tick();
    };
    expect((await figures(log(100_000, 60))).kept_usdc).to.equal("0.40");
    expect((await figures(log(99_999, 60))).kept_usdc).to.equal("0.50");
    expect((await figures(log(100_000, 30 * DAY - 1))).kept_usdc).to.equal("0.40");
    expect((await figures(log(100_000, 30 * DAY))).kept_usdc).to.equal("0.50");
  });

  it("do not count money from outside as returned, and count each unit once", async () => {
    const kept = async (fund: (log: EventLog) => unknown, hires = 1) => {
      const log = new EventLog({ hubs: [wallet(90)] });
      log.listing(S, "x.y");
      fund(log);
      for (let n = 0; n < hires; n++) log.after(1).hire(S, B);
      return (await figures(log.after(1).tick())).kept_usdc;
    };
    const HUB = wallet(90);
    expect(await kept((log) => log.transfer(HUB, B, 700_000), 2)).to.equal("0.70");
    expect(await kept((log) => log.transfer(F, B, 700_000), 2)).to.equal("0.00");
    expect(await kept((log) => log.transfer(HUB, B, 100_000))).to.equal("0.10");
    expect(await kept((log) => log.transfer(HUB, B, 99_999))).to.equal("0.00");
    // For a wallet that funded the buyer, the lower of two sums counts: what it passed on, and what it got from
    // outside.
    const lent = (brought: number, passed: number) => (log: EventLog) => [
      log.transfer(HUB, F, brought),
      log.transfer(F, G, passed),
      log.transfer(G, B, passed),
    ];
    expect(await kept(lent(5_000_000, 300_000))).to.equal("0.30");
    expect(await kept(lent(300_000, 5_000_000))).to.equal("0.30");
    expect(await kept(lent(5_000_000, 300_000), 2)).to.equal("0.30");
    // Money that may belong to another owner does not count as new money, whoever sent it.
    const gift = (log: EventLog) => [
      log.transfer(HUB, F, 5_000_000),
      log.transfer(G, B, 1_000_000),
      log.transfer(F, B, 900_000),
    ];
    expect(await kept(gift)).to.equal("0.00");
  });

  it("check sixteen transfers for a hire, and continue with the following ones at the next hire", async () => {
    const kept = async (others: number, hires: number) => {
      const log = new EventLog();
      log.listing(S, "x.y");
      for (let n = 0; n < others; n++) log.transfer(F, B, 100_000);
      log.transfer(ZERO_ADDRESS, B, 5_000_000);
      for (let n = 0; n < hires; n++) log.after(1).hire(S, B);
      return (await figures(log.after(1).tick())).kept_usdc;
    };
    expect(await kept(15, 1)).to.equal("0.50");
    expect(await kept(16, 1)).to.equal("0.00");
    expect(await kept(16, 2)).to.equal("0.50");
  });

  it("do not count money as returned if the seller passes it on to an account that buys from others later", async () => {
    const log = new EventLog();
    log.listing(S, "x.y");
    log.transfer(ZERO_ADDRESS, B, 5_000_000);
    log.after(1).hire(S, B);
    log.after(1).transfer(S, G, 400_000);
    log.after(1).hire(wallet(3), G, { amount: 300_000 });
    expect((await figures(log.after(1).tick())).kept_usdc).to.equal("0.50");
  });

  it("show only fees that went to published recipients", async () => {
    const log = (feeRecipients: string[]) => {
      const it = new EventLog({ feeRecipients: feeRecipients as never });
      const id = it.deposit(S, B, { fee: 5_000, feeRecipient: G });
      return it.delivered(id).released(id, 500_000, 0, 5_000).after(1).tick();
    };
    expect((await figures(log([G]))).fees_paid_usdc).to.equal("0.005");
    expect((await figures(log([]))).fees_paid_usdc).to.equal("0.00");
  });
});

describe("a fee of an escrow", () => {
  const sold = async (
    { fee = 0, feeRecipient = G as Address, toSeller = 500_000 },
    feeRecipients: Address[] = [],
  ) => {
    const log = new EventLog({ feeRecipients });
    log.transfer(ZERO_ADDRESS, B, 5_000_000);
    const id = log.after(1).deposit(S, B, { fee, feeRecipient });
    log
      .after(1)
      .delivered(id)
      .released(id, toSeller, 500_000 - toSeller, fee);
    const { agents } = await log.after(1).tick().derive();
    const { last_30d_hire_count_raw, last_24h_volume_usdc, kept_usdc, success_rate } = agents[S] ?? {};
    return [last_30d_hire_count_raw, last_24h_volume_usdc, kept_usdc, success_rate];
  };

  it("is part of the price if its recipient is published; else the price is what reached the seller", async () => {
    expect(await sold({ fee: 100_000 }, [G])).to.deep.equal([1, "0.50", "0.50", 1]);
    for (const feeRecipient of [B, G])
      expect(await sold({ fee: 100_000, feeRecipient })).to.deep.equal([1, "0.40", "0.40", 1]);
  });

  it("leaves no hire if it takes all but less than the smallest price of a hire, for example to the buyer itself", async () => {
    const nothing = [undefined, undefined, undefined, undefined];
    for (const feeRecipient of [B, G]) {
      expect(await sold({ fee: 500_000, feeRecipient })).to.deep.equal(nothing);
      expect(await sold({ fee: 499_001, feeRecipient })).to.deep.equal(nothing);
      expect(await sold({ fee: 499_000, feeRecipient })).to.deep.equal([1, "0.001", "0.001", 1]);
    }
    expect(await sold({ fee: 500_000 }, [G])).to.deep.equal([1, "0.50", "0.50", 1]);
  });

  it("does not hide a failure", async () => {
    expect(await sold({ fee: 200_000, feeRecipient: B, toSeller: 200_000 })).to.deep.equal([
      ...[1, "0.00", "0.00", 0],
    ]);
  });
});

describe("missing receipts, at the boundaries", () => {
  it("include a payment that has no receipt for more than 24 hours, until its receipt comes", async () => {
    const log = (seconds: number) => {
      const it = new EventLog();
      it.listing(S, "x.y");
      it.hire(S, B);
      it.transfer(B, S, 250_000, { authorized: true });
      return it.after(seconds).tick();
    };
    const early = await figures(log(DAY));
    expect([early.receipt_coverage, early.unreceipted_payments]).to.deep.equal([1, 0]);
    const late = await figures(log(DAY + 1));
    expect([late.receipt_coverage, late.unreceipted_payments]).to.deep.equal([0.5, 1]);
    expect(late.unreceipted_usdc).to.equal("0.25");
    const mended = log(DAY + 1);
    const paid = mended.events.findLast((it) => it.kind === "transfer");
    mended.receipt(S, B, { tx: paid?.kind === "transfer" ? paid.tx : "0x", amount: 250_000 });
    expect((await figures(mended.after(1).tick())).receipt_coverage).to.equal(1);
  });

  it("count a payment once if a log has it twice", async () => {
    const log = new EventLog();
    log.listing(S, "x.y");
    const tx = log.after(1).transfer(B, S, 250_000, { authorized: true });
    log.after(1).transfer(B, S, 250_000, { authorized: true, tx });
    expect((await figures(log.after(DAY + 1).tick())).unreceipted_payments).to.equal(1);
  });

  it("include a refunded escrow whose seller did not deliver and gave no receipt for more than 24 hours", async () => {
    const log = (seconds: number, act: (it: EventLog, id: `0x${string}`) => void = () => {}) => {
      const it = new EventLog();
      it.listing(S, "x.y");
      const id = it.deposit(S, B);
      act(it, id);
      return it.after(60).refunded(id, B).after(seconds).tick();
    };
    expect((await figures(log(DAY))).unanswered_escrows).to.equal(0);
    expect((await figures(log(DAY + 1))).unanswered_escrows).to.equal(1);
    expect((await figures(log(DAY + 1, (it, id) => it.delivered(id)))).unanswered_escrows).to.equal(0);
    const told = log(DAY + 1, (it, id) => it.receipt(S, B, { escrow_id: id }));
    expect((await figures(told)).unanswered_escrows).to.equal(0);
    const contested = await figures(log(DAY + 1, (it, id) => it.delivered(id)));
    expect([contested.refunds_contested, contested.refunds_contested_families]).to.deep.equal([1, 1]);
  });
});
