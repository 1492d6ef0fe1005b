import { expect } from "chai";
import { searchRankOf } from "tallystick-derive/searchRank";
import { DAY, EventLog, wallet } from "./eventLog.ts";

const [seller, buyer] = [wallet(1), wallet(2)];
const figures = {
  trustTier: 0,
  ratedWeight: "0",
  successWeight: "0",
  windowWeight: "0",
  avgStars: null,
  privateListings: 0,
};

describe("the search rank", () => {
  it("puts the higher tier first, then the higher rate in whole percent, then the count of hires by its digits", () => {
    const worse = { ...figures, ratedWeight: "100", successWeight: "97", windowWeight: "100" };
    const inOrder = [
      { ...figures, trustTier: 2, ratedWeight: "10", successWeight: "9", windowWeight: "10" },
      { ...figures, trustTier: 1 },
      { ...worse, successWeight: "98" },
      { ...worse, windowWeight: "1000" },
      worse,
      { ...worse, windowWeight: "99" },
      { ...worse, successWeight: "0" },
      { ...figures, windowWeight: "5" },
      figures,
    ].map((it) => searchRankOf(it).rank);
    expect(inOrder).to.deep.equal([...inOrder].sort((a, b) => a - b));
    expect(new Set(inOrder)).to.have.lengthOf(inOrder.length);
  });

  it("counts the digits of the whole hires of a weighted count, at most 31 of them", () => {
    const rankOf = (windowWeight: string) => searchRankOf({ ...figures, windowWeight }).rank;
    expect(rankOf("19/2"), "nine and a half").to.equal(rankOf("9"));
    expect(rankOf("1/2")).to.equal(rankOf("0"));
    expect(rankOf("999/100")).to.equal(rankOf("1"));
    expect([
      rankOf("0") - rankOf("1"),
      rankOf("9") - rankOf("10"),
      rankOf("99") - rankOf("100"),
    ]).to.deep.equal([1, 1, 1]);
    expect(rankOf(`1${"0".repeat(29)}`) - rankOf(`1${"0".repeat(30)}`)).to.equal(1);
    expect(rankOf(`1${"0".repeat(31)}`)).to.equal(rankOf(`1${"0".repeat(30)}`));
  });

  it("truncates rates that were first rounded to the nine published decimals", () => {
    // 0.9499999999 is published as 0.95.
    const rate = { ratedWeight: "10000000000", successWeight: "9499999999" };
    expect(searchRankOf({ ...figures, ...rate }).successPercent).to.equal(95);
    expect(searchRankOf({ ...figures, ratedWeight: "3", successWeight: "2" }).successPercent).to.equal(66);
    expect(searchRankOf({ ...figures, avgStars: "9/2" }).starTenths).to.equal(45);
    expect(searchRankOf(figures)).to.include({ successPercent: null, starTenths: null });
  });

  it("shows no more about an agent with private metrics than its published buckets", () => {
    const exact = { ratedWeight: "1000", successWeight: "987", windowWeight: "123", avgStars: "47/10" };
    const privately = searchRankOf({ ...figures, ...exact, privateListings: 1 });
    expect(privately).to.include({ successPercent: 90, starTenths: 45 });
    const others = { ratedWeight: "100", successWeight: "91", windowWeight: "999", avgStars: "23/5" };
    expect(searchRankOf({ ...figures, ...others, privateListings: 1 })).to.deep.equal(privately);
  });

  it("is the same on an agent and on all its listings after every event", async () => {
    const log = new EventLog();
    log.after(1).listing(seller, "text.translate");
    for (let n = 0; n < 12; n++) {
      const receipt = log
        .after(1)
        .hire(seller, wallet(2 + n), { passed: n !== 7, capability: `text.task${n % 4}` });
      log.record("rating", wallet(2 + n), { receipt, side: "buyer", stars: 4 + (n % 2) });
      if (n === 5) log.after(1).listing(seller, "code.review", { verification_version: "v2" });
    }
    log.after(DAY * 31).tick();
    for (let count = 1; count <= log.events.length; count++) {
      const { store } = await log.derive(count);
      const agent = store.rows("agent").get(seller);
      if (agent === undefined) continue;
      const { rank, successPercent, starTenths } = searchRankOf(agent);
      expect(agent).to.include({ rank, successPercent, starTenths });
      for (const listing of store.rows("listing").values()) {
        expect(listing).to.include({ rank, successPercent, starTenths, trustTier: agent.trustTier });
      }
    }
    const { store } = await log.derive(log.events.length - 1);
    expect(store.rows("agent").get(seller)).to.include({ trustTier: 2, successPercent: 91, starTenths: 45 });
    expect(store.rows("agent").get(buyer)?.successPercent).to.equal(null);
  });

  it("stores the fields of a listing that a search compares", async () => {
    const log = new EventLog();
    const versions = ["v0", "v12", "v01", "beta"].map((version) => ({ verification_version: version }));
    for (const [n, version] of [...versions, {}].entries()) {
      log.after(1).listing(seller, `text.task${n}`, { ...version, clarification_supported: n === 1 });
    }
    const { store } = await log.derive();
    const rows = [...store.rows("listing").values()];
    expect(rows.map((it) => it.verificationRank)).to.deep.equal([0, 12, null, null, 0]);
    expect(rows.map((it) => it.clarificationSupported)).to.deep.equal([false, true, false, false, false]);
    expect(rows[0]).to.include({ price: 500_000n, verificationVersion: "v0" });
    expect(rows[4]?.verificationVersion).to.equal(null);
  });
});
