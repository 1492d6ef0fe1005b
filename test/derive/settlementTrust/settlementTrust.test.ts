import { expect } from "chai";
import fc from "fast-check";
import { settlementFigures } from "tallystick-derive/settlementTrust/settlementFigures";
import { betaOf, penaltyOf, settlementLevels, trustOf } from "tallystick-derive/settlementTrust/trustOf";
import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import type { Outcome } from "tallystick-protocol/records/outcomes";
import { EventLog, HOUR, LEDGER, OTHER_LEDGER, START, wallet } from "../eventLog.ts";
import { derivedSlas, derivedStewards } from "../oracle/derivedStewards.ts";
import { stewardLog } from "../oracle/stewardLog.ts";
import { isPercentile } from "./quantileOracle.ts";

const [AGENT, OTHER, OPERATOR] = [1, 2, 20].map(wallet) as [Address, Address, Address];
const FIRST = START / HOUR;

/** This many tasks of complexity 1, and no compared tasks. */
function outcome(ok: number, fail: number, more: Partial<Outcome> = {}): Outcome {
  return {
    ok,
    fail,
    c: { ok: ok * 1_000, fail: fail * 1_000 },
    divergence: { compared: 0, sum: 0 },
    ...more,
  };
}

function tell(
  log: EventLog,
  agents: { [agent: string]: Outcome },
  { hour = FIRST, part = 0, signer = OPERATOR, ledger = LEDGER } = {},
): string {
  return log.record("outcomes", signer, { hour, part, agents }, ledger);
}

const newLog = () => new EventLog({ operator: OPERATOR }).after(2 * HOUR);

async function rowOf(log: EventLog, agent: Address = AGENT): Promise<Row<"settlementTrust"> | undefined> {
  return (await log.derive()).store.rows("settlementTrust").get(agent);
}

async function reasonOf(log: EventLog, hash: string): Promise<string | null | undefined> {
  const { store } = await log.derive();
  return [...store.rows("record").values()].find((it) => it.hash === hash)?.reason;
}

/** The level after this many successes and failures of complexity 1. */
function levelAfter(ok: number, fail: number): string {
  const evidence = {
    settled: ok,
    rejected: fail,
    settledComplexity: ok * 1_000,
    rejectedComplexity: fail * 1_000,
    compared: 0,
    divergence: 0,
  };
  return settlementLevels[trustOf(evidence).level] as string;
}

const outcomes: fc.Arbitrary<Outcome> = fc
  .tuple(fc.nat(40), fc.nat(12), fc.nat(1_000), fc.nat(1_000), fc.nat(1_000_000))
  .filter(([ok, fail]) => ok + fail > 0)
  .map(([ok, fail, c, d, drift]) => {
    const compared = Math.floor((ok + fail) / 2);
    return {
      ok,
      fail,
      c: { ok: ok * c, fail: fail * d },
      divergence: { compared, sum: Math.floor((compared * drift) / 8) },
    };
  });

describe("settlement's trust in an agent", () => {
  it("is computed from the sums over all hours: the oracle's percentile, minus the mean divergence", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(outcomes, { minLength: 1, maxLength: 4 }), async (told) => {
        const log = newLog().after(10 * HOUR);
        for (const [n, one] of told.entries())
          tell(
            log,
            { [AGENT]: one },
            n % 2 === 0 ? { hour: FIRST + n } : { hour: FIRST, ledger: OTHER_LEDGER, part: n },
          );
        const row = (await rowOf(log)) as Row<"settlementTrust">;
        const sum = (of: (it: Outcome) => number) => told.reduce((all, one) => all + of(one), 0);
        expect([row.settled, row.rejected]).to.deep.equal([sum((it) => it.ok), sum((it) => it.fail)]);
        const [alpha, beta] = [
          1 + Math.floor(sum((it) => it.c.ok) / 1_000),
          2 + Math.ceil(sum((it) => it.c.fail) / 1_000),
        ];
        expect([row.alpha, row.beta]).to.deep.equal([alpha, beta]);
        expect(isPercentile(alpha, beta, row.percentile)).to.equal(true);
        const compared = sum((it) => it.divergence.compared);
        const mean = compared === 0 ? 0 : Math.round((sum((it) => it.divergence.sum) * 1_000) / compared);
        expect(row.trust).to.equal(Math.max(0, row.percentile - mean));
      }),
      { numRuns: 15 },
    );
  });

  it("reaches its levels exactly at the limits of the table", () => {
    // Failures, then the successes at which the agent becomes provisional, trusted and senior. All tasks have complexity 1.
    const table = [
      [0, 8, 23, 100],
      [1, 11, 30, 100],
      [2, 13, 37, 100],
      [5, 20, 56, 139],
      [10, 30, 86, 212],
      [20, 49, 142, 352],
    ] as const;
    for (const [fail, provisional, trusted, senior] of table) {
      expect(levelAfter(provisional - 1, fail)).to.equal("untrusted");
      expect([provisional, trusted - 1].map((ok) => levelAfter(ok, fail))).to.deep.equal([
        "provisional",
        "provisional",
      ]);
      expect([trusted, senior - 1].map((ok) => levelAfter(ok, fail))).to.deep.equal(["trusted", "trusted"]);
      expect(levelAfter(senior, fail)).to.equal("senior");
    }
    expect(levelAfter(0, 0)).to.equal("untrusted");
  });

  it("needs a number of settled tasks for each level, whatever their complexity", () => {
    const evidence = {
      settled: 4,
      rejected: 0,
      settledComplexity: 900_000,
      rejectedComplexity: 0,
      compared: 0,
      divergence: 0,
    };
    const levels = [4, 5, 19, 20, 99, 100].map((settled) => trustOf({ ...evidence, settled }).level);
    expect(levels).to.deep.equal([0, 1, 1, 2, 2, 3]);
  });

  it("needs a trust for each level that may be exactly the limit", () => {
    // So much divergence leaves exactly the limit of the level.
    for (const [settled, divergence, level] of [
      [8, 5_836_698, 1],
      [23, 3_879_289, 2],
      [100, 34_336_404, 3],
    ] as const) {
      const evidence = {
        settled,
        rejected: 0,
        settledComplexity: settled * 1_000,
        rejectedComplexity: 0,
        compared: 1_000,
      };
      expect(trustOf({ ...evidence, divergence }).level, `${settled}`).to.equal(level);
      expect(trustOf({ ...evidence, divergence: divergence + 1 }).level, `${settled}`).to.equal(level - 1);
    }
  });

  it("is published in shares and whole tasks, with the name of its level", async () => {
    const log = newLog();
    tell(log, { [AGENT]: outcome(23, 1, { c: { ok: 22_500, fail: 250 } }) });
    const plain = (await rowOf(log)) as Row<"settlementTrust">;
    expect(settlementFigures(plain)).to.deep.equal({
      ...{ trust: plain.trust / 1e9, level: "provisional", percentile: plain.percentile / 1e9 },
      ...{ mean_divergence: null, settled: 23, rejected: 1, settled_complexity: 22.5 },
      ...{ rejected_complexity: 0.25, compared: 0, last_hour: FIRST },
    });
    const figures = settlementFigures({
      ...plain,
      ...{ trust: 790_545_956, percentile: 823_879_289, level: 3, compared: 3, divergence: 100_000 },
    });
    expect(figures).to.include({ trust: 0.790545956, percentile: 0.823879289, level: "senior" });
    expect(figures).to.include({ mean_divergence: 0.033333333, compared: 3 });
  });

  it("rounds against the agent: settled work down to whole tasks, rejected work up", () => {
    const of = (settledComplexity: number, rejectedComplexity: number) =>
      betaOf({ settledComplexity, rejectedComplexity, settled: 0, rejected: 0, compared: 0, divergence: 0 });
    expect(of(999, 0)).to.deep.equal({ alpha: 1, beta: 2 });
    expect(of(1_000, 1)).to.deep.equal({ alpha: 2, beta: 3 });
    expect(of(1_999, 1_001)).to.deep.equal({ alpha: 2, beta: 4 });
    // Above 1,000 tasks the proportion counts, and one failure in a million still counts as one.
    expect(of(999_000, 1_000)).to.deep.equal({ alpha: 1_000, beta: 3 });
    expect(of(999_000_000, 1_000)).to.deep.equal({ alpha: 1_000, beta: 3 });
    expect(of(6_000_000, 2_000_000)).to.deep.equal({ alpha: 751, beta: 252 });
  });

  it("is reduced by the mean divergence of compared tasks, and never below 0", async () => {
    const divergence = { compared: 3, sum: 100_000 };
    expect(
      penaltyOf({ ...({} as Row<"settlementTrust">), ...{ compared: 3, divergence: 100_000 } }),
    ).to.equal(33_333_333);
    const log = newLog();
    tell(log, {
      [AGENT]: outcome(23, 0, { divergence }),
      [OTHER]: outcome(1, 5, { divergence: { compared: 1, sum: 1_000_000 } }),
    });
    const row = await rowOf(log);
    expect(row).to.deep.include({ percentile: 823_879_289, trust: 790_545_956, level: 1 });
    expect(await rowOf(log, OTHER)).to.deep.include({ trust: 0, level: 0 });
  });

  it("counts only the operator's records about past hours, and each part of an hour once in a ledger", async () => {
    const log = newLog();
    const one = { [AGENT]: outcome(2, 1) };
    tell(log, one);
    const refused = [
      [tell(log, one), "told before"],
      [tell(log, { [AGENT]: outcome(9, 0) }), "told before"],
      [tell(log, one, { part: 1, signer: AGENT }), "not the operator"],
      [tell(log, one, { hour: FIRST + 2 }), "not over"],
      [tell(log, {}, { part: 2 }), "at least one agent"],
      [tell(log, { [AGENT]: outcome(0, 0) }, { part: 2 }), "must not be 0"],
      [tell(log, { [AGENT]: outcome(10_001, 0) }, { part: 2 }), "at most 10000"],
      [tell(log, { [AGENT]: outcome(1, 0, { c: { ok: 1_001, fail: 0 } }) }, { part: 2 }), "c.ok"],
      [tell(log, { [AGENT]: outcome(1, 0, { c: { ok: 0, fail: 1 } }) }, { part: 2 }), "c.fail"],
      [
        tell(log, { [AGENT]: outcome(1, 0, { divergence: { compared: 2, sum: 0 } }) }, { part: 2 }),
        "compared",
      ],
      [
        tell(log, { [AGENT]: outcome(1, 0, { divergence: { compared: 1, sum: 1_000_001 } }) }, { part: 2 }),
        "divergence.sum",
      ],
      [
        tell(log, Object.fromEntries(Array.from({ length: 257 }, (_, n) => [wallet(n + 1), outcome(1, 0)])), {
          part: 2,
        }),
        "at most 256 agents",
      ],
    ] as const;
    expect(await rowOf(log)).to.deep.include({ settled: 2, rejected: 1 });
    for (const [hash, reason] of refused) expect(await reasonOf(log, hash)).to.include(reason);
    tell(log, one, { part: 1 });
    tell(log, one, { ledger: OTHER_LEDGER });
    tell(log, one, { hour: FIRST + 1 });
    expect(await rowOf(log)).to.deep.include({ settled: 8, rejected: 4, lastHour: FIRST + 1 });
  });

  it("is in the digest, and changes no field, cluster, tier or trust score", async () => {
    await fc.assert(
      fc.asyncProperty(stewardLog, fc.array(outcomes, { minLength: 1, maxLength: 6 }), async (log, told) => {
        const operator = log.events[0]?.kind === "params" ? log.events[0].params.operator : null;
        log.after(3 * HOUR).tick();
        const { store: _, digest: before, ...plain } = await log.derive();
        const without = copyOf(log);
        for (const [n, one] of told.entries())
          tell(
            log,
            { [wallet(n + 1)]: one },
            { hour: Math.floor(log.time / HOUR) - 1, part: n, signer: operator as Address },
          );
        const ends = [log, without].map((it) => it.after(6 * HOUR).tick());
        const [full, rest] = await Promise.all(ends.map((it) => it.derive()));
        if (full === undefined || rest === undefined) throw new Error("both were derived");
        expect(full.store.rows("settlementTrust").size).to.equal(told.length);
        expect(full.digest).not.to.equal(rest.digest);
        expect(plain.agents).to.have.all.keys(Object.keys(full.agents));
        expect(before).to.be.a("string");
        expect({ agents: full.agents, clusters: full.clusters }).to.deep.equal({
          agents: rest.agents,
          clusters: rest.clusters,
        });
        expect(derivedStewards(full.store)).to.deep.equal(derivedStewards(rest.store));
        expect(derivedSlas(full.store)).to.deep.equal(derivedSlas(rest.store));
        expect([...full.store.rows("tierChange")]).to.deep.equal([...rest.store.rows("tierChange")]);
      }),
      { numRuns: 8 },
    );
  });
});

function copyOf(log: EventLog): EventLog {
  const copy = new EventLog();
  copy.events.splice(0, 1, ...log.events);
  return Object.assign(copy, { time: log.time, block: log.block });
}
