import { expect } from "chai";
import { apply } from "tallystick-derive/apply";
import { drawNumber, drawnPlaces } from "tallystick-derive/audits/drawnPlaces";
import { sha256HexByNoble } from "tallystick-derive/sha256Hex";
import type { Store } from "tallystick-derive/store";
import type { Hex } from "tallystick-protocol/hex";
import type { RecordBody, RecordJson } from "tallystick-protocol/json/recordBody";
import {
  AUDITED,
  auditsIn,
  BUYER,
  HASHES,
  OTHER_HASHES,
  only,
  POOL,
  SELLER,
  scene,
  tickHash,
} from "./auditScene.ts";
import { DAY, EventLog, hireIdFor, OTHER_LEDGER, wallet } from "./eventLog.ts";

describe("the drawn hires", () => {
  const number = drawNumber(sha256HexByNoble, ["any", "words"]);

  it("are none at 0 ppm, all at 1,000,000, all except at most one at 999,999, and at most one at 1", () => {
    for (const count of [0, 1, 2, 999]) {
      const drawn = (ppm: number, u: bigint) => [...drawnPlaces(count, ppm, u)];
      for (const u of [0n, 1n, 500_000n, 999_999n, number]) {
        expect(drawn(0, u)).to.deep.equal([]);
        expect(drawn(1_000_000, u)).to.deep.equal(Array.from({ length: count }, (_, n) => n));
        expect(drawn(999_999, u).length).to.be.within(Math.max(0, count - 1), count);
        expect(drawn(1, u).length).to.be.within(0, 1);
      }
      expect(drawn(1, 999_999n)).to.deep.equal(count === 0 ? [] : [0]);
      expect(drawn(999_999, 0n)).to.deep.equal(Array.from({ length: count }, (_, n) => n).slice(1));
    }
  });

  it("are those that the formula gives for each place, and their number differs from the rate by less than one", () => {
    for (const [count, ppm, u] of [
      [100, 30_000, number],
      [1_000, 333_333, 999_999n],
      [10, 999_998, 7n],
      [100_000, 30_000, 123_456n],
    ] as const) {
      const share = (n: number) => (BigInt(n) * BigInt(ppm) + (u % 1_000_000n)) / 1_000_000n;
      const slow = Array.from({ length: count }, (_, n) => n).filter((n) => share(n + 1) > share(n));
      const drawn = [...drawnPlaces(count, ppm, u)];
      expect(drawn).to.deep.equal(slow);
      expect(Math.abs(drawn.length - (count * ppm) / 1_000_000)).to.be.below(1);
    }
  });
});

describe("a listing's consent to audits", () => {
  for (const [seconds, holds] of [
    [DAY - 1, false],
    [DAY, true],
  ] as const) {
    it(`${holds ? "is valid" : "is not valid yet"} ${seconds} seconds after it was given`, async () => {
      const log = new EventLog({ audit: { operators: { [AUDITED]: { pool: POOL } } } });
      log.listing(SELLER, "text.translate", { audit: { operator: AUDITED } });
      log.after(seconds).hire(SELLER, BUYER, HASHES);
      expect(auditsIn((await log.derive()).store).statuses).to.deep.equal(holds ? ["eligible"] : []);
    });

    it(`${holds ? "is over" : "is still valid"} ${seconds} seconds after it was taken back`, async () => {
      const retired = { issued_at: 2, retired: true, audit: { operator: AUDITED } };
      for (const back of [{ issued_at: 2 }, retired] as RecordBody[]) {
        const log = scene();
        log.listing(SELLER, "text.translate", back);
        log.after(seconds).hire(SELLER, BUYER, HASHES);
        expect(auditsIn((await log.derive()).store).statuses).to.deep.equal(holds ? [] : ["eligible"]);
      }
    });
  }

  it("counts as it was when the buyer paid, not when the receipt came", async () => {
    const log = scene();
    const id = log.deposit(SELLER, BUYER);
    const tx = log.transfer(BUYER, SELLER, 500_000, { authorized: true });
    log.listing(SELLER, "text.translate", { issued_at: 2 });
    log.after(DAY).receipt(SELLER, BUYER, { tx, ...HASHES });
    log.receipt(SELLER, BUYER, { escrow_id: id, ...HASHES });
    expect(auditsIn((await log.derive()).store).audits.map(({ id: hire }) => hire)).to.deep.equal([
      `${tx}-2`,
    ]);
  });

  it("does not count in any other form, or for an operator that the parameters do not name", async () => {
    const forms: RecordJson[] = [
      AUDITED,
      { operator: AUDITED, more: 1 },
      { operator: wallet(9) },
      [],
      null,
      true,
    ];
    for (const audit of forms) {
      const log = scene();
      log.listing(SELLER, "text.summarize", { audit });
      log.after(DAY).hire(SELLER, BUYER, { capability: "text.summarize", ...HASHES });
      expect(auditsIn((await log.derive()).store).statuses, JSON.stringify(audit)).to.deep.equal([]);
    }
  });
});

describe("a hire that may be audited", () => {
  it("is known before its escrow is settled, and also if its receipt comes after the settlement", async () => {
    for (const order of ["receipt first", "receipt last"]) {
      const log = scene();
      log.listing(SELLER, "text.translate", {
        payment_mode: "platform_escrow:swarmwage-partnered",
        audit: { operator: AUDITED },
      });
      const id = log.after(DAY).deposit(SELLER, BUYER);
      if (order === "receipt last") log.after(60).delivered(id).released(id);
      log.after(60).receipt(SELLER, BUYER, { escrow_id: id, ...HASHES });
      log.after(1).tick(tickHash(2));
      const { audit } = await only(log);
      expect([audit.id, audit.status], order).to.deep.equal([id, "assigned"]);
    }
  });

  it("is drawn after the waiting time if its seller gives no hashes, and then fails", async () => {
    for (const [more, isEligible] of [
      [{}, true],
      [{ params_hash: HASHES.params_hash }, true],
      [HASHES, true],
    ] as const) {
      const log = scene();
      log.hire(SELLER, BUYER, more as RecordBody);
      const early = log.after(DAY - 1).tick(tickHash(2));
      const before = auditsIn((await early.derive()).store);
      expect(before.audits.length).to.equal(more === HASHES ? 1 : 0);
      log.after(1).tick(tickHash(3));
      expect(auditsIn((await log.derive()).store).audits.length).to.equal(isEligible ? 1 : 0);
      log.after(1).tick(tickHash(4));
      const { audit } = await only(log);
      expect([audit.status, audit.reason]).to.deep.equal(
        more === HASHES ? ["assigned", null] : ["failed", "undisclosed"],
      );
      // The audit has what its receipt says, also if this is not all that an auditor needs.
      const { params_hash: paramsHash = null, result_hash: resultHash = null } = more as RecordBody;
      expect(audit).to.include({ capability: "text.translate", paramsHash, resultHash });
      expect(audit.receipt).to.be.a("string");
    }
  });

  it("is drawn like a hire without hashes if the seller names it by a text that no work can match", async () => {
    for (const hire_id of ["my hire 1", `0x${"A1".repeat(32)}`, `0x${"a1".repeat(31)}`]) {
      const log = scene();
      log.hire(SELLER, BUYER, { hire_id, ...HASHES });
      log.after(1).tick(tickHash(2));
      log.after(DAY).tick(tickHash(3));
      log.after(1).tick(tickHash(4));
      const { store, audit } = await only(log);
      expect([audit.status, audit.reason], hire_id).to.deep.equal(["failed", "undisclosed"]);
      expect(auditsIn(store).asked).to.deep.equal([]);
    }
  });

  it("fails like a hire without hashes if the seller does not list its capability", async () => {
    const log = scene();
    log.hire(SELLER, BUYER, { capability: "text.something", ...HASHES });
    log.after(1).tick(tickHash(2));
    const { audit } = await only(log);
    expect([audit.status, audit.reason]).to.deep.equal(["failed", "undisclosed"]);
  });

  it("fails, drawn or not, when its seller signs other hashes for the hire, in any ledger", async () => {
    for (const ratePpm of [0, 1_000_000]) {
      const log = scene({ audit: { ratePpm } });
      log.hire(SELLER, BUYER, { hire_id: hireIdFor("one"), ...HASHES });
      log.after(1).tick(tickHash(2));
      const body = {
        ...(log.events.findLast((it) => it.kind === "record")?.body as RecordBody),
        ...OTHER_HASHES,
      };
      log.said("receipt", SELLER, body, OTHER_LEDGER);
      const { audit } = await only(log);
      expect([audit.status, audit.reason, audit.cause]).to.deep.equal([
        "failed",
        "equivocation",
        ratePpm === 0 ? "rules" : "sample",
      ]);
    }
  });

  it("is not failed by a second receipt of its seller that leaves out a hash or both", async () => {
    for (const left of [["params_hash"], ["result_hash"], ["params_hash", "result_hash"]]) {
      const log = scene();
      log.hire(SELLER, BUYER, { hire_id: hireIdFor("one"), ...HASHES });
      log.after(1).tick(tickHash(2));
      const body = { ...(log.events.findLast((it) => it.kind === "record")?.body as RecordBody) };
      for (const name of left) delete body[name];
      log.said("receipt", SELLER, body, OTHER_LEDGER);
      const { audit } = await only(log);
      expect([audit.status, audit.reason], left.join()).to.deep.equal(["assigned", null]);
    }
  });

  it("is not bought by a pool, and has at least the lowest price of a hire", async () => {
    const log = scene();
    log.hire(SELLER, POOL, HASHES);
    log.hire(SELLER, BUYER, { ...HASHES, amount: 999 });
    expect(auditsIn((await log.derive()).store).statuses).to.deep.equal([]);
  });
});

describe("a tick", () => {
  it("without a hash draws nothing, and waiting hires go on waiting", async () => {
    const log = scene();
    log.hire(SELLER, BUYER, HASHES);
    log.after(1).tick();
    expect(auditsIn((await log.derive()).store).statuses).to.deep.equal(["eligible"]);
    log.after(1).tick(tickHash(2));
    expect(auditsIn((await log.derive()).store).statuses).to.deep.equal(["assigned"]);
  });

  it("does not draw hires of its own block, because the maker of the block knows its hash", async () => {
    const log = scene();
    log.hire(SELLER, BUYER, HASHES);
    log.tick(tickHash(2));
    expect(auditsIn((await log.derive()).store).statuses).to.deep.equal(["eligible"]);
    log.tick(tickHash(3));
    expect(auditsIn((await log.derive()).store).statuses).to.deep.equal(["assigned"]);
  });

  it("with another hash draws other hires, and after a replay only the draws of the new hash remain", async () => {
    const log = scene({ audit: { ratePpm: 500_000 }, auditors: 5 });
    for (let n = 0; n < 40; n++) log.hire(SELLER, wallet(200 + n), HASHES);
    const start = log.events.length;
    log.after(1);
    const rowsWith = async (hash: Hex) => {
      log.events.length = start;
      log.events.push({ block: log.block, time: log.time, kind: "tick", hash });
      return auditsIn((await log.derive()).store);
    };
    const drawn = new Set<string>();
    for (let n = 5; n < 13; n++) {
      const { statuses } = await rowsWith(tickHash(n));
      expect((await rowsWith(tickHash(n))).statuses).to.deep.equal(statuses);
      expect(statuses.filter((it) => it !== "eligible").length).to.equal(20);
      drawn.add(statuses.join());
    }
    expect(drawn.size, "the odd hires or the even hires").to.equal(2);
  });

  it("reads only the drawn hires, however many hires wait", async () => {
    const log = scene({ audit: { ratePpm: 10_000 } });
    for (let n = 0; n < 1_000; n++) log.hire(SELLER, BUYER, HASHES);
    log.after(1);
    const { store } = await log.derive();
    const reads: string[] = [];
    const counting: Store = {
      get: (table, id) => {
        if (table === "audit") reads.push(id);
        return store.get(table, id);
      },
      insert: (table, row) => store.insert(table, row),
      put: (table, row) => store.put(table, row),
      update: (table, id, change) => store.update(table, id, change),
    };
    apply(counting, { block: log.block, time: log.time, kind: "tick", hash: tickHash(9) });
    const drawn = auditsIn(store).audits.filter((it) => it.drawnBlock !== null);
    expect(drawn.length).to.equal(10);
    expect(new Set(reads).size).to.equal(10);
  });
});
