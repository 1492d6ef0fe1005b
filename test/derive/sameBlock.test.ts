import { expect } from "chai";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { ESCROW, EventLog, wallet } from "./eventLog.ts";
import { oracle } from "./oracle/oracle.ts";
import { expectSame } from "./relevant/agreement.ts";

const [S, B, F, HUB] = [wallet(1), wallet(2), wallet(50), wallet(90)];

/**
 * `kept_usdc` of a seller after one block. It must be equal in both forms of the log and in the oracle. The buyer
 * withdrew 2 USDC from an exchange one block earlier.
 */
async function kept(
  block: (log: EventLog) => unknown,
  { hubTransfers = 10_000 } = {},
): Promise<string | undefined> {
  const log = new EventLog({ hubs: [HUB], hubTransfers });
  log.listing(S, "x.y");
  log.transfer(HUB, B, 2_000_000);
  log.after(2);
  block(log);
  log.after(2).tick();
  await expectSame(log);
  const { agents } = await log.derive();
  expect(agents[S]?.kept_usdc).to.equal(oracle(log.events).agents[S]?.kept_usdc);
  return agents[S]?.kept_usdc;
}

/** Payments, by default of 0.50 USDC, with their receipts in the same order or in the reverse order. */
function pay(log: EventLog, times: number, { isReversed = false, amount = 500_000 } = {}): void {
  const paid = Array.from({ length: times }, () => log.transfer(B, S, amount, { authorized: true }));
  for (const tx of isReversed ? paid.toReversed() : paid) log.receipt(S, B, { tx, amount });
}

function release(log: EventLog, id: Hex): void {
  log.delivered(id).released(id).transfer(ESCROW, S, 500_000);
}

describe("money that reaches a buyer in the block of its payment", () => {
  it("pays first, if it came before the payment in that block", async () => {
    expect(await kept((log) => [log.transfer(HUB, B, 500_000), pay(log, 1)])).to.equal("0.00");
    expect(await kept((log) => [pay(log, 1), log.transfer(HUB, B, 500_000)])).to.equal("0.50");
    expect(await kept((log) => [log.transfer(HUB, B, 500_000), pay(log.after(2), 1)])).to.equal("0.50");
  });

  it("pays exactly, to the unit", async () => {
    expect(await kept((log) => [log.transfer(HUB, B, 200_000), pay(log, 1)])).to.equal("0.30");
    expect(await kept((log) => [log.transfer(HUB, B, 499_999), pay(log, 1)])).to.equal("0.000001");
    expect(await kept((log) => [log.transfer(HUB, B, 1), pay(log, 1)])).to.equal("0.499999");
  });

  it("pays whoever sent it, and however small the pieces are", async () => {
    for (const from of [F, S, ZERO_ADDRESS, ESCROW])
      expect(await kept((log) => [log.transfer(from, B, 500_000), pay(log, 1)])).to.equal("0.00");
    const through = (log: EventLog) => [log.transfer(HUB, F, 500_000), log.transfer(F, B, 500_000)];
    expect(await kept((log) => [through(log), pay(log, 1)])).to.equal("0.00");
    const pieces = (log: EventLog) => [1, 2, 3, 4, 5].map(() => log.transfer(F, B, 99_999));
    expect(await kept((log) => [pieces(log), pay(log, 1)])).to.equal("0.000005");
  });

  it("does not include what the buyer sent to itself, or transfers of nothing", async () => {
    expect(await kept((log) => [log.transfer(B, B, 500_000), pay(log, 1)])).to.equal("0.50");
    expect(await kept((log) => [log.transfer(HUB, B, 0), pay(log, 1)])).to.equal("0.50");
  });

  it("pays only once, in whatever order the receipts come", async () => {
    for (const isReversed of [false, true]) {
      expect(await kept((log) => [log.transfer(F, B, 500_000), pay(log, 3, { isReversed })])).to.equal(
        "1.00",
      );
      expect(await kept((log) => [log.transfer(F, B, 700_000), pay(log, 2, { isReversed })])).to.equal(
        "0.30",
      );
    }
  });

  it("pays again if it comes a second time, in whatever order the receipts come", async () => {
    const round = (log: EventLog) =>
      log.transfer(F, B, 500_000) && log.transfer(B, S, 500_000, { authorized: true });
    const twice = (order: (txs: Hex[]) => Hex[]) => (log: EventLog) => {
      for (const tx of order([round(log), round(log)] as Hex[])) log.receipt(S, B, { tx });
    };
    expect(await kept(twice((txs) => txs))).to.equal("0.00");
    expect(await kept(twice((txs) => txs.toReversed()))).to.equal("0.00");
  });

  it("counts again from the start at the seventeenth hire in one block", async () => {
    const twenty = (arrived: number) => (log: EventLog) => [
      log.transfer(F, B, arrived),
      pay(log, 20, { amount: 1_000 }),
    ];
    expect(await kept(twenty(16_000))).to.equal("0.004");
    expect(await kept(twenty(17_000))).to.equal("0.00");
  });

  it("pays also if the receipt comes later: the block of the payment decides", async () => {
    const later = (log: EventLog) => {
      log.transfer(F, B, 300_000);
      const tx = log.transfer(B, S, 500_000, { authorized: true });
      log.after(60).transfer(F, B, 500_000);
      log.receipt(S, B, { tx });
    };
    expect(await kept(later)).to.equal("0.20");
  });

  it("pays for a deposit only if the escrow is settled in that block", async () => {
    const escrow = (blocks: number) => (log: EventLog) => {
      log.transfer(F, B, 200_000);
      const id = log.deposit(S, B);
      release(blocks === 0 ? log : log.after(2, blocks), id);
    };
    expect(await kept(escrow(0))).to.equal("0.30");
    expect(await kept(escrow(1))).to.equal("0.50");
    const after = (log: EventLog) => {
      const id = log.deposit(S, B);
      log.transfer(F, B, 200_000);
      release(log, id);
    };
    expect(await kept(after)).to.equal("0.50");
  });

  it("is everything that the buyer pays with, when `hubTransfers` transfers have reached the buyer", async () => {
    const empty = (log: EventLog) => log.transfer(F, B, 0);
    expect(await kept((log) => [empty(log), pay(log.after(2), 1)], { hubTransfers: 3 })).to.equal("0.50");
    expect(await kept((log) => [empty(log), pay(log.after(2), 1)], { hubTransfers: 2 })).to.equal("0.00");
    expect(await kept((log) => [pay(log, 1), empty(log)], { hubTransfers: 2 })).to.equal("0.50");
    const deposit = (log: EventLog) => release(log, log.deposit(S, B));
    expect(await kept((log) => [empty(log), deposit(log.after(2))], { hubTransfers: 2 })).to.equal("0.00");
  });
});
