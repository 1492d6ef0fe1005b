import { expect } from "chai";
import fc from "fast-check";
import { rational } from "tallystick-derive/rational";
import { decayedSuccess, decayedUptime, decayWeights } from "tallystick-derive/steward/decay";
import { parseOutcomeDays } from "tallystick-derive/steward/outcomeDays";
import {
  formatRun,
  formatSlotDays,
  KEPT_DAYS,
  parseRun,
  parseSlotDays,
  type SlotDay,
  sumSlots,
  takeHour,
} from "tallystick-derive/steward/slotDays";
import { slotsOver } from "tallystick-derive/steward/tickSteward";
import { DAY, HOUR, START, wallet } from "../eventLog.ts";
import { AGENT, stewardLog, stewardOf } from "./stewardScene.ts";

const T = 1_000_000_000_000n;
const slotDay = (day: number, data: number, down: number): SlotDay => ({
  ...{ day, data, down, raw: down, denied: 0 },
});
const count = fc.integer({ min: 0, max: 288 });
/** Days in ascending order with data, with gaps between them. */
const slotDays = fc.uniqueArray(fc.integer({ min: 20_000, max: 20_120 }), { maxLength: 30 }).chain((days) =>
  fc.tuple(
    ...days
      .sort((a, b) => a - b)
      .map((day) =>
        fc.record({
          day: fc.constant(day),
          data: fc.integer({ min: 1, max: 288 }),
          down: count,
          raw: count,
          denied: count,
        }),
      ),
  ),
);

describe("the slots of an agent's days", () => {
  it("are the same after they were written and read, with any gaps between the days", () => {
    fc.assert(
      fc.property(slotDays, (days) => {
        expect(parseSlotDays(formatSlotDays(days))).to.deep.equal(days);
      }),
    );
    expect(formatSlotDays([])).to.equal("");
    expect(formatSlotDays([slotDay(7, 288, 36), slotDay(9, 1, 0)])).to.equal("7:801010000000000001000000");
  });

  it("are summed over today and the days before it, and over no later day", () => {
    fc.assert(
      fc.property(slotDays, fc.integer({ min: 20_000, max: 20_120 }), (days, today) => {
        const windows = [7, 30, 90];
        const expected = windows.map((window) => {
          const within = days.filter(({ day }) => day <= today && day > today - window);
          const sum = (name: "data" | "down" | "raw" | "denied") =>
            within.reduce((all, it) => all + it[name], 0);
          return { data: sum("data"), down: sum("down"), raw: sum("raw"), denied: sum("denied") };
        });
        expect(sumSlots(days, today, windows)).to.deep.equal(expected);
      }),
    );
  });

  it("are kept for 91 days, whatever the order of the hours", () => {
    const hour = { data: 1, down: 0, denied: 0 };
    const daysAfter = (...days: number[]) => {
      const taken: SlotDay[] = [];
      for (const day of days) takeHour(taken, { length: 0, first: [] }, 24 * day, hour);
      return taken.map(({ day }) => day);
    };
    expect(daysAfter(100, 100 - KEPT_DAYS + 1, 50)).to.deep.equal([10, 50, 100]);
    expect(daysAfter(100, 100 - KEPT_DAYS)).to.deep.equal([100]);
    expect(daysAfter(9, 10, 100)).to.deep.equal([10, 100]);
  });

  it("do not have a failed slot of a day that is no longer kept", () => {
    const days = [slotDay(100, 1, 0)];
    const run = { length: 2, first: [9, 9] };
    takeHour(days, run, 24 * 9, { data: 1, down: 1, denied: 1 });
    expect([days, run]).to.deep.equal([[slotDay(100, 1, 0)], { length: 3, first: [] }]);
  });

  it("have an unfinished run of failed slots, which is the same after it was written and read", () => {
    for (const run of [
      { length: 0, first: [] },
      { length: 1, first: [5] },
      { length: 2, first: [5, 6] },
      { length: 7, first: [] },
    ])
      expect(parseRun(formatRun(run))).to.deep.equal(run);
    expect(formatRun({ length: 0, first: [] })).to.equal("");
  });
});

describe("the rates in which a past day weighs less", () => {
  it("use the power of the decay for each day, rounded half up at 12 decimals", () => {
    expect(decayWeights({ numerator: 1, denominator: 2 }, 4)).to.deep.equal([T, T / 2n, T / 4n, T / 8n]);
    expect(decayWeights({ numerator: 2, denominator: 3 }, 3)).to.deep.equal([
      ...[T, 666_666_666_667n, 444_444_444_444n],
    ]);
    expect(decayWeights({ numerator: 1, denominator: 2e12 }, 2)).to.deep.equal([T, 1n]);
    expect(decayWeights({ numerator: 0, denominator: 1 }, 2)).to.deep.equal([T, 0n]);
  });

  const weights = decayWeights({ numerator: 1, denominator: 2 }, 3);

  it("leave out days before the window, and days after today", () => {
    const days = [slotDay(7, 288, 288), slotDay(8, 100, 50), slotDay(9, 100, 0), slotDay(11, 10, 10)];
    // (50/4 + 100/2) / (100/4 + 100/2)
    expect(decayedUptime(days, 10, weights)).to.equal(833_333_333);
    const outcome = (day: number, ok: bigint, failed: bigint) => ({
      ...{ day, ok: rational(ok, 2n), failed: rational(failed, 2n) },
    });
    const outcomes = [outcome(7, 0n, 99n), outcome(8, 1n, 1n), outcome(9, 2n, 0n), outcome(11, 0n, 7n)];
    expect(decayedSuccess(outcomes, 10, weights)).to.equal(833_333_333);
  });

  it("are null without data", () => {
    expect([decayedUptime([], 10, weights), decayedUptime([slotDay(7, 288, 0)], 10, weights)]).to.deep.equal([
      null,
      null,
    ]);
    expect(decayedSuccess([], 10, weights)).to.equal(null);
  });
});

describe("the hires of a seller's days", () => {
  const sold = fc.record({ day: fc.nat(120), passed: fc.boolean(), order: fc.nat() });

  it("are on the day of their payment, in whatever order their receipts come, for 91 days", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(sold, { minLength: 1, maxLength: 12 }), async (hires) => {
        const log = stewardLog({ reconcileSeconds: 200 * DAY });
        const paid = hires
          .toSorted((a, b) => a.day - b.day)
          .map((it, n) => {
            log.after(START + it.day * DAY + 60 * n - log.time);
            return { ...it, tx: log.transfer(wallet(300), AGENT, 500_000, { authorized: true }) };
          });
        log.after(START + 121 * DAY - log.time);
        for (const { tx, passed } of paid.toSorted((a, b) => a.order - b.order))
          log.receipt(AGENT, wallet(300), { tx, passed });
        const first = START / DAY + 121 - 90;
        const days = Map.groupBy(hires, ({ day }) => START / DAY + day);
        const expected = [...days]
          .filter(([day]) => day >= first)
          .sort(([a], [b]) => a - b)
          .map(([day, all]) => [
            ...[day, all.filter((it) => it.passed).length, all.filter((it) => !it.passed).length],
          ]);
        const { outcomes, sales } = await stewardOf(log);
        expect(sales).to.equal(hires.length);
        expect(
          parseOutcomeDays(outcomes).map(({ day, ok, failed }) => [day, Number(ok.n), Number(failed.n)]),
        ).to.deep.equal(expected);
      }),
      { numRuns: 40 },
    );
  });

  it("make room for a new day when a day is 91 days old", async () => {
    const log = stewardLog();
    const days = async (wait: number) => {
      log.after(wait).hire(AGENT, wallet(300));
      return parseOutcomeDays((await stewardOf(log)).outcomes).map(({ day }) => day - START / DAY);
    };
    const kept = [await days(0), await days(DAY), await days(89 * DAY), await days(DAY)];
    expect(kept).to.deep.equal([[0], [0, 1], [0, 1, 90], [1, 90, 91]]);
  });
});

describe("the slots of an hour in which agents are computed", () => {
  it("are those that ended since the last tick, each at most once", () => {
    const rows: [since: number, time: number, slots: number[]][] = [
      [0, 299, []],
      [0, 300, [0]],
      [299, 600, [0, 1]],
      [300, 600, [1]],
      [HOUR - 300, HOUR + 600, [11, 0, 1]],
      [0, HOUR, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]],
      [0, 5 * HOUR + 300, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 0]],
    ];
    for (const [since, time, slots] of rows)
      expect(slotsOver(since, time), `${since} to ${time}`).to.deep.equal(slots);
  });
});
