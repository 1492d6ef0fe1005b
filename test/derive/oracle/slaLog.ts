import fc from "fast-check";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { DAY, EventLog, HOUR, wallet } from "../eventLog.ts";

const [OPERATOR, ARBITRATOR, PROBER] = [wallet(20), wallet(22), wallet(30)];
const HOST = "h.example:443";

const penalty = fc.constantFrom<RecordBody>(
  { type: "trust_score_reduction", amount: "0.1" },
  { type: "trust_score_reduction", amount: "0.05" },
  { type: "temporary_suspension", duration: "7 days" },
  { type: "temporary_suspension", duration: "2 days" },
  { type: "financial", amount: "1.5", currency: "USDC" },
  { type: "badge_revocation", revoke: ["verified"] },
);
const window = fc.constantFrom("7 days", "30 days");
const share = fc.record({
  metric: fc.constantFrom("uptime", "success_rate"),
  target: fc.constantFrom("0.98", "0.9"),
  measurement_window: window,
  breach_threshold: fc.constantFrom("0.9", "0.75"),
  penalty,
});
const latency = fc.record({
  metric: fc.constantFrom("latency_p50", "latency_p95", "latency_p99"),
  target: fc.constantFrom("500", "499.5"),
  unit: fc.constant("milliseconds"),
  measurement_window: window,
  breach_threshold: fc.constantFrom("500", "1000"),
  penalty,
});
const guarantees = fc.uniqueArray(fc.oneof(share, latency), {
  maxLength: 4,
  selector: ({ metric, measurement_window }) => `${metric} ${measurement_window}`,
});
const agent = fc.integer({ min: 1, max: 2 });

const action = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("promise" as const),
      agent,
      guarantees,
      ago: fc.constantFrom(0, 5),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("sell" as const),
      agent,
      count: fc.constantFrom(1, 5, 19, 20, 25),
      failed: fc.constantFrom(0, 1, 2, 5, 20),
      slow: fc.constantFrom(0, 1, 5),
      buyers: fc.constantFrom(1, 2, 3, 5),
      family: fc.constantFrom("strangers", "strangers", "strangers", "relatives", "own", "mixed"),
      excused: fc.boolean(),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("probe" as const), down: fc.constantFrom(0, 0, 3, 60, 144) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("dispute" as const), which: fc.nat({ max: 5 }) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("rule" as const),
      which: fc.nat({ max: 5 }),
      ruling: fc.constantFrom("upheld", "overturned", "reinstated"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("join" as const), first: fc.constantFrom(1, 300) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("days" as const),
      count: fc.constantFrom(1, 3, 7, 8, 31),
      sells: fc.boolean(),
    }),
  },
);

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

/** The times in the parameters. A time that is missing has its default. */
export const slaTimes = fc.record(
  {
    disputeSeconds: fc.constantFrom<number>(1, DAY, 3 * DAY),
    reviewSeconds: fc.constantFrom<number>(1, DAY, 3 * DAY),
    suspensionNoticeSeconds: fc.constantFrom<number>(1, 3_600, 3 * DAY),
    replacedSeconds: fc.constantFrom<number>(1, DAY, 8 * DAY),
  },
  { requiredKeys: [] },
);

type Times = typeof slaTimes extends fc.Arbitrary<infer T> ? T : never;

const wait = fc.constantFrom(0, 300, HOUR, 6 * HOUR, 23 * HOUR, DAY, 7 * DAY - 1, 7 * DAY, 7 * DAY + 1);

export const slaSteps = fc.array(fc.record({ wait, action, tick: fc.boolean() }), {
  minLength: 6,
  maxLength: 30,
});

/** A log of agents that publish SLAs, sell, are probed, breach, dispute and get rulings. */
export async function slaLog(
  steps: { wait: number; action: Action; tick: boolean }[],
  times: Times = {},
): Promise<EventLog> {
  const steward = { probers: [PROBER], arbitrators: [ARBITRATOR], ...times };
  const log = new EventLog({ operator: OPERATOR, steward });
  for (const n of [1, 2, 300, 301, 302, 303])
    log.listing(wallet(n), `custom.kind${n}`, { price_usdc: String(2 ** (n % 20)) });
  promise(log, 1, [
    {
      metric: "success_rate",
      target: "0.98",
      measurement_window: "7 days",
      breach_threshold: "0.9",
      penalty: { type: "trust_score_reduction", amount: "0.1" },
    },
  ]);
  for (const { wait: seconds, action: it, tick } of steps) {
    if (seconds >= DAY) log.after(4 * HOUR).tick();
    log.after(seconds);
    await act(log, it);
    if (tick) log.after(300).tick();
  }
  return log.after(4 * HOUR).tick();
}

function promise(log: EventLog, n: number, all: RecordBody[], ago = 0): void {
  log.record("sla", wallet(n), {
    agent_id: wallet(n),
    version: "1",
    guarantees: all,
    issued_at: log.time - ago,
  });
}

async function act(log: EventLog, it: Action): Promise<void> {
  switch (it.do) {
    case "promise":
      return promise(log, it.agent, it.guarantees as RecordBody[], it.ago);
    case "sell":
      for (let n = 0; n < it.count; n++) {
        const buyer = buyerOf(log, it, n % it.buyers);
        const passed = n >= it.failed;
        const latency_ms = n < it.slow ? 1_001 : n % 3 === 0 ? 500 : 100;
        const receipt = log.hire(wallet(it.agent), buyer, {
          passed,
          latency_ms,
          amount: 1_000 * (1 + (n % 7)),
        });
        if (it.excused && n % 4 === 0)
          log.record("telemetry", buyer, { receipt, latency_ms: 700, failure: "client_error" });
      }
      return;
    case "probe":
      for (let hour = 0; hour < 24; hour++) {
        log.after(HOUR);
        const down = Math.max(0, Math.min(12, it.down - 12 * hour));
        const served = hour === 0 ? { [wallet(1)]: [HOST], [wallet(2)]: [HOST] } : {};
        const word = [4_095, (1 << down) - 1];
        log.record("uptime", PROBER, {
          hour: Math.floor(log.time / HOUR) - 1,
          region: "eu",
          part: 0,
          hosts: { [HOST]: word },
          served,
        });
        if (hour % 4 === 0) log.tick();
      }
      return;
    case "dispute": {
      const breach = await breachOf(log, it.which);
      if (breach === undefined) return;
      const { id, agent: whose } = breach;
      log.record("sla_dispute", whose, {
        breach: id,
        agent_id: whose,
        claim: "no",
        evidence: [],
        requested_remedy: "remove_penalty",
      });
      return;
    }
    case "rule": {
      const breach = await breachOf(log, it.which);
      if (breach !== undefined)
        log.record("sla_ruling", ARBITRATOR, { breach: breach.id, ruling: it.ruling, reasons: "why" });
      return;
    }
    case "join":
      for (const n of it.first === 1 ? [1, 301, 302, 303] : [300, 301, 302, 303])
        log.transfer(wallet(99), wallet(n), 100_000_000 * 2 ** (log.block % 20));
      return;
    case "days":
      for (let day = 0; day < it.count; day++) {
        log.after(DAY);
        if (it.sells)
          for (const n of [1, 2]) log.hire(wallet(n), wallet(300 + (day % 3)), { latency_ms: 90 });
        log.tick();
      }
  }
}

/**
 * A buyer: a stranger, a buyer that wallet 98 funds, or a buyer that the agent itself funds.
 */
function buyerOf(log: EventLog, { agent: seller, family }: Extract<Action, { do: "sell" }>, n: number) {
  const kind = family === "mixed" ? (["strangers", "relatives", "own"] as const)[n % 3] : family;
  if (kind === "strangers") return wallet(300 + n);
  const buyer = wallet((kind === "own" ? 320 + 10 * seller : 310) + n);
  log.transfer(kind === "own" ? wallet(seller) : wallet(98), buyer, 50_000);
  return buyer;
}

/** Chooses one of the last breaches. */
async function breachOf(
  log: EventLog,
  which: number,
): Promise<{ id: string; agent: `0x${string}` } | undefined> {
  const { store } = await log.derive();
  const breach = [...store.rows("breach").values()].reverse()[which % 2];
  return breach && { id: breach.id, agent: breach.agent as `0x${string}` };
}
