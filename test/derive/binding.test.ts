import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { EventLog, LEDGER, OTHER_LEDGER, wallet } from "./eventLog.ts";

const seller = wallet(1);
const buyer = wallet(2);
const attestor = wallet(3);
const operator = wallet(4);
const roots = { claimAttestors: [attestor], operator };

/** Status and reason of every record but receipts and listings, in the order of the log. */
async function judged(log: EventLog): Promise<[string, string | null][]> {
  const { store } = await log.derive();
  return [...store.rows("record").values()]
    .filter(({ type }) => type !== "receipt" && type !== "listing")
    .map(({ status, reason }) => [status, reason?.split(",")[0] ?? null]);
}

const rating = (receipt: string, stars = 1): RecordBody => ({ receipt, side: "buyer", stars });
const stake = { task_id: "t", proposal: "cd".repeat(32) };
const claim = { agent_id: seller, x_handle: "ada", verification_hash: "a".repeat(64), state: "verified" };

describe("records that are used for another purpose", () => {
  it("change nothing: a contest as a verify, a rating as telemetry, a stake of one ledger as a verify in another", async () => {
    const log = new EventLog(roots);
    const receipt = log.hire(seller, buyer, { latency_ms: 900 });
    const contest = log.record("contest", buyer, stake);
    log.replay(contest, { type: "verify" });
    const rated = log.record("rating", buyer, rating(receipt));
    log.replay(rated, { type: "telemetry" });
    log.record("telemetry", buyer, { receipt, latency_ms: 20 });
    const staked = log.record("stake", buyer, stake);
    log.replay(staked, { type: "verify", ledger: OTHER_LEDGER });
    log.replay(staked, { ledger: OTHER_LEDGER });
    log.tick();
    expect(await judged(log)).to.deep.equal([
      ["unread", null],
      ["invalid", "body.type: must be verify"],
      ["valid", null],
      ["invalid", "body.type: must be telemetry"],
      ["valid", null],
      ["unread", null],
      ["invalid", "body.type: must be verify"],
      ["invalid", `body.ledger: must be ${OTHER_LEDGER}`],
    ]);
    expect((await log.derive()).agents[seller]).to.include({ avg_latency_ms: 20, avg_stars: 1 });
  });

  it("are invalid if they are claims or parameters that were signed for another ledger", async () => {
    const log = new EventLog(roots);
    log.listing(seller, "code.review");
    const claimed = log.record("claim", attestor, { ...claim, state: "unclaimed" }, OTHER_LEDGER);
    log.record("claim", attestor, claim);
    log.replay(claimed, { ledger: LEDGER });
    const params = log.record("params", operator, { version: 2 }, OTHER_LEDGER);
    log.replay(params, { ledger: LEDGER });
    expect((await judged(log)).map(([status]) => status)).to.deep.equal([
      "valid",
      "valid",
      "invalid",
      "valid",
      "invalid",
    ]);
    expect((await log.derive()).agents[seller]?.claim_status).to.equal("verified");
  });

  it("are invalid if they have a field that is not of their type", async () => {
    const log = new EventLog();
    const receipt = log.hire(seller, buyer);
    log.record("rating", buyer, { ...rating(receipt), note: "x" });
    log.record("stake", buyer, { ...stake, note: "x" });
    log.record("pulse", buyer, { size: 1 });
    log.record("review", buyer, { proposal: "cd".repeat(32) });
    expect((await judged(log)).map(([status]) => status)).to.deep.equal(Array(4).fill("invalid"));
  });
});

describe("records in the older form, without their type and their ledger", () => {
  it("count in a ledger until its first record of the new form, and not after it", async () => {
    const log = new EventLog(roots);
    const [one, two, three] = [1, 2, 3].map(() => log.hire(seller, buyer)) as [string, string, string];
    log.said("rating", buyer, { ...rating(one), note: "kept" });
    log.said("stake", buyer, stake);
    log.record("stake", wallet(9), stake, OTHER_LEDGER);
    log.said("rating", buyer, rating(two, 5));
    log.said("stake", wallet(8), stake, OTHER_LEDGER);
    log.record("stake", wallet(9), stake);
    log.said("rating", buyer, rating(three, 5));
    log.said("claim", attestor, claim);
    log.said("stake", buyer, stake);
    log.record("rating", buyer, rating(three, 3));
    log.tick();
    expect(await judged(log)).to.deep.equal([
      ["valid", null],
      ["unread", null],
      ["unread", null],
      ["valid", null],
      ["invalid", "unbound"],
      ["unread", null],
      ["invalid", "unbound"],
      ["invalid", "unbound"],
      ["invalid", "unbound"],
      ["valid", null],
    ]);
    const agent = (await log.derive()).agents[seller];
    expect([agent?.avg_stars, agent?.claim_status]).to.deep.equal([3, "unclaimed"]);
  });

  it("count until a record that was signed for that ledger, and a copy from another ledger does not end this", async () => {
    const log = new EventLog(roots);
    const receipt = log.hire(seller, buyer);
    const elsewhere = log.record("stake", wallet(9), stake, OTHER_LEDGER);
    log.replay(elsewhere, { ledger: LEDGER });
    log.said("rating", buyer, rating(receipt));
    expect((await judged(log)).map(([status]) => status)).to.deep.equal(["unread", "invalid", "valid"]);
  });

  it("do not count in ledgers that the parameters name, from the position of the parameters on", async () => {
    const log = new EventLog({ ...roots, boundLedgers: [LEDGER] });
    const [one, two] = [log.hire(seller, buyer), log.hire(seller, buyer)];
    log.said("rating", buyer, rating(one));
    log.said("rating", buyer, rating(one), OTHER_LEDGER);
    log.said("params", operator, { version: 2, ...roots, boundLedgers: [OTHER_LEDGER] }, OTHER_LEDGER);
    log.said("rating", buyer, rating(two), OTHER_LEDGER);
    log.said("rating", buyer, rating(two));
    expect(await judged(log)).to.deep.equal([
      ["invalid", "unbound"],
      ["valid", null],
      ["valid", null],
      ["invalid", "unbound"],
      ["valid", null],
    ]);
  });

  it("always count if they are listings or receipts", async () => {
    const log = new EventLog({ boundLedgers: [LEDGER] });
    log.listing(seller, "code.review");
    log.hire(seller, buyer);
    const { agents } = await log.derive();
    expect(agents[seller]?.last_30d_hire_count_raw).to.equal(1);
  });
});

describe("a listing that is replayed into a second followed ledger", () => {
  it("changes nothing: it brings back no old price and no retired listing", async () => {
    const log = new EventLog();
    const offers = (await log.derive()).store;
    expect(offers.rows("listing").size).to.equal(0);
    const first = log.listing(seller, "code.review", { price_usdc: "0.10" });
    const second = log.listing(seller, "code.review", { price_usdc: "0.90" });
    log.listing(seller, "code.review", { price_usdc: "0.90", retired: true });
    log.tick();
    const before = await log.derive();
    for (const listing of [first, second, first]) log.replay(listing, { ledger: OTHER_LEDGER });
    const after = await log.derive();
    expect([...after.store.rows("listing").values()]).to.deep.equal([
      ...before.store.rows("listing").values(),
    ]);
    expect(after.agents).to.deep.equal(before.agents);
    expect(after.store.rows("listing").values().next().value?.live).to.equal(false);
  });
});
