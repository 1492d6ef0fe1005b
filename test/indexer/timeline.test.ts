import { expect } from "chai";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { anchorKey, type Moment, momentsOf, timelineKey } from "../../indexer/src/timeline.ts";
import { AUDITED, SELLER } from "../derive/auditScene.ts";
import { EventLog, wallet } from "../derive/eventLog.ts";
import { auditedMarket } from "./support/auditStory.ts";
import { changesOf } from "./support/changesOf.ts";

const [seller, buyer] = [wallet(1), wallet(2)];

async function story(log: EventLog): Promise<Moment[]> {
  const moments: Moment[] = [];
  const store = new MemoryStore();
  for (const event of log.events) moments.push(...momentsOf(await changesOf(store, event)));
  return moments;
}

describe("the timeline", () => {
  it("stores hires, tier changes, and ratings that count", async () => {
    const log = new EventLog({ tier2MinSuccesses: 1, tier2MinCapabilities: 1 });
    const tx = log.after(1).transfer(buyer, seller, 500_000, { authorized: true });
    // The payment comes before the receipt, so the receipt counts at once. A rating before the payment would be stored
    // later.
    const receipt = log.receipt(seller, buyer, { tx });
    log.after(1).record("rating", buyer, { receipt, side: "buyer", stars: 5 });
    const waiting = log.after(1).receipt(seller, buyer, { tx: log.hash() });
    log.record("rating", seller, { receipt: waiting, side: "seller", stars: 1 });
    const moments = await story(log);
    expect(moments.map(({ kind, agent, counterpart }) => [kind, agent, counterpart])).to.deep.equal([
      ["hire", seller, buyer],
      ["tier_change", seller, null],
      ["rating", seller, buyer],
    ]);
    expect(moments[2]?.subject).to.equal(`${receipt}/buyer`);
  });

  it("stores the draw, the assignments, the verdicts, the end and the decision of audits, once each", async () => {
    const { log, hires } = await auditedMarket();
    const moments = (await story(log)).filter(({ kind }) => kind.startsWith("audit"));
    const of = (hire: string) =>
      moments
        .filter(({ subject }) => subject === hire || subject.startsWith(`${hire}/`))
        .map(({ kind }) => kind.slice("audit_".length));
    const judged = ["drawn", "assigned", "verdict", "assigned", "verdict", "ended"];
    expect(of(hires.rolledBack)).to.have.members([...judged, "decided"]);
    expect(of(hires.dismissed)).to.have.members([...judged, "decided"]);
    expect(of(hires.challenged)).to.have.members(judged);
    expect(of(hires.passed)).to.have.members(["drawn", "assigned", "verdict", "ended"]);
    expect(of(hires.undisclosed)).to.deep.equal(["drawn", "ended"]);
    expect(of(hires.assigned)).to.have.members(["drawn", "assigned", "assigned"]);
    expect(of(hires.eligible)).to.deep.equal([]);
    for (const { kind, agent, counterpart } of moments) {
      const concerns = ["audit_assigned", "audit_verdict"].includes(kind) ? counterpart : agent;
      expect(concerns, kind).to.equal(concerns === counterpart ? AUDITED : SELLER);
    }
  });

  it("puts an anchor before the effects of its entries, and after the previous log of the chain", () => {
    const key = (log: number, seq: number) =>
      [String(7).padStart(12, "0"), String(log + 1).padStart(8, "0"), String(seq).padStart(16, "0")].join(
        "/",
      );
    const keys = [
      timelineKey(key(2, 0), 3),
      anchorKey({ block: 7, log: 3 }),
      timelineKey(key(3, 0), 1),
      timelineKey(key(3, 9), 1),
      timelineKey(key(3, 10), 1),
      timelineKey(key(3, 10), 12),
    ];
    expect(keys).to.deep.equal([...keys].sort());
  });
});
