import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect } from "chai";
import { derive, relevant } from "../../derive/relevant/agreement.ts";
import { isOfCrowd } from "./crowd.ts";
import { type Situations, situationsOf } from "./situations.ts";
import { LOGS_PER_CHAIN, soakLogOf } from "./soakLog.ts";
import { type ChainResult, openResults, situationsIn, tableOf } from "./soakResults.ts";

const LOGS = Array.from({ length: 40 }, (_, n) => soakLogOf(1, n));

describe("logs of the soak of nodes", () => {
  it("depend only on seed and number, so that each log can be played again alone", () => {
    expect(soakLogOf(1, 17)).to.deep.equal(LOGS[17]);
    expect(soakLogOf(2, 17)).to.not.deep.equal(LOGS[17]);
  });

  it("have the same gate parameters in all logs of a chain, and other gate parameters on another chain", () => {
    const gatesOf = (n: number) => {
      const { events, kept } = soakLogOf(1, n);
      const { hubTransfers: _, ...gates } = kept;
      for (const it of events) {
        if (it.kind !== "record" || it.type !== "params") continue;
        expect(Object.keys(gates).filter((name) => name in it.body)).to.deep.equal([]);
      }
      return gates;
    };
    const [first, ...others] = Array.from({ length: LOGS_PER_CHAIN }, (_, n) => gatesOf(n));
    for (const gates of others) expect(gates).to.deep.equal(first);
    const chains = Array.from({ length: 8 }, (_, n) => JSON.stringify(gatesOf(n * LOGS_PER_CHAIN)));
    expect(new Set(chains).size).to.be.greaterThan(4);
  });

  it("have a kill in one log of seven, and nearly only transfers between strangers in some logs", () => {
    const many = Array.from({ length: 120 }, (_, n) => soakLogOf(3, n));
    expect(many.filter(({ kill }) => kill !== null).length).to.be.within(8, 30);
    const shares = many.map(({ events }) => {
      const transfers = events.filter(({ kind }) => kind === "transfer");
      return transfers.length < 1_000 ? 0 : transfers.filter(isOfCrowd).length / transfers.length;
    });
    expect(shares.filter((share) => share >= 0.98).length).to.be.greaterThan(2);
  });

  it("reach every situation that is counted", async () => {
    const reached: Situations[] = [];
    for (const { events } of LOGS) {
      // The first event publishes the parameters. It is left out, because the derived log begins with a line of
      // parameters.
      const whole = events.slice(1);
      const few = await relevant({ events: whole });
      const span = { from: 0, to: Number.MAX_SAFE_INTEGER };
      reached.push(situationsOf(whole, few, await derive(whole), [span]));
    }
    const all = situationsIn(reached.map((situations) => ({ ...RESULT, situations })));
    console.log(
      Object.entries(all)
        .map(([name, count]) => `      ${count} ${name}\n`)
        .join(""),
    );
    expect(Object.entries(all).filter(([, count]) => count === 0)).to.deep.equal([]);
  });
});

const RESULT: ChainResult = {
  seed: 1,
  logs: [0, 1],
  reorgs: 2,
  kills: 1,
  killedLogs: 1,
  ticks: 40,
  seconds: 10,
  situations: { escrows: 3 },
};

describe("results of the soak of nodes", () => {
  it("add up several soaks in one file, count each log once, and leave out chains that failed", () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), "tallystick-soak-")), "results.jsonl");
    openResults(file).add(RESULT);
    openResults(file).add({ ...RESULT, logs: [1, 2] });
    openResults(file).add({ ...RESULT, seed: 2 });
    openResults(file).add({ ...RESULT, seed: 2, logs: [7], failed: "agree on log 8" });
    const table = tableOf(openResults(file).all());
    expect(table).to.match(/logs that agreed +5\n/);
    expect(table).to.match(/of the seeds +1, 2\n/);
    expect(table).to.match(/escrows +9\n/);
    expect(table).to.match(/chains that failed +1\n/);
  });
});
