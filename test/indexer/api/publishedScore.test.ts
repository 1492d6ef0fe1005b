import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { type FindRows, publishedScoreOf } from "../../../indexer/api/steward/publishedScoreOf.ts";
import { DAY, type EventLog, HOUR, START } from "../../derive/eventLog.ts";
import { AGENT, goTo, stewardLog } from "../../derive/steward/stewardScene.ts";

const success = (target: string): RecordBody => ({
  ...{ metric: "success_rate", target, measurement_window: "30 days", breach_threshold: "0.9" },
  penalty: { type: "trust_score_reduction", amount: "0.1" },
});

function promise(log: EventLog, ...guarantees: RecordBody[]): EventLog {
  log.record("sla", AGENT, { agent_id: AGENT, version: "1", guarantees, issued_at: log.time });
  return log.after(HOUR).tick();
}

/** The agent's badges at a time. */
async function badgesAt(log: EventLog, time: number): Promise<string[] | undefined> {
  const { store } = await goTo(log, time).tick().derive();
  const find: FindRows = async (table, ids) =>
    ids.flatMap((id) => {
      const row = store.get(table, id);
      return row === null ? [] : [row];
    });
  const published = await publishedScoreOf(find, { id: AGENT, claimStatus: "unclaimed" }, time);
  return published?.report.badges;
}

describe("the badge sla_compliant of a published score", () => {
  it("needs a guarantee of 30 days, also if the agent had withdrawn an earlier SLA", async () => {
    const log = promise(stewardLog(), success("0.98"));
    promise(log);
    const again = START + 40 * DAY;
    expect(await badgesAt(log, again)).to.deep.equal([]);
    promise(log, success("0.98"));
    expect(await badgesAt(log, again + 29 * DAY + 2 * HOUR)).to.deep.equal([]);
    expect(await badgesAt(log, again + 30 * DAY)).to.deep.equal(["sla_compliant"]);
  });

  it("stays when a weaker guarantee replaces the old one", async () => {
    const log = promise(stewardLog(), success("0.98"));
    goTo(log, START + 40 * DAY);
    promise(log, success("0.95"));
    for (const days of [41, 69, 71])
      expect(await badgesAt(log, START + days * DAY), `${days} days`).to.deep.equal(["sla_compliant"]);
  });
});
