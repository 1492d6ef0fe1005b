import { expect } from "chai";
import fc from "fast-check";
import { TallystickError } from "tallystick-protocol/errors";
import { LedgerClock } from "../../../services/settlement/engine/ledgerClock.ts";
import { codeOf, openGate } from "../support/openGate.ts";

describe("the clock of a ledger", () => {
  function clock(limitSeconds = 120) {
    const { gate, said } = openGate();
    const time = { now: 1_000_000, elapsed: 50 };
    const it = new LedgerClock({ now: () => time.now, elapsed: () => time.elapsed, gate, limitSeconds });
    /** Lets time pass on both clocks. */
    const wait = (seconds: number) => {
      time.now += seconds;
      time.elapsed += seconds;
    };
    /** Sets the machine's clock. */
    const turn = (seconds: number) => {
      time.now += seconds;
    };
    const next = () => codeOf(() => it.next());
    const block = (number: number, time: number) => it.seen({ number: BigInt(number), time: BigInt(time) });
    return { it, gate, said, time, wait, turn, next, block };
  }

  it("never goes back, also if the machine's clock does", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -280, max: 1_000 }), { maxLength: 40 }), (steps) => {
        const { it, time } = clock(0);
        let last = Number.NEGATIVE_INFINITY;
        for (const step of steps) {
          time.now = Math.max(last - 280, time.now + step);
          const at = it.next();
          expect(at).to.equal(Math.max(time.now, last));
          last = at;
        }
      }),
      { numRuns: 100 },
    );
  });

  it("refuses writes, and not checkpoints, while the last entry is more than 300 s ahead", () => {
    const { it, gate, time, next } = clock(0);
    it.entry(time.now + 300);
    expect(it.next()).to.equal(time.now + 300);
    it.entry(time.now + 301);
    expect(next()).to.equal("clock");
    expect(gate.refusal?.code).to.equal("clock");
    expect(gate.maySign).to.equal(true);
    gate.requireSignatures();
    time.now += 1;
    expect([next(), gate.refusal]).to.deep.equal(["none", undefined]);
  });

  it("refuses writes after a block with a very different time, until a block fits; without a new block nothing changes", () => {
    for (const off of [121, -121]) {
      const { time, wait, next, block } = clock();
      expect(next()).to.equal("none");
      block(7, time.now);
      expect(next()).to.equal("none");
      // The chain has no new block.
      wait(10_000);
      block(7, time.now - 10_000);
      block(6, time.now - 20_000);
      expect(next()).to.equal("none");
      block(8, time.now + off);
      expect(next()).to.equal("clock");
      block(7, time.now);
      expect(next()).to.equal("clock");
      block(9, time.now - 120);
      expect(next()).to.equal("none");
    }
  });

  it("refuses writes when the clock was set by more than the limit, until a block fits the clock", () => {
    for (const jump of [31_536_000, -200]) {
      const { time, wait, next, block } = clock();
      block(7, time.now);
      expect(next()).to.equal("none");
      wait(5_000);
      expect(next()).to.equal("none");
      time.now += jump;
      expect(next()).to.equal("clock");
      time.now -= jump;
      expect(next()).to.equal("clock");
      block(8, time.now);
      expect(next()).to.equal("none");
    }
  });

  it("says how far which clock is off, and what to do", () => {
    const told = (doubt: (of: ReturnType<typeof clock>) => void) => {
      const of = clock();
      of.block(7, of.time.now);
      expect(of.next()).to.equal("none");
      doubt(of);
      const { code, message, hint } = of.gate.refusal ?? expect.fail("writes are accepted");
      expect(code).to.equal("clock");
      return { message, hint };
    };
    const agrees = /agrees with the clock\.$/;
    const cases: [(of: ReturnType<typeof clock>) => void, message: string, hint: RegExp][] = [
      [(of) => of.block(8, of.time.now - 121), "The clock is 121 s ahead of block 8 of the chain.", agrees],
      [(of) => of.block(8, of.time.now + 121), "The clock is 121 s behind block 8 of the chain.", agrees],
      [(of) => of.turn(500), "The clock was set 500 s forward.", agrees],
      [(of) => of.turn(-200.4), "The clock was set 200 s back.", agrees],
      [
        (of) => of.it.entry(of.time.now + 301),
        "The ledger's last entry is 301 s ahead of the clock.",
        /when that time has come\.$/,
      ],
    ];
    for (const [doubt, message, hint] of cases) {
      const said = told(doubt);
      expect(said.message).to.equal(message);
      expect(said.hint, message).to.match(hint);
    }
  });

  it("is asked apart from the other reasons that stop writes", () => {
    const { it, gate, time, next, block } = clock();
    const right = () => codeOf(() => it.requireRight());
    gate.close("store", new TallystickError({ code: "store_unavailable", message: "It is away." }));
    expect([next(), right()]).to.deep.equal(["store_unavailable", "none"]);
    block(7, time.now + 121);
    expect(right()).to.equal("clock");
  });

  it("measures jumps by the machine's steady clock if it is given none", async () => {
    const { gate } = openGate();
    const began = performance.now();
    const now = () => 1_000_000 + (performance.now() - began) / 1_000;
    // The two clocks are read one after the other, and a pause of some seconds may come in between.
    const it = new LedgerClock({ now, gate, limitSeconds: 10 });
    it.next();
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(codeOf(() => it.next())).to.equal("none");
  });

  it("ignores blocks and jumps if its limit is 0", () => {
    const { time, next, block } = clock(0);
    block(7, 1);
    expect(next()).to.equal("none");
    time.now += 31_536_000;
    block(8, 1);
    expect(next()).to.equal("none");
  });
});
