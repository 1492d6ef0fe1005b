import { expect } from "chai";
import { itemsOf } from "tallystick-derive/lists";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { Address } from "tallystick-protocol/address";
import {
  AUDITED,
  BUYER,
  HASHES,
  OTHER_HASHES,
  offer,
  only,
  SELLER,
  say,
  scene,
  tickHash,
} from "./auditScene.ts";
import { DAY, type EventLog, wallet } from "./eventLog.ts";

/** Adds a hire, and the tick that draws and assigns it. */
function drawn(log: EventLog): EventLog {
  log.hire(SELLER, BUYER, HASHES);
  return log.after(60).tick(tickHash(1_000));
}

const statusOf = async (log: EventLog) => (await only(log)).audit.status;
const reasonOf = (store: MemoryStore, hash: string) =>
  [...store.rows("record").values()].find((it) => it.hash === hash)?.reason;

describe("the rounds of an audit", () => {
  const cases: [words: string[], status: string, rounds: number][] = [
    [["pass"], "passed", 1],
    [["fail", "fail"], "failed", 2],
    [["fail", "pass", "pass"], "passed", 3],
    [["fail", "pass", "fail"], "failed", 3],
    [["inconclusive", "inconclusive", "inconclusive"], "inconclusive", 1],
    [["inconclusive", "pass"], "passed", 1],
    [["fail", "inconclusive", "inconclusive", "inconclusive"], "inconclusive", 2],
  ];
  for (const [words, status, rounds] of cases) {
    it(`end as ${status} after ${words.join(", ")}`, async () => {
      const log = drawn(scene({ auditors: 8 }));
      for (const [n, word] of words.entries()) {
        await say(log, word);
        log.after(60).tick(tickHash(2_000 + n));
      }
      const { audit, asked } = await only(log);
      expect([audit.status, audit.round]).to.deep.equal([status, rounds]);
      expect(asked.map((it) => it.verdict)).to.deep.equal(words);
      expect(new Set(asked.map((it) => it.auditor)).size).to.equal(words.length);
    });
  }

  it("continue when a passed hire is drawn for a second look", async () => {
    for (const [second, status] of [
      [["pass"], "passed"],
      [["fail", "fail"], "failed"],
    ] as const) {
      const log = drawn(scene({ auditors: 8, audit: { recheckPpm: 1_000_000 } }));
      await say(log, "pass");
      expect(await statusOf(log)).to.equal("rechecking");
      log.after(60).tick(tickHash(3));
      for (const word of second) {
        await say(log, word);
        log.after(60).tick(tickHash(4));
      }
      expect(await statusOf(log)).to.equal(status);
    }
  });

  it("end as abandoned when their operator leaves the parameters", async () => {
    const log = drawn(scene());
    await say(log, "fail");
    log.record("params", wallet(20), { version: 2, operator: wallet(20) });
    log.after(60).tick(tickHash(5));
    expect(await statusOf(log)).to.equal("abandoned");
  });
});

describe("a verdict", () => {
  it("counts when it is late, until somebody else is assigned", async () => {
    for (const [seconds, hash, counts] of [
      [DAY - 61, tickHash(6), true],
      [DAY, undefined, true],
      [DAY, tickHash(6), false],
    ] as const) {
      const log = drawn(scene());
      const { last } = await only(log);
      log.after(seconds).tick(hash);
      await say(log, "pass", { attempt: 1 });
      const event = log.events.at(-1);
      if (event?.kind === "record") event.signer = last.auditor as Address;
      expect(await statusOf(log)).to.equal(counts ? "rechecking" : "assigned");
    }
  });

  it("has its own time in each attempt: an attempt does not end when the time of the attempt before it is over", async () => {
    const log = drawn(scene());
    log.after(DAY / 2);
    await say(log, "inconclusive");
    log.after(60).tick(tickHash(6));
    const attempt = async () => {
      const { audit } = await only(log);
      return [audit.status, audit.attempt];
    };
    expect(await attempt()).to.deep.equal(["assigned", 2]);
    log.after(DAY / 2).tick(tickHash(7));
    log.after(60).tick(tickHash(8));
    expect(await attempt(), "a day after the first attempt began").to.deep.equal(["assigned", 2]);
    log.after(DAY / 2).tick(tickHash(9));
    expect(await attempt(), "a day after the second attempt began").to.deep.equal(["assigned", 3]);
  });

  it("that is late and cannot judge leaves the audit waiting once", async () => {
    const log = drawn(scene());
    const { last, audit } = await only(log);
    log.after(DAY).tick();
    await say(log, "inconclusive");
    const { store, audit: waiting } = await only(log);
    expect(waiting).to.include({ status: "assigning", attempt: 1 });
    expect(store.rows("auditAssignment").get(last.id)?.verdict).to.equal("inconclusive");
    expect([...itemsOf(store, "auditsWaiting")]).to.deep.equal([audit.id]);
  });

  it("counts only from the assigned auditor, once, for this round and attempt, and about the receipt's bytes", async () => {
    const log = drawn(scene());
    const faults = [
      await say(log, "fail", { round: 2 }),
      await say(log, "fail", { attempt: 2 }),
      await say(log, "fail", { hire: `0x${"00".repeat(32)}` }),
      await say(log, "fail", { params_hash: OTHER_HASHES.result_hash }),
      await say(log, "fail", { result_hash: OTHER_HASHES.result_hash }),
    ];
    const { audit } = await only(log);
    faults.push(
      log.record("audit_verdict", SELLER, {
        ...{ hire: audit.id, round: 1, attempt: 1, verdict: "pass", ...HASHES },
        reasons: [{ code: "other", detail: "" }],
      }),
    );
    const good = await say(log, "fail");
    faults.push(await say(log, "pass"));
    const { store, last } = await only(log);
    expect([last.verdict, last.record, last.reasons]).to.deep.equal(["fail", good, "other"]);
    expect(faults.map((hash) => reasonOf(store, hash)?.replaceAll(/0x[0-9a-f]+/g, "…"))).to.deep.equal([
      "nobody was assigned round 2, attempt 1",
      "nobody was assigned round 1, attempt 2",
      "nobody was assigned round 1, attempt 1",
      "body.params_hash must be the receipt's, …",
      "body.result_hash must be the receipt's, …",
      "signer must be the auditor, …",
      "its auditor gave a verdict before",
    ]);
  });
});

describe("an auditor", () => {
  const askedOf = async (log: EventLog) => (await only(log)).asked.map((it) => it.auditor);
  /** The auditors on the roster, by their places. */
  const rosterOf = async (log: EventLog) => {
    const { store } = await log.derive();
    const size = store.rows("roster").get(`${AUDITED}/text.translate`)?.size ?? 0;
    const places = Array.from({ length: size }, (_, n) => `${AUDITED}/text.translate/${n}`);
    return places.map((place) => store.rows("rosterPlace").get(place)?.auditor);
  };

  it("must be in Tier 2, and must have a success in the capability", async () => {
    const log = scene({ auditors: 0 });
    offer(log, wallet(50));
    log.hire(wallet(51), wallet(99), { capability: "text.summarize" });
    offer(log, wallet(51));
    drawn(log);
    const { store, audit, asked } = await only(log);
    expect([audit.status, asked.length]).to.deep.equal(["assigning", 0]);
    expect(store.rows("agent").get(wallet(51))?.trustTier).to.equal(2);
    log.hire(wallet(51), wallet(99));
    log.after(60).tick(tickHash(7));
    expect(await askedOf(log)).to.deep.equal([wallet(51)]);
  });

  it("is awaited for any number of ticks without new rows, and the audits that waited longest come first", async () => {
    const log = scene({ auditors: 0 });
    for (let n = 0; n < 40; n++) log.hire(SELLER, wallet(300 + n), HASHES);
    log.after(60).tick(tickHash(1_000)).after(60).tick(tickHash(1_001));
    const rows = async () => {
      const { store } = await log.derive();
      const [first] = store.rows("audit").keys();
      const texts = [...store.rows("list").values(), ...store.rows("listPage").values()];
      return texts.filter((it) => ("tail" in it ? it.tail : it.items).split("\n").includes(first ?? ""))
        .length;
    };
    const before = await rows();
    for (let n = 0; n < 20; n++) log.after(60).tick(tickHash(1_002 + n));
    expect(await rows()).to.equal(before);

    // One auditor gets all of them, in their order, because all have other buyers.
    log.transfer(wallet(100), wallet(98), 1);
    log.hire(wallet(100), wallet(99));
    offer(log, wallet(100));
    log.hire(SELLER, wallet(400), HASHES);
    log.after(60).tick(tickHash(2_000));
    const { store } = await log.derive();
    const audits = [...store.rows("audit").values()];
    expect(audits.map(({ status }) => status)).to.deep.equal(audits.map(() => "assigned"));
    expect([...store.rows("auditAssignment").values()].map(({ hire }) => hire)).to.deep.equal(
      audits.map(({ hire }) => hire),
    );
  });

  for (const [seconds, status] of [
    [14 * DAY - 1, "assigned"],
    [14 * DAY, "inconclusive"],
  ] as const)
    it(`that comes ${seconds} seconds after the draw finds the audit ${status}`, async () => {
      const log = drawn(scene({ auditors: 0 })).after(seconds - 60);
      log.transfer(wallet(100), wallet(98), 1);
      log.hire(wallet(100), wallet(99));
      offer(log, wallet(100));
      log.after(60).tick(tickHash(2_000));
      expect(await statusOf(log)).to.equal(status);
      const { store } = await only(log);
      expect(store.rows("auditOperator").get(AUDITED)).to.include({
        inconclusive: Number(status === "inconclusive"),
        unassigned: 0,
      });
    });

  it("that did not answer until 14 days after the draw is not followed by another, and missed its verdict", async () => {
    const log = drawn(scene({ auditors: 2, audit: { verdictSeconds: 14 * DAY } }));
    log.after(14 * DAY).tick();
    const { audit, store, last } = await only(log);
    expect([audit.status, audit.round, audit.attempt]).to.deep.equal(["inconclusive", 1, 1]);
    expect(store.rows("auditor").get(`${AUDITED}/${last.auditor}`)?.unanswered).to.equal(1);
    expect(store.rows("auditOperator").get(AUDITED)?.unanswered).to.equal(1);
  });

  it("is found at once among any number of offers of agents outside of Tier 2", async () => {
    const log = scene({ auditors: 1 });
    for (let n = 0; n < 300; n++) offer(log, wallet(1_000 + n));
    drawn(log);
    const { store, asked } = await only(log);
    expect(asked.map((it) => [it.auditor, it.passedOver])).to.deep.equal([[wallet(100), ""]]);
    expect(store.rows("roster").get(`${AUDITED}/text.translate`)?.size).to.equal(1);
    expect(store.rows("rosterMember").size).to.equal(1);
  });

  it("gets the next place on the roster when it reaches Tier 2, and loses the place with the tier", async () => {
    const log = scene({ auditors: 0 });
    for (const n of [53, 51, 52]) offer(log, wallet(n));
    expect(await rosterOf(log)).to.deep.equal([]);
    log.hire(wallet(52), wallet(99));
    log.hire(wallet(51), wallet(99));
    expect(await rosterOf(log)).to.deep.equal([wallet(52), wallet(51)]);
    log.hire(wallet(52), wallet(99), { verification: { all_passed: false, checks: {} } });
    expect(await rosterOf(log)).to.deep.equal([wallet(51)]);
    log.hire(wallet(53), wallet(99));
    expect(await rosterOf(log)).to.deep.equal([wallet(51), wallet(53)]);
  });

  it("has a place before auditors with higher addresses that reach Tier 2 in the same event", async () => {
    const log = scene({ auditors: 0 });
    const auditors = [53, 52, 51].map(wallet);
    for (const auditor of auditors) {
      offer(log, auditor);
      log.after(60).hire(auditor, wallet(99), { passed: false });
    }
    log.after(DAY);
    for (const auditor of auditors) log.hire(auditor, wallet(99));
    expect(await rosterOf(log)).to.deep.equal([]);
    // The failures are more than 30 days old at this tick, and the successes are not.
    log.after(29 * DAY + 600).tick();
    expect(await rosterOf(log)).to.deep.equal([51, 52, 53].map(wallet));
  });

  it("is not the buyer, not the seller, and not in a cluster with one of them", async () => {
    for (const side of [SELLER, BUYER]) {
      const log = scene({ auditors: 1 });
      for (const it of [side, wallet(100), wallet(60), wallet(61)]) {
        log.after(1).listing(it, `custom.${it}`);
        log.transfer(wallet(70), it, 900_000_000);
      }
      log.hire(SELLER, wallet(99));
      offer(log, SELLER);
      drawn(log);
      expect(await statusOf(log)).to.equal("assigning");
    }
  });

  it("is not in the family of the buyer or the seller; each wallet's first act fixes its family", async () => {
    for (const [first, status] of [
      ["money", "assigning"],
      ["act", "assigned"],
    ] as const) {
      const log = scene({ auditors: 0 });
      const acts = () => log.transfer(wallet(100), wallet(98), 1);
      if (first === "act") acts();
      log.transfer(BUYER, wallet(100), 1_000);
      if (first === "money") acts();
      log.hire(wallet(100), wallet(99));
      offer(log, wallet(100));
      drawn(log);
      expect(await statusOf(log), `first ${first}`).to.equal(status);
      if (status === "assigned") continue;
      offer(log, wallet(101));
      log.transfer(wallet(101), wallet(98), 1);
      log.hire(wallet(101), wallet(99));
      log.after(60).tick(tickHash(7));
      const { last } = await only(log);
      expect(JSON.parse(last.families)).to.deep.equal({
        [wallet(101)]: wallet(101),
        [BUYER]: BUYER,
        [SELLER]: SELLER,
      });
    }
  });

  it("is not in the family whose money the buyer pays with, and a registration of the buyer does not hide this", async () => {
    for (const [what, status, acts] of [
      ["the auditor's own money", "assigning", [[100, 2]]],
      [
        "money that came through the auditor",
        "assigning",
        [
          [100, 60],
          [60, 2],
        ],
      ],
      ["money of the auditor's funder", "assigning", [[50, 2]]],
      ["money of somebody else", "assigned", [[51, 2]]],
      [
        "its own money, and the auditor's money after its first payment",
        "assigned",
        [
          [51, 2],
          [2, 98],
          [100, 2],
        ],
      ],
    ] as const) {
      const log = scene({ auditors: 0 });
      log.transfer(wallet(50), wallet(100), 5_000);
      log.transfer(wallet(100), wallet(98), 1);
      log.hire(wallet(100), wallet(99));
      offer(log, wallet(100));
      log.listing(BUYER, "text.summarize");
      for (const [from, to] of acts) log.transfer(wallet(from), wallet(to), 1_000);
      drawn(log);
      expect(await statusOf(log), what).to.equal(status);
    }
  });

  it("has no family before its first act, so an operator that never acted may judge", async () => {
    for (const gift of [false, true]) {
      const log = scene({ auditors: 0 });
      if (gift) log.transfer(BUYER, AUDITED, 1_000);
      if (gift) log.transfer(AUDITED, wallet(98), 1);
      drawn(log);
      log.after(DAY).tick(tickHash(8));
      const { audit } = await only(log);
      log.record("audit_judge", AUDITED, { hire: audit.hire, round: 1, models: ["model-a"] });
      expect(await statusOf(log)).to.equal(gift ? "assigning" : "assigned");
    }
  });

  for (const [seconds, asked] of [
    [7 * DAY - 1, 1],
    [7 * DAY, 2],
  ] as const) {
    it(`is ${asked === 1 ? "not assigned" : "assigned"} another hire of the same buyer and seller ${seconds} seconds later`, async () => {
      const log = drawn(scene({ auditors: 1, audit: { verdictSeconds: 30 * DAY } }));
      await say(log, "pass");
      log.hire(SELLER, BUYER, HASHES);
      log.after(seconds).tick(tickHash(8));
      const { store } = await log.derive();
      expect(store.rows("auditAssignment").size).to.equal(asked);
    });
  }

  it("confirms a fail only if no cluster, family, handle or host links it to the first auditor", async () => {
    const joined: { [what: string]: (log: EventLog) => void } = {
      cluster: (log) => {
        for (const it of [wallet(100), wallet(101), wallet(60), wallet(61)]) {
          log.after(1).listing(it, `custom.${it}`);
          log.transfer(wallet(70), it, 900_000_000);
        }
      },
      family: () => {},
      handle: (log) => {
        for (const [at, x_handle] of [
          [100, "Ada"],
          [101, "ada"],
        ] as const)
          log.record("claim", wallet(20), {
            ...{ agent_id: wallet(at), x_handle, verification_hash: "a".repeat(64), state: "verified" },
          });
      },
      host: (log) => {
        for (const at of [100, 101])
          offer(log, wallet(at), { endpoint: `https://same.example:${at}/x`, issued_at: 2 });
      },
      nothing: () => {},
    };
    for (const [what, join] of Object.entries(joined)) {
      const log = scene({ auditors: what === "family" ? 0 : 2 });
      // Both were paid before their first act, so they are in their first buyer's family.
      if (what === "family") {
        for (const n of [100, 101]) {
          log.hire(wallet(n), wallet(97));
          offer(log, wallet(n), { endpoint: `https://auditor-${n}.example` });
        }
      }
      join(log);
      drawn(log);
      await say(log, "fail");
      log.after(60).tick(tickHash(9));
      expect(await statusOf(log), what).to.equal(what === "nothing" ? "assigned" : "assigning");
      offer(log, wallet(102));
      log.hire(wallet(102), wallet(99));
      log.after(60).tick(tickHash(10));
      expect(await statusOf(log), what).to.equal("assigned");
    }
  });

  it("leaves the roster after three unanswered assignments in a row, until it offers itself again", async () => {
    for (const speaks of [false, true]) {
      const log = scene({ auditors: 1, audit: { maxAttempts: 1 } });
      for (let n = 0; n < 4; n++) {
        log.hire(SELLER, wallet(200 + n), HASHES);
        log.after(60).tick(tickHash(20 + n));
        if (speaks && n === 1) {
          const { asked } = await only(log);
          const { hire } = asked.at(-1) ?? {};
          log.record("audit_verdict", wallet(100), {
            ...{ hire: hire ?? "", round: 1, attempt: 1, verdict: "pass", ...HASHES },
            reasons: [{ code: "other", detail: "" }],
          });
        }
        log.after(DAY).tick();
      }
      const { store } = await log.derive();
      const row = store.rows("auditor").get(`${AUDITED}/${wallet(100)}`);
      expect(store.rows("auditAssignment").size).to.equal(speaks ? 4 : 3);
      expect([row?.isActive, row?.removedFor]).to.deep.equal(speaks ? [true, null] : [false, "unanswered"]);
      if (speaks) continue;
      offer(log, wallet(100), { issued_at: 1 });
      log.after(60).tick(tickHash(30));
      expect((await log.derive()).store.rows("auditAssignment").size, "an old offer").to.equal(3);
      offer(log, wallet(100), { issued_at: 2 });
      log.after(60).tick(tickHash(31));
      expect((await log.derive()).store.rows("auditAssignment").size).to.equal(4);
    }
  });

  it("is published with the clusters of auditor, buyer and seller, and with the reasons why others were passed over", async () => {
    const log = scene({ auditors: 1 });
    log.hire(wallet(50), wallet(99), { capability: "text.summarize" });
    offer(log, wallet(50));
    for (let n = 0; n < 6; n++) {
      log.hire(SELLER, wallet(200 + n), HASHES);
      log.after(60).tick(tickHash(40 + n));
    }
    const { asked } = await only(log);
    expect(asked.length).to.equal(6);
    for (const it of asked) {
      expect(Object.keys(JSON.parse(it.clusters))).to.include.members([wallet(100), SELLER]);
      expect(it.auditorType).to.equal("auditor");
    }
    expect(asked.flatMap((it) => it.passedOver.split(",")).filter((it) => it !== "")).to.include(
      "capability",
    );
  });
});
