import { expect } from "chai";
import fc from "fast-check";
import { apply } from "tallystick-derive/apply";
import { drawNumber, drawnPlaces } from "tallystick-derive/audits/drawnPlaces";
import type { DeriveEvent } from "tallystick-derive/events";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { parseEvent } from "tallystick-derive/parseEvent";
import { sha256HexByNoble } from "tallystick-derive/sha256Hex";
import type { Row } from "tallystick-derive/tables";
import { Transaction } from "tallystick-derive/transaction";
import type { Address } from "tallystick-protocol/address";
import { AUDITED, HASHES, SELLER, say, scene, tickHash } from "./auditScene.ts";
import { DAY, type EventLog, hireIdFor, wallet } from "./eventLog.ts";
import { auditSteps } from "./oracle/auditActions.ts";
import { auditLog } from "./oracle/auditLog.ts";

const RUNS = { numRuns: Number(process.env.AUDIT_RUNS ?? 6) };
const ofAudits = (event: DeriveEvent) =>
  event.kind === "record" && (event.type === "auditor" || event.type.startsWith("audit_"));

/** Applies a log, and shows what each record of audits changed. */
async function eachAuditRecord(
  log: EventLog,
  look: (changes: ReturnType<Transaction["changes"]>, event: DeriveEvent) => void,
): Promise<MemoryStore> {
  const store = new MemoryStore();
  for (const event of log.events) {
    const step = new Transaction(store);
    apply(step, parseEvent(JSON.stringify(event)), { trustSignatures: true });
    if (ofAudits(event)) look(step.changes(), event);
    await step.commitTo(store);
  }
  return store;
}

describe("the drawn hires", () => {
  it("are the share of 100,000 hires that the rate gives, and each place is drawn equally often", () => {
    for (const ppm of [30_000, 200_000, 999_999]) {
      let [hires, drawn, ticks] = [0, 0, 0];
      const places = new Array<number>(50).fill(0);
      let whole = 0;
      for (; hires < 100_000; ticks++) {
        const count = 1 + ((ticks * 37) % 99);
        const number = drawNumber(sha256HexByNoble, [
          "tallystick/audit/sample/v1",
          tickHash(ticks),
          AUDITED,
          ppm,
        ]);
        const chosen = [...drawnPlaces(count, ppm, number)];
        [hires, drawn] = [hires + count, drawn + chosen.length];
        if (count < 50) continue;
        whole += 1;
        for (const place of chosen) if (place < 50) places[place] = (places[place] ?? 0) + 1;
      }
      const [share, rate] = [drawn / hires, ppm / 1_000_000];
      // The rounding at each tick is a separate random decision.
      expect(Math.abs(share - rate)).to.be.below((5 * Math.sqrt(ticks)) / 2 / hires);
      const spread = 5 * Math.sqrt(whole * rate * (1 - rate));
      for (const count of places) expect(Math.abs(count - whole * rate)).to.be.at.most(spread + 1);
    }
  });

  it("are at the same places whatever the two sides choose: amounts, hire ids, wallets, transactions", async () => {
    const placesOf = async (choose: (n: number) => { buyer: Address; amount: number; hire_id: string }) => {
      const log = scene({ audit: { ratePpm: 100_000 } });
      for (let n = 0; n < 200; n++) {
        const { buyer, ...more } = choose(n);
        if (n % 3 === 0) log.hash();
        log.hire(SELLER, buyer, { ...HASHES, ...more });
      }
      log.after(60).tick(tickHash(9));
      const { store } = await log.derive();
      const rows = [...store.rows("audit").values()];
      return rows.flatMap(({ drawnBlock }, n) => (drawnBlock === null ? [] : [n]));
    };
    const one = await placesOf((n) => ({ buyer: wallet(2), amount: 500_000, hire_id: hireIdFor(`a-${n}`) }));
    const other = await placesOf((n) => ({
      buyer: wallet(600 + n),
      amount: 1_000 + n,
      hire_id: hireIdFor(`b-${n * 7}`),
    }));
    expect(one.length).to.equal(20);
    expect(other).to.deep.equal(one);
  });
});

describe("no record of an operator", () => {
  // If an operator judges a round itself, or begins a round anew, this changes which auditors have just seen a buyer
  // and seller. It does not change which hires are drawn.
  it("changes which hires are drawn, or which auditors are assigned, except in rounds that the operator begins itself", async () => {
    const words = [fc.constantFrom("rollback", "dismiss"), fc.boolean()] as const;
    await fc.assert(
      fc.asyncProperty(auditSteps, ...words, async (steps, decision, beginsRounds) => {
        const log = await auditLog(steps);
        const last = log.events.pop() as DeriveEvent;
        const { store } = await log.derive();
        const audits = [...store.rows("audit").values()];
        const named = new Set<string>();
        const words: (() => void)[] = [];
        const operators = [...new Set(audits.map(({ operator }) => operator as Address))];
        for (const audit of audits) {
          const { hire, operator, status, decision: decided } = audit;
          const by = operator as Address;
          const reasons = [{ code: "other", detail: "" }];
          if (status === "failed" && decided === null) {
            named.add(hire);
            words.push(() => log.record("audit_actuation", by, { hire, decision, reasons }));
          }
          if (beginsRounds && audit.unassignedSince !== null) {
            named.add(hire);
            words.push(() => log.record("audit_judge", by, { hire, round: audit.round, models: ["m"] }));
          }
          if (beginsRounds && audit.mode === "bootstrap") {
            named.add(hire);
            words.push(() => log.record("audit_history", by, { hire }));
          }
        }
        for (const by of operators) {
          log.record("audit_canary", by, { commitment: tickHash(77) });
          const change = { capability: "text.translate", mode: "bootstrap", justification: "So that I may." };
          log.record("audit_mode", by, change);
        }
        for (const say of words) say();
        const tick = { ...last, block: log.block, time: log.time };
        const count = log.events.length;
        const drawnBy = async (events: DeriveEvent[]) => {
          log.events.splice(0, log.events.length, ...events);
          const { store } = await log.derive();
          const drawn = [...store.rows("audit").values()].filter(
            (it) => it.drawnBlock !== null && !named.has(it.hire),
          );
          const asked = beginsRounds ? [] : [...store.rows("auditAssignment").values()];
          return [
            drawn.map(({ id, drawnBlock }) => `${id} ${drawnBlock}`),
            asked.map(({ id, auditor, time }) => `${id} ${auditor} ${time}`),
          ];
        };
        const all = [...log.events];
        const spoken = await drawnBy([...all.slice(0, count), tick]);
        const isWord = (it: DeriveEvent) => it.block === tick.block && it.time === tick.time && ofAudits(it);
        const silent = await drawnBy([...all.filter((it) => !isWord(it)), tick]);
        // A rollback can move a seller below Tier 2, where it cannot audit. In these logs no seller is also an auditor,
        // so a rollback does not change who can audit.
        expect(spoken).to.deep.equal(silent);
      }),
      RUNS,
    );
  }).timeout(0);
});

describe("records of audits", () => {
  it("never change a hire's weight, price or time", async () => {
    await fc.assert(
      fc.asyncProperty(auditSteps, async (steps) => {
        const log = await auditLog(steps);
        const facts = async () =>
          [...(await log.derive()).store.rows("hire").values()].map(
            ({ id, clusterSize, price, amount, time }) => [id, clusterSize, price, amount, time],
          );
        const spoken = await facts();
        log.events.splice(0, log.events.length, ...log.events.filter((it) => !ofAudits(it)));
        expect(await facts()).to.deep.equal(spoken);
      }),
      RUNS,
    );
  }).timeout(0);

  it("change a seller's tier only by a hire of that seller; the reveal of a canary changes only the canary's two sides", async () => {
    await fc.assert(
      fc.asyncProperty(auditSteps, async (steps) => {
        await eachAuditRecord(await auditLog(steps), (changes, event) => {
          const rows = <T extends "hire" | "tierChange" | "agent">(table: T) =>
            changes.filter((it) => it.table === table).map(({ after }) => after as Row<T>);
          const sellers = rows("hire").map(({ seller }) => seller);
          for (const { agent } of rows("tierChange")) expect(sellers).to.include(agent);
          if (event.kind !== "record" || event.type !== "audit_canary") return;
          const sides = rows("hire").flatMap(({ seller, buyer }) => [seller, buyer]);
          // The two sides share a row about who bought from whom. This row enters nobody's figures.
          for (const { id, touched } of rows("agent")) if (touched !== null) expect(sides).to.include(id);
          const tables = new Set<string>(changes.map(({ table }) => table));
          for (const table of ["auditor", "auditMode", "auditAssignment", "auditPeriod", "elevation"])
            expect([...tables]).not.to.include(table);
          expect([...tables].some((it) => it.startsWith("roster"))).to.equal(false);
        });
      }),
      RUNS,
    );
  }).timeout(0);
});

describe("contested refunds between wallets of one owner", () => {
  it("improve no rate, tier, stars or volume of their seller, also if auditors pass the work", async () => {
    const log = scene({ auditors: 6, audit: { ratePpm: 0, contestedSeconds: 1, pairSeconds: 1 } });
    log.listing(SELLER, "text.translate", {
      ...{ payment_mode: "platform_escrow:swarmwage-partnered", audit: { operator: AUDITED } },
    });
    log.after(DAY);
    for (const [n, passed] of [true, true, false].entries())
      log.hire(SELLER, wallet(700 + n), { ...HASHES, passed, buyer_signature: "0x02" });
    const { [SELLER]: before } = (await log.derive()).agents;
    for (let n = 0; n < 6; n++) {
      const own = wallet(800 + (n % 2));
      const id = log.deposit(SELLER, own);
      log.receipt(SELLER, own, { escrow_id: id, hire_id: hireIdFor(`own-${n}`), ...HASHES });
      log.delivered(id).refunded(id, own);
      log.after(60).tick(tickHash(n));
      await say(log, "pass");
      log.after(60).tick(tickHash(100 + n));
    }
    const { agents, store } = await log.derive();
    const contested = [...store.rows("audit").values()].filter(({ cause }) => cause === "contested");
    expect(contested.map(({ status }) => status)).to.deep.equal(Array(6).fill("passed"));
    const { success_rate, audit_pass_rate, trust_tier, avg_stars, last_24h_volume_usdc } = before ?? {};
    expect(agents[SELLER]).to.include({
      ...{ success_rate, audit_pass_rate, trust_tier, avg_stars, last_24h_volume_usdc },
      ...{ refund_rate: 1 },
    });
    expect(agents[wallet(800)]?.false_refunds).to.equal(3);
  });
});
