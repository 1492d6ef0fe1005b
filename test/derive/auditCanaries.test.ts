import { expect } from "chai";
import { apply } from "tallystick-derive/apply";
import { openContext } from "tallystick-derive/applyContext";
import { judgeAuditors } from "tallystick-derive/audits/agreement";
import { exactInterval } from "tallystick-derive/audits/exactInterval";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { parseEvent } from "tallystick-derive/parseEvent";
import type { Address } from "tallystick-protocol/address";
import { hireId } from "tallystick-protocol/hire/hireIds";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { canaryCommitment } from "tallystick-protocol/records/auditCanary";
import { AUDITED, HASHES, offer, only, POOL, SELLER, say, scene, tickHash } from "./auditScene.ts";
import { DAY, type EventLog, wallet } from "./eventLog.ts";

const CANARY = wallet(500);
const SALT = `0x${"5a".repeat(32)}` as const;
const list = (truth: "good" | "bad", buyer: Address = CANARY) => {
  const hires = [{ buyer, nonce: "n-1", truth }];
  return { commitment: canaryCommitment({ salt: SALT, hires }), reveal: { salt: SALT, hires } };
};
const commit = (log: EventLog, truth: "good" | "bad", by = AUDITED) =>
  log.record("audit_canary", by, { commitment: list(truth).commitment });
const reveal = (log: EventLog, truth: "good" | "bad", by = AUDITED) =>
  log.record("audit_canary", by, list(truth));
const arranged = { hire_id: hireId(CANARY, "n-1"), buyer_signature: "0x02", ...HASHES };
const reasonOf = (store: MemoryStore, hash: string) =>
  [...store.rows("record").values()].find((it) => it.hash === hash)?.reason ?? null;

async function judged(log: EventLog, ...verdicts: string[]): Promise<EventLog> {
  log.after(60).tick(tickHash(1_000));
  for (const verdict of verdicts) {
    await say(log, verdict);
    log.after(60).tick(tickHash(1_001));
  }
  return log;
}

describe("a hire that an operator arranged", () => {
  it("leaves every figure of both sides when it is revealed, and measures its auditor", async () => {
    const log = scene();
    commit(log, "good");
    log.after(60).hire(SELLER, wallet(3), { ...HASHES, latency_ms: 5 });
    const before = await log.derive();
    const receipt = log.after(60).hire(SELLER, CANARY, { ...arranged, latency_ms: 900 });
    log.record("rating", CANARY, { receipt, side: "buyer", stars: 1 });
    await judged(log, "pass");
    expect((await log.derive()).agents[SELLER]?.avg_stars).to.equal(1);
    reveal(log, "good");
    const { agents, store } = await log.derive();
    const changed = { audits_drawn: 1 };
    expect(agents[SELLER]).to.deep.equal({ ...before.agents[SELLER], ...changed });
    expect(agents[CANARY]).to.include({ hires_bought: 0 });
    const [error] = store.rows("auditorError").values();
    expect(error).to.include({ good: 1, goodPassed: 1, bad: 0, badFailed: 0, capability: "text.translate" });
    // The hire changes no figure again when windows end or when later records name it.
    log.record("rating", SELLER, { receipt, side: "seller", stars: 5 });
    log.record("telemetry", CANARY, { receipt, latency_ms: 1, verification: { all_passed: false } });
    log.after(DAY).tick();
    expect((await log.derive()).agents[SELLER]?.last_24h_volume_usdc).to.equal("0.00");
    log.after(40 * DAY).tick();
    expect((await log.derive()).agents[SELLER]).to.include({ last_30d_hire_count: 0, total_ratings: 0 });
  });

  it("shows how often its auditor failed bad work, and removes nobody from a roster", async () => {
    const log = scene({ audit: { minAgreement: 1_000 } });
    commit(log, "bad");
    log.after(1).hire(SELLER, CANARY, arranged);
    await judged(log, "pass");
    reveal(log, "bad");
    const { store } = await log.derive();
    const [error] = store.rows("auditorError").values();
    expect(error).to.include({ good: 0, bad: 1, badFailed: 0 });
    expect([...store.rows("auditor").values()].every(({ isActive }) => isActive)).to.equal(true);
  });

  it("keeps its outcome when two auditors contradict the operator's list: no list removes a fail", async () => {
    const log = scene();
    commit(log, "good");
    log.after(60).hire(SELLER, CANARY, arranged);
    await judged(log, "fail", "fail");
    const before = await log.derive();
    reveal(log, "good");
    const { agents, store } = await log.derive();
    expect(agents).to.deep.equal(before.agents);
    expect(store.rows("canary").get(CANARY)).to.include({ status: "contradicted" });
    expect(store.rows("auditorError").size).to.equal(0);
    expect(store.rows("canaryList").get(`${AUDITED}/${list("good").commitment}`)).to.include({
      hires: 1,
      voids: 1,
    });
  });

  it("keeps its outcome when it does not meet the conditions of a canary", async () => {
    const cases: { [status: string]: (log: EventLog) => void } = {
      late: (log) => {
        log.hire(SELLER, CANARY, arranged);
        commit(log, "bad");
      },
      unsigned: (log) => {
        commit(log, "bad");
        const { buyer_signature: _, ...unsigned } = arranged;
        log.after(1).hire(SELLER, CANARY, unsigned);
      },
      unknown: (log) => {
        commit(log, "bad");
        log.after(1).hire(SELLER, CANARY, { ...arranged, hire_id: hireId(CANARY, "n-2") });
      },
      busy: (log) => {
        commit(log, "bad");
        log.after(1).hire(SELLER, CANARY, arranged);
        log.hire(wallet(77), CANARY);
      },
      foreign: (log) => {
        log.listing(wallet(78), "text.translate", {});
        commit(log, "bad");
        log.after(1).hire(wallet(78), CANARY, arranged);
      },
    };
    for (const [status, happen] of Object.entries(cases)) {
      const log = scene();
      happen(log);
      log.after(60).tick(tickHash(5));
      const before = await log.derive();
      reveal(log, "bad");
      const { agents, store } = await log.derive();
      expect(store.rows("canary").get(CANARY)?.status, status).to.equal(status);
      expect(agents, status).to.deep.equal(before.agents);
    }
  });

  it("keeps its outcome if its deposit was made before the list, and paid out after it", async () => {
    const log = scene();
    log.listing(SELLER, "text.translate", {
      ...{ payment_mode: "platform_escrow:swarmwage-partnered", audit: { operator: AUDITED } },
    });
    const id = log.after(DAY).deposit(SELLER, CANARY, { hireId: hireId(CANARY, "n-1") });
    log.after(1);
    commit(log, "good");
    log.after(1).receipt(SELLER, CANARY, { hire_id: hireId(CANARY, "n-1"), escrow_id: id, ...HASHES });
    log.delivered(id).released(id);
    reveal(log, "good");
    const { store } = await log.derive();
    expect(store.rows("canary").get(CANARY)).to.include({ status: "late", hire: null });
    expect(store.rows("hire").get(id)?.isCanary).to.equal(false);
  });

  it("stays as its first list revealed it if a second list names its buyer too", async () => {
    const log = scene();
    commit(log, "good");
    commit(log, "bad");
    log.after(60).hire(SELLER, CANARY, arranged);
    await judged(log, "pass");
    reveal(log, "good");
    const before = (await log.derive()).store;
    const second = reveal(log, "bad");
    const { store } = await log.derive();
    expect(reasonOf(store, second)).to.equal(null);
    for (const table of ["canary", "auditorError"] as const)
      expect([...store.rows(table)], table).to.deep.equal([...before.rows(table)]);
    const [audited] = before.rows("auditAssignment").values();
    expect([...before.rows("auditorError").keys()]).to.deep.equal([
      `${AUDITED}/${audited?.auditor}/text.translate`,
    ]);
    expect([...store.rows("canaryList").values()].map(({ voids }) => voids)).to.deep.equal([0, 1]);
  });

  it("is recognised also if a stranger joins its wallet with wallets that bought from many sellers", async () => {
    const log = scene();
    commit(log, "good");
    log.after(60).hire(SELLER, CANARY, arranged);
    await judged(log, "pass");
    const joined = [CANARY, wallet(600), wallet(601), wallet(602)];
    for (const it of joined) log.listing(it, `custom.${it}`);
    for (const it of joined) log.transfer(wallet(70), it, 900_000_000);
    for (let n = 0; n < 257; n++) log.hire(wallet(1_000 + n), wallet(600));
    expect((await log.derive()).agents[CANARY]?.cluster_size).to.equal(4);
    reveal(log, "good");
    const { agents, store } = await log.derive();
    expect(store.rows("canary").get(CANARY)?.status).to.equal("counted");
    expect(agents[CANARY]?.hires_bought).to.equal(0);
  });

  it("is recognised by its deposit too, if its buyer made the deposit", async () => {
    const log = scene();
    log.listing(SELLER, "text.translate", {
      ...{ payment_mode: "platform_escrow:swarmwage-partnered", audit: { operator: AUDITED } },
    });
    commit(log, "good");
    const id = log.after(DAY).deposit(SELLER, CANARY, { hireId: hireId(CANARY, "n-1") });
    log.receipt(SELLER, CANARY, { hire_id: hireId(CANARY, "n-1"), escrow_id: id, ...HASHES });
    log.delivered(id).released(id);
    reveal(log, "good");
    const { store } = await log.derive();
    expect(store.rows("canary").get(CANARY)).to.include({ status: "undrawn", hire: id });
    expect(store.rows("hire").get(id)?.isCanary).to.equal(true);
    log.after(60).tick(tickHash(4));
    expect((await only(log)).audit.status).to.equal("eligible");
  });

  it("comes only from a list of its operator, who commits to the list once and reveals it once", async () => {
    const log = scene();
    const words = [
      commit(log, "good", wallet(23)),
      reveal(log, "good"),
      commit(log, "good"),
      commit(log, "good"),
      reveal(log, "good", wallet(23)),
      reveal(log, "good"),
      reveal(log, "good"),
    ];
    const { store } = await log.derive();
    expect(words.map((it) => reasonOf(store, it))).to.deep.equal([
      `signer ${wallet(23)} is no operator of audits`,
      "body.commitment was not made before",
      null,
      "body.commitment was made before",
      `signer ${wallet(23)} is no operator of audits`,
      null,
      "body.commitment was revealed before",
    ]);
  });
});

describe("the exact interval of a share", () => {
  it("is that of Clopper and Pearson", () => {
    // The bounds are those of the beta distribution, rounded outwards at six decimals. For 0 of n and n of n they have
    // a closed form.
    const ends = (n: number) => 1 - 0.025 ** (1 / n);
    for (const n of [1, 2, 10, 100, 5_000]) {
      expect(exactInterval(0, n)[0]).to.equal(0);
      expect(exactInterval(0, n)[1]).to.be.within(ends(n), ends(n) + 2e-6);
      expect(exactInterval(n, n)[1]).to.equal(1);
      expect(exactInterval(n, n)[0]).to.be.within(1 - ends(n) - 2e-6, 1 - ends(n));
    }
    expect(exactInterval(0, 0)).to.deep.equal([0, 1]);
    expect(exactInterval(5, 10)).to.deep.equal([0.187086, 0.812914]);
    expect(exactInterval(9, 10)).to.deep.equal([0.554983, 0.997472]);
    for (let k = 0; k <= 20; k++) {
      const [low, high] = exactInterval(k, 20);
      expect(low).to.be.at.most(k / 20);
      expect(high).to.be.at.least(k / 20);
    }
  });
});

describe("an auditor whose verdicts often differ from the audits' ends", () => {
  const ONE = `${AUDITED}/${wallet(100)}`;

  /** A log that is derived while it grows, so that each verdict comes from the drawn auditor. */
  function growing() {
    const log = scene({ auditors: 3, audit: { pairSeconds: 1, recheckPpm: 1_000_000 } });
    const store = new MemoryStore();
    let applied = 0;
    const derive = async () => {
      for (const event of log.events.slice(applied))
        apply(store, parseEvent(JSON.stringify(event)), { trustSignatures: true });
      applied = log.events.length;
    };
    let n = 0;
    /**
     * One hire and its audit. The tested auditor gives the verdict `own` if it is assigned. All other auditors give
     * the verdict `good`.
     */
    const hire = async (good: "pass" | "fail", own: "pass" | "fail") => {
      log.hire(SELLER, wallet(300 + n), HASHES);
      for (let round = 0; round < 4; round++) {
        log.after(60).tick(tickHash(10 * n++));
        await derive();
        const open = [...store.rows("auditAssignment").values()].at(-1);
        if (open === undefined || open.verdict !== null) return;
        const { auditor, hire, round, attempt } = open;
        const verdict = auditor === wallet(100) ? own : good;
        log.record("audit_verdict", auditor as Address, {
          ...{ hire, round, attempt, verdict, ...HASHES, reasons: [{ code: "other", detail: "" }] },
        });
      }
    };
    const row = () => store.rows("auditor").get(ONE);
    /** Adds hires until the tested auditor has `judged` verdicts, `wrong` of them against the other auditors. */
    const until = async (judged: number, wrong: number, word: "pass" | "fail") => {
      const other = word === "pass" ? "fail" : "pass";
      const wrongNow = () => (row()?.wrongFails ?? 0) + (row()?.wrongPasses ?? 0);
      while (row()?.isActive && wrongNow() < wrong) await hire(other, word);
      while (row()?.isActive && (row()?.judged ?? 0) < judged) await hire(other, other);
      return row();
    };
    return { log, store, derive, until };
  }

  for (const [word, reason] of [
    ["fail", "extortion"],
    ["pass", "collusion"],
  ] as const)
    it(`with too many wrong verdicts of ${word} leaves the roster for ${reason}, and can come back after 30 days`, async () => {
      const { log, store, derive, until } = growing();
      await derive();
      const row = await until(11, 4, word);
      expect(row).to.include({ isActive: false, removedFor: reason, judged: 0, epoch: 1 });
      const bar = row?.barredUntil ?? 0;
      log.after(bar - 1 - log.time);
      offer(log, wallet(100), { issued_at: 5 });
      await derive();
      expect([...store.rows("record").values()].at(-1)?.reason).to.equal(
        `it was taken out for ${reason}: an offer counts from ${bar} on`,
      );
      log.after(1);
      offer(log, wallet(100), { issued_at: 6 });
      await derive();
      expect(store.rows("auditor").get(ONE)).to.include({
        ...{ isActive: true, removedFor: null, barredUntil: null, wrongFails: 0, wrongPasses: 0 },
      });
    });

  it("is not judged again by an audit that ends after it left the roster", async () => {
    const log = scene({ audit: { minAgreement: 1 } });
    log.hire(SELLER, wallet(300), HASHES);
    await judged(log, "fail", "pass", "pass");
    const { store, audit, asked } = await only(log);
    const rows = () => asked.map(({ auditor }) => store.rows("auditor").get(`${AUDITED}/${auditor}`));
    const [left, ...others] = rows();
    expect(left).to.include({ removedFor: "extortion", judged: 0, wrongFails: 0, epoch: 1 });
    expect(others.map((it) => it?.judged)).to.deep.equal([1, 1]);
    // As if another hire of the same auditors ended now.
    const context = await openContext(store, { kind: "tick", block: log.block, time: log.time });
    judgeAuditors(context, audit, "passed");
    expect(rows()[0]).to.deep.equal(left);
    expect(rows().map((it) => it?.judged)).to.deep.equal([0, 2, 2]);
  });

  it("stays with 3 of 10 wrong verdicts, and with 9 of 9, and leaves with 4 of 10", async () => {
    for (const [judged, wrong, isActive] of [
      [10, 3, true],
      [9, 9, true],
      [10, 4, false],
    ] as const) {
      const { derive, until } = growing();
      await derive();
      const row = await until(judged, wrong, "fail");
      if (isActive) expect(row).to.include({ judged, wrongFails: wrong });
      expect(row?.isActive, `${wrong} of ${judged}`).to.equal(isActive);
    }
  });
});

describe("what an auditor earns", () => {
  const accountOf = async (log: EventLog) => {
    const { store } = await log.derive();
    const fees = [...store.rows("auditAssignment").values()].map(({ fee }) => fee);
    return { store, fees, operator: store.rows("auditOperator").get(AUDITED) };
  };
  const drawn = (log: EventLog, more: RecordBody = {}) => {
    log.hire(SELLER, wallet(2), { ...HASHES, ...more });
    return log;
  };

  it("is the fee for a verdict, three times the fee for the first confirmed fail, and nothing for silence", async () => {
    for (const [verdicts, expected] of [
      [["pass"], [5_000n]],
      [
        ["fail", "fail"],
        [15_000n, 5_000n],
      ],
      [
        ["fail", "pass", "pass"],
        [5_000n, 5_000n, 5_000n],
      ],
      [
        ["fail", "pass", "fail"],
        [15_000n, 5_000n, 5_000n],
      ],
      [
        ["inconclusive", "pass"],
        [0n, 5_000n],
      ],
      [
        ["inconclusive", "inconclusive", "pass"],
        [5_000n, 0n, 5_000n],
      ],
      [
        ["inconclusive", "inconclusive", "inconclusive"],
        [5_000n, 5_000n, 0n],
      ],
    ] as const) {
      const log = drawn(scene({ auditors: 8 }));
      await judged(log, ...verdicts);
      expect((await accountOf(log)).fees, verdicts.join()).to.deep.equal(expected);
    }
  });

  it("depends on the price band of the hire", async () => {
    const bands = [
      { fromAtomic: "0", feeAtomic: "1" },
      { fromAtomic: "500000", feeAtomic: "2" },
    ];
    for (const [amount, fee] of [
      [499_999, 1n],
      [500_000, 2n],
    ] as const) {
      const log = drawn(scene({ audit: { fees: bands } }), { amount });
      await judged(log, "pass");
      expect((await accountOf(log)).fees).to.deep.equal([fee]);
    }
  });

  it("is paid by transfers of the pool, and an overpayment of one auditor does not reduce the debt to others", async () => {
    const log = drawn(scene());
    await judged(log, "pass");
    const [first] = (await accountOf(log)).store.rows("auditAssignment").values();
    const auditor = first?.auditor as Address;
    log.transfer(POOL, wallet(9), 1_000_000);
    log.transfer(wallet(9), auditor, 1_000);
    log.transfer(POOL, auditor, 2_000);
    expect((await accountOf(log)).operator).to.include({ accrued: 5_000n, paid: 2_000n, owed: 3_000n });
    log.transfer(POOL, auditor, 10_000);
    expect((await accountOf(log)).operator).to.include({ accrued: 5_000n, paid: 12_000n, owed: 0n });
    log.hire(SELLER, wallet(3), HASHES);
    log.after(60).tick(tickHash(7));
    await say(log, "pass");
    const { operator, store } = await accountOf(log);
    const owed = (await only(log)).last.auditor === auditor ? 0n : 5_000n;
    expect(operator).to.include({ accrued: 10_000n, paid: 12_000n, owed });
    const [period] = store.rows("auditPeriod").values();
    expect(period).to.include({ accrued: 10_000n, paid: 12_000n, owed, operator: AUDITED });
    expect((period?.from ?? 1) % 2_592_000).to.equal(0);
  });
});
