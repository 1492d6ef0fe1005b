import { expect } from "chai";
import { MemoryStore } from "tallystick-derive/memoryStore";
import type { Row } from "tallystick-derive/tables";
import { addTallies, MICRO, type Tally, talliesOf } from "../../indexer/src/insights.ts";
import { DAY, EventLog, wallet } from "../derive/eventLog.ts";
import { changesOf } from "./support/changesOf.ts";

/** The summary rows after every event, as the node keeps them. */
async function summariesOf(log: EventLog) {
  const store = new MemoryStore();
  const rows = new Map<string, Tally>();
  for (const event of log.events) {
    for (const { key, by } of talliesOf(await changesOf(store, event))) {
      const name = `${key.table} ${key.id}`;
      const sum = rows.get(name);
      rows.set(name, sum === undefined ? by : addTallies(sum, by));
    }
  }
  return { rows, hires: [...store.rows("hire").values()] };
}

/** The same sums, computed from the hires at the end. */
function addedUp(hires: Row<"hire">[]): Map<string, Partial<Tally>> {
  const rows = new Map<string, Partial<Tally>>();
  const groups = (hire: Row<"hire">) => {
    const day = Math.floor(hire.time / DAY);
    const { seller, buyer, capability, inWindow } = hire;
    const always = [
      `agentDay ${seller}/${day}`,
      `agentPair ${seller}/${buyer}`,
      `marketDay ${day}`,
      "marketTotal all",
    ];
    if (inWindow) always.push("marketTotal window");
    if (capability === null) return always;
    const days = [...always, `capabilityDay ${capability}/${day}`];
    return inWindow
      ? [...days, `capabilityAgent ${seller}/${capability}`, `capabilityTotal ${capability}`]
      : days;
  };
  const names = new Set(hires.flatMap(groups));
  for (const name of names) {
    const of = hires.filter((hire) => groups(hire).includes(name));
    rows.set(name, {
      hires: of.length,
      weight: weightOf(of),
      successes: of.filter((it) => it.outcome === "success").length,
      failures: of.filter((it) => it.outcome === "failure").length,
      successWeight: weightOf(of.filter((it) => it.outcome === "success")),
      ratedWeight: weightOf(of.filter((it) => it.outcome !== "neutral")),
      refunds: of.filter((it) => it.refunded).length,
      volume: of.reduce((sum, it) => sum + it.price, 0n),
      latencies: of.filter((it) => it.latencyMs !== null).length,
      latencySum: of.reduce((sum, it) => sum + BigInt(it.latencyMs ?? 0), 0n),
    });
  }
  return rows;
}

function weightOf(hires: Row<"hire">[]): number {
  return hires.reduce((sum, it) => sum + Math.floor(MICRO / it.clusterSize), 0);
}

describe("summaries of hires", () => {
  it("equal the sums over the hires, after outcomes that change and hires that leave the window", async () => {
    const log = new EventLog();
    const [seller, other, buyer] = [wallet(1), wallet(2), wallet(3)];
    const ring = [11, 12, 13, 14].map(wallet);
    for (const member of ring) log.after(1).transfer(wallet(99), member, 5_000_000);
    for (const member of ring) log.after(1).listing(member, "ring.task");
    for (let n = 0; n < 20; n++) {
      const options = { passed: n % 3 !== 0, capability: `text.task${n % 3}`, latency_ms: 10 * n };
      const receipt = log.after(DAY / 3).hire(n % 2 === 0 ? seller : other, buyer, options);
      // The buyer's telemetry changes the outcome and the latency of a hire that already counts.
      if (n % 4 === 0) {
        const verification = { all_passed: n % 3 === 0 };
        log.after(1).record("telemetry", buyer, { receipt, latency_ms: 7, verification });
      }
    }
    for (let n = 0; n < 6; n++) log.after(1).hire(ring[n % 4] ?? "0x", ring[(n + 1) % 4] ?? "0x");
    // An escrow counts before its receipt names the capability.
    const escrow = log.after(1).deposit(seller, buyer);
    log.after(1).delivered(escrow).released(escrow);
    log.after(1).receipt(seller, buyer, { escrow_id: escrow, capability: "text.late" });
    log.after(DAY * 27).tick();
    const { rows, hires } = await summariesOf(log);
    expect(hires.filter((it) => !it.inWindow)).to.have.length.within(3, hires.length - 3);
    expect(hires.some((it) => it.clusterSize > 1)).to.equal(true);
    const expected = addedUp(hires);
    expect(expected.has("capabilityTotal text.late")).to.equal(true);
    for (const [name, tally] of expected) expect(rows.get(name), name).to.include(tally);
    for (const [name, { hires: count, weight, volume }] of rows) {
      if (!expected.has(name)) expect([count, weight, volume], name).to.deep.equal([0, 0, 0n]);
    }
  });
});
