import { expect } from "chai";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { DAY, type EventLog, HOUR } from "../eventLog.ts";
import { AGENT, BUYER, PROBERS, reasonsOf, stewardLog } from "./stewardScene.ts";

const [PROBER, SECOND] = PROBERS as [`0x${string}`, `0x${string}`];
const ENDPOINT = "https://agent.example/sla";
const uptime = { metric: "uptime", measurement_window: "30 days", measured: "0.94", claimed: "1" };

/** A log in which the agent promises something, so that it has monitoring of its own. */
function promisedLog(): EventLog {
  const log = stewardLog({ probers: 2 });
  log.record("sla", AGENT, {
    ...{ agent_id: AGENT, version: "1", guarantees: [], monitoring_endpoint: ENDPOINT, issued_at: log.time },
  });
  return log.after(HOUR);
}

function tell(
  log: EventLog,
  differences: RecordBody[],
  { by = PROBER, agent = AGENT, part = 0, ago = 60 } = {},
) {
  const agents = { [agent]: { endpoint: ENDPOINT, asked_at: log.time - ago, differences } };
  log.record("monitoring", by, { day: Math.floor(log.time / DAY), part, agents });
}

async function derived(log: EventLog) {
  const rows = [...(await log.derive()).store.rows("slaMonitoring").values()];
  return rows.map(({ agent, prober, differences }) => [agent, prober, JSON.parse(differences).differences]);
}

describe("what probers find about an agent's own monitoring", () => {
  it("is the newest finding of each prober, also if the figures no longer differ", async () => {
    const log = promisedLog();
    tell(log, [uptime]);
    tell(log, [{ ...uptime, claimed: null }], { by: SECOND });
    expect(await derived(log)).to.deep.equal([
      [AGENT, PROBER, [uptime]],
      [AGENT, SECOND, [{ ...uptime, claimed: null }]],
    ]);
    // This record comes later, but the prober asked the agent earlier.
    tell(log, [], { part: 1, ago: 61 });
    expect((await derived(log))[0]).to.deep.equal([AGENT, PROBER, [uptime]]);
    tell(log.after(DAY), []);
    expect((await derived(log))[0]).to.deep.equal([AGENT, PROBER, []]);
  });

  it("is empty for an agent without an SLA, and for an agent whose figures never differed", async () => {
    const log = promisedLog();
    tell(log, [uptime], { agent: BUYER });
    tell(log, []);
    expect(await derived(log)).to.deep.equal([]);
    expect(await reasonsOf(log, "monitoring")).to.deep.equal([null, null]);
  });

  it("counts only from a prober in the parameters, and not for a future time", async () => {
    const log = promisedLog();
    tell(log, [uptime], { by: BUYER });
    tell(log, [uptime], { ago: -1 });
    const tomorrow = Math.floor(log.time / DAY) + 1;
    log.record("monitoring", PROBER, {
      ...{ day: tomorrow, part: 0 },
      agents: { [AGENT]: { endpoint: ENDPOINT, asked_at: log.time, differences: [uptime] } },
    });
    expect(await derived(log)).to.deep.equal([]);
    expect(await reasonsOf(log, "monitoring")).to.deep.equal([
      `signer ${BUYER} is no prober`,
      `body.agents.${AGENT}.asked_at is later than the record itself`,
      "body.day has not begun",
    ]);
  });
});
