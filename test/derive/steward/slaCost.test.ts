import { expect } from "chai";
import fc from "fast-check";
import { apply } from "tallystick-derive/apply";
import { LoadedRows } from "tallystick-derive/loadedRows";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { noteFamily } from "tallystick-derive/steward/sla/slaFamilies";
import { latenciesOf } from "tallystick-derive/steward/sla/slaHires";
import type { Row } from "tallystick-derive/tables";
import { Transaction } from "tallystick-derive/transaction";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { DAY, type EventLog, HOUR, START, wallet } from "../eventLog.ts";
import { AGENT, goTo, stewardLog } from "./stewardScene.ts";

const penalty = { type: "trust_score_reduction", amount: "0.1" };
const measured = { measurement_window: "90 days", penalty };
const guarantees: RecordBody[] = [
  { ...measured, metric: "success_rate", target: "0.98", breach_threshold: "0.9" },
  { ...measured, metric: "latency_p99", target: "5000", unit: "milliseconds", breach_threshold: "7500" },
];

/** Plays the new part of a log, and counts the rows that are read and the characters that are written. */
function player(log: EventLog) {
  const store = new MemoryStore();
  let [reads, written] = [0, 0];
  const { get, insert, update } = store;
  store.get = (table, id) => {
    reads++;
    return get.call(store, table, id) as never;
  };
  store.insert = (table, row) => {
    written += JSON.stringify(row, plain).length;
    insert.call(store, table, row as never);
  };
  store.update = (table, id, change) => {
    written += JSON.stringify(change, plain).length;
    update.call(store, table, id, change as never);
  };
  let at = 0;
  const play = () => {
    [reads, written] = [0, 0];
    for (; at < log.events.length; at++) apply(store, log.events[at] as never, { trustSignatures: true });
    return { reads, written };
  };
  return { store, play };
}

const plain = (_: string, value: unknown) => (typeof value === "bigint" ? String(value) : value);

describe("the cost of SLAs", () => {
  it("an hour reads as much after five hundred failing and slow hires of two families as after fifty", () => {
    const log = stewardLog();
    log.record("sla", AGENT, { agent_id: AGENT, version: "1", guarantees, issued_at: log.time });
    const { store, play } = player(log);
    const buy = (count: number) => {
      for (let n = 0; n < count; n++)
        log.hire(AGENT, wallet(300 + (n % 2)), { passed: false, latency_ms: 8_000 + (n % 50) });
    };
    goTo(log, START + DAY);
    const hours: number[] = [];
    for (const count of [50, 450]) {
      buy(count);
      log.after(60).tick();
      play();
      log.after(HOUR).tick();
      hours.push(play().reads);
    }
    expect(store.rows("breach").size, "nobody of a third family").to.equal(0);
    const [few = 0, many = 0] = hours;
    // The digest's tree is deeper now.
    expect(many).to.be.at.most(few + 40);
    log.hire(AGENT, wallet(302), { passed: false, latency_ms: 9_000 });
    log.after(HOUR).tick();
    play();
    expect(store.rows("breach").size, "a third family").to.equal(2);
  });

  it("a hire writes as much after seven hundred different latencies of its day as after two hundred", () => {
    const log = stewardLog();
    log.record("sla", AGENT, { agent_id: AGENT, version: "1", guarantees, issued_at: log.time });
    const { store, play } = player(log);
    goTo(log, START + DAY);
    let sold = 0;
    const sell = (count: number) => {
      for (let n = 0; n < count; n++, sold++)
        log.hire(AGENT, wallet(300 + (sold % 5)), { latency_ms: 1 + ((sold * 7_919) % 60_000) });
      return play().written / count;
    };
    sell(150);
    const early = sell(50);
    sell(500);
    const late = sell(50);
    const day = `${AGENT}/${START / DAY + 1}`;
    expect(store.rows("slaDay").get(day)).to.include({ latencies: 750, slowFamilies: 5 });
    expect(store.rows("orderedNode").has(latenciesOf(day))).to.equal(true);
    expect(late / early).to.be.lessThan(2);
  });

  it("the database gets only a few requests for all the hires whose buyers share a penalty", async () => {
    const asked: number[] = [];
    for (const count of [60, 600]) {
      const log = stewardLog();
      const cost = { type: "financial", amount: "5", currency: "USDC" };
      const promised = guarantees.slice(0, 1).map((it) => ({ ...it, penalty: cost }));
      log.record("sla", AGENT, { agent_id: AGENT, version: "1", guarantees: promised, issued_at: log.time });
      goTo(log, START + DAY);
      for (let n = 0; n < count; n++) log.hire(AGENT, wallet(300 + (n % 5)), { passed: false });
      log.after(HOUR).tick();
      const { store, play } = player(log);
      play();
      const [breach] = store.rows("breach").values();
      goTo(log, (breach?.decidedBy ?? 0) + 1).tick();
      let reads = 0;
      const rows = new LoadedRows({
        get: () => undefined,
        read: async (names) => {
          reads++;
          return names.map(({ table, id }) => store.get(table, id));
        },
      });
      const done = await rows.run(() => {
        const attempt = new Transaction(rows);
        apply(attempt, log.events.at(-1) as never, { trustSignatures: true });
        return attempt;
      });
      done.commitTo(store);
      expect(store.rows("slaClaim").size, "claims").to.equal(5);
      asked.push(reads);
    }
    const [few = 0, many = 0] = asked;
    expect(many).to.be.at.most(few + 5);
  });

  it("the row of a day names three families with bad figures, or all if there are fewer, also after amended reports", () => {
    const part = fc.record({
      ok: fc.constant(0),
      failed: fc.constantFrom(0, 1),
      latency: fc.option(fc.constantFrom(1, 2, 300, 70_000)),
    });
    const step = fc.record({
      family: fc.integer({ min: 1, max: 90 }),
      is: part,
      hire: fc.constantFrom(0, 1),
    });
    const steps = fc.array(step, { maxLength: 300, size: "max" });
    fc.assert(
      fc.property(steps, (steps) => {
        const store = new MemoryStore();
        const counts = { ok: 0, failed: 0, latencies: 0, failingFamilies: 0, slowFamilies: 0 };
        let day: Row<"slaDay"> = { id: `${AGENT}/1`, ...counts, failing: "", slowest: "" };
        const hires = new Map<string, { failed: number; latency: number | null }>();
        for (const { family, is, hire } of steps) {
          const id = `${wallet(family)} ${hire}`;
          const was = { ok: 0, failed: 0, latency: null, ...hires.get(id) };
          hires.set(id, is);
          day = { ...day, ...noteFamily(store, day, wallet(family), was, is) };
        }
        const all = [...hires].map(([id, it]) => ({ family: id.split(" ")[0] ?? "", ...it }));
        const failing = new Set(all.filter((it) => it.failed > 0).map((it) => it.family));
        const highest = new Map<string, number>();
        for (const { family, latency } of all)
          if (latency !== null) highest.set(family, Math.max(latency, highest.get(family) ?? 0));
        const words = (text: string) => (text === "" ? [] : text.split(" "));
        expect(day.failingFamilies).to.equal(failing.size);
        expect(new Set(words(day.failing)).size).to.equal(Math.min(3, failing.size));
        for (const family of words(day.failing)) expect(failing.has(family)).to.equal(true);
        const slowest = [...highest]
          .sort(([a, x], [b, y]) => y - x || (a < b ? 1 : -1))
          .slice(0, 3)
          .map(([family, ms]) => `${family}:${ms}`);
        expect(day.slowFamilies).to.equal(highest.size);
        expect(words(day.slowest)).to.deep.equal(slowest);
      }),
      { numRuns: 15 },
    );
  });
});
