import type { Address } from "tallystick-protocol/address";
import { DAY, type EventLog, HOUR, START, wallet } from "../../derive/eventLog.ts";
import {
  AGENT,
  attest,
  BUYER,
  DOWN,
  endorse,
  goTo,
  HOST,
  PROBERS,
  report,
  slots,
  stewardLog,
  UP,
} from "../../derive/steward/stewardScene.ts";

export const CAPABILITY = "text.translate";
/** One agent that broke an SLA and is suspended, one that only lists, and one whose score comes only from its tests. */
export const [BROKEN, BARE, TESTED] = [wallet(3), wallet(4), wallet(5)] as [Address, Address, Address];
export const ENDORSERS = [800, 801, 802].map(wallet);

/** A month of an agent that is tested, probed, endorsed and hired, and of an agent whose SLA promises too much. */
export function trustStory(): EventLog {
  const log = stewardLog();
  for (const [n, agent] of [BROKEN, BARE, TESTED].entries())
    log.listing(agent, CAPABILITY, { price_usdc: `0.${n + 6}`, endpoint: `https://h${n}.example` });
  for (const [n, endorser] of ENDORSERS.entries()) {
    log.listing(endorser, `custom.kind${n}`, { price_usdc: String(2 ** (n + 3)) });
    if (n > 0) log.hire(endorser, wallet(900 + n));
  }
  log.record("sla", BROKEN, {
    ...{ agent_id: BROKEN, version: "1", issued_at: log.time },
    guarantees: [
      {
        ...{ metric: "success_rate", target: "0.98", measurement_window: "30 days", breach_threshold: "0.9" },
        penalty: { type: "temporary_suspension", duration: "7 days" },
      },
      {
        ...{ metric: "latency_p99", target: "5000", unit: "milliseconds", measurement_window: "7 days" },
        ...{ breach_threshold: "7500", penalty: { type: "trust_score_reduction", amount: "0.1" } },
      },
    ],
  });
  goTo(log, START + 25 * DAY);
  for (let n = 0; n < 30; n++)
    log.after(1).hire(BROKEN, wallet(300 + (n % 3)), { passed: n % 4 > 0, latency_ms: 9 });
  log.after(HOUR).tick();
  // Nobody disputes the breach for seven days. Then there is a day of notice.
  log.after(7 * DAY + 600).tick();
  log.after(DAY + 600).tick();
  const [prober = BROKEN] = PROBERS;
  log.record("monitoring", prober, {
    ...{ day: Math.floor(log.time / DAY), part: 0 },
    agents: {
      [BROKEN]: {
        ...{ endpoint: "https://h0.example/sla", asked_at: log.time },
        differences: [
          { metric: "success_rate", measurement_window: "30 days", measured: "0.733333333", claimed: "0.99" },
        ],
      },
    },
  });
  for (let n = 0; n < 10; n++) {
    const receipt = log.after(1).hire(AGENT, BUYER, { passed: n > 1 });
    const failure = n === 0 ? "client_error" : "timeout";
    if (n < 2) log.record("telemetry", BUYER, { receipt, failure });
  }
  attest(log, { alias: "ada", ci_url: "https://ci.example/1" });
  attest(log, { by: TESTED, agent_id: TESTED });
  for (const endorser of ENDORSERS) endorse(log, endorser, AGENT);
  const day = Math.floor((log.time - START) / HOUR) + 1;
  for (const [n, word] of [UP, slots("100011111111"), DOWN].entries()) {
    goTo(log, START + (day + n + 1) * HOUR + 1);
    for (const prober of PROBERS.slice(0, 1)) report(log, prober, day + n, { hosts: { [HOST]: word } });
  }
  return log.after(3 * HOUR + 300).tick();
}
