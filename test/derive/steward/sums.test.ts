import { expect } from "chai";
import { worstRun } from "tallystick-derive/steward/attestations";
import { sumOutcomes } from "tallystick-derive/steward/outcomeDays";
import { HOUR, wallet } from "../eventLog.ts";
import { AGENT, stewardLog, stewardOf } from "./stewardScene.ts";

const run = (passing: number, total: number, more: object = {}) => ({
  ...{ passing, total, outcomes_hash: `0x${"ab".repeat(32)}` as const },
  ...more,
});

describe("the run of tests that counts", () => {
  const of = (...runs: ReturnType<typeof run>[]) =>
    worstRun(runs as unknown as Parameters<typeof worstRun>[0]);

  it("has the smallest share of passing tests; of equal shares it is the first", () => {
    expect(of(run(9, 10), run(7, 10), run(8, 10))).to.deep.equal({ passing: 7, total: 10 });
    expect(of(run(1, 2), run(2, 4))).to.deep.equal({ passing: 1, total: 2 });
    expect(of(run(50, 100), run(1, 3))).to.deep.equal({ passing: 1, total: 3 });
  });

  it("is none if a run is empty, or if nothing shows that the tests were repeated", () => {
    const none = { passing: 0, total: 0 };
    const other = { outcomes_hash: `0x${"cd".repeat(32)}` };
    expect(of(run(1, 1), run(0, 0))).to.deep.equal(none);
    expect(of(run(1, 1))).to.deep.equal(none);
    expect(of(run(1, 1), run(1, 1, other))).to.deep.equal(none);
    expect(of(run(1, 1, { seed: "1" }), run(1, 1, { seed: "1" }))).to.deep.equal(none);
    expect(of(run(1, 1, { seed: "1" }), run(1, 2, { seed: "2" }))).to.deep.equal({ passing: 1, total: 2 });
  });
});

describe("the sums over days", () => {
  it("have today and the days of the window before it, and no other day", () => {
    const days = [5, 6, 7, 8].map((day) => ({
      day,
      ok: { n: BigInt(day), d: 1n },
      failed: { n: 1n, d: BigInt(day) },
    }));
    expect(sumOutcomes(days, 7, 2)).to.deep.equal({ ok: { n: 13n, d: 1n }, failed: { n: 13n, d: 42n } });
    expect(sumOutcomes(days, 8, 1)).to.deep.equal({ ok: { n: 8n, d: 1n }, failed: { n: 1n, d: 8n } });
  });

  it("of hard sales have no day without a published difficulty, also if it is 1", async () => {
    const log = stewardLog({ steward: { difficulty: { "custom.hard": "4", "custom.same": "1" } } });
    const hardSales = async () => (await stewardOf(log.after(HOUR).tick())).hardSales;
    for (const [n, capability] of ["custom.plain", "custom.same"].entries())
      log.hire(AGENT, wallet(300 + n), { capability });
    expect(await hardSales()).to.equal("");
    log.hire(AGENT, wallet(310), { capability: "custom.hard" });
    expect(await hardSales()).to.match(/^\d+:3\/1:0\/1$|^\d+:3:0$/);
  });
});
