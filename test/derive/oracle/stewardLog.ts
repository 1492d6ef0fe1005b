import fc from "fast-check";
import type { Address } from "tallystick-protocol/address";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { DAY, EventLog, HOUR, wallet } from "../eventLog.ts";

const [OPERATOR, ATTESTOR] = [wallet(20), wallet(21)];
const PROBERS = [30, 31, 32, 33].map(wallet);
const HASHES = ["a1", "b2"].map((byte) => `0x${byte.repeat(32)}`);
/** The wallet number of the first agent whose host shows whether a prober is offline. */
const DECOYS = 200;
const hostOf = (n: number) => `h${n}.example:443`;

const agent = fc.integer({ min: 1, max: 7 });
const seed = fc.nat();
const run = fc.record({
  seed: fc.constantFrom("1", "2", undefined),
  passing: fc.integer({ min: 0, max: 4 }),
  total: fc.constantFrom(0, 4, 5, 20),
  hash: fc.constantFrom(0, 1),
});

const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("hours" as const),
      hours: fc.constantFrom(1, 2, 5, 30),
      seed,
      tick: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("outage" as const),
      prober: fc.nat({ max: 3 }),
      hosts: fc.constantFrom(19, 20, 25),
      sellers: fc.constantFrom(19, 20, 25),
      hours: fc.constantFrom(2, 3),
      seed,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("late" as const),
      prober: fc.nat({ max: 3 }),
      ago: fc.integer({ min: 0, max: 4 }),
      seed,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("claim" as const),
      agent,
      ago: fc.integer({ min: 1, max: 2 }),
      seed,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("attest" as const),
      agent,
      other: fc.boolean(),
      ago: fc.constantFrom(0, 1, 23 * HOUR, 24 * HOUR, -1),
      runs: fc.array(run, { minLength: 1, maxLength: 3 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("endorse" as const),
      endorser: agent,
      agent,
      capability: fc.constantFrom(undefined, "custom.a1", "custom.b1", "custom.c1", "custom.d1"),
      revoked: fc.boolean(),
      ago: fc.constantFrom(0, 0, 10),
      agreed: fc.integer({ min: 0, max: 9 }),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("crowd" as const),
      agent,
      apart: fc.constantFrom(60, 1200, 1201),
      count: fc.constantFrom(3, 4, 6),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("hire" as const),
      seller: agent,
      buyer: fc.integer({ min: 1, max: 12 }),
      passed: fc.boolean(),
      failure: fc.constantFrom(undefined, "client_error", "timeout"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("ring" as const), first: agent, size: fc.constantFrom(3, 4, 5) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("sell" as const), count: fc.constantFrom(4, 7) }) },
);

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;
type Step = { wait: number; action: Action; tick: boolean };

const wait = fc.constantFrom(0, 60, 299, 300, HOUR, 2 * HOUR, DAY, 5 * DAY, 29 * DAY, 30 * DAY);

/** Logs of agents that are probed, attest, endorse each other, sell, and are joined into clusters. */
export const stewardLog = fc
  .array(fc.record({ wait, action, tick: fc.boolean() }), { minLength: 4, maxLength: 24 })
  .map(logOf);

/** The hired capabilities, and the difficulty of two of them. */
const CAPABILITIES = ["text.translate", "custom.hard", "custom.easy"];
const DIFFICULTY = { "custom.hard": "3.5", "custom.easy": "0.3" };

function logOf(steps: Step[]): EventLog {
  const log = new EventLog({
    operator: OPERATOR,
    steward: { attestors: [ATTESTOR], probers: PROBERS, difficulty: DIFFICULTY },
  });
  for (let n = 1; n <= 7; n++) log.listing(wallet(n), `custom.kind${n}`, { price_usdc: String(2 ** n) });
  let rings = 0;
  for (const { wait: seconds, action: it, tick } of steps) {
    // Hours are counted at ticks. If two ticks were days apart, the served hosts would be forgotten.
    if (seconds >= DAY) log.after(4 * HOUR).tick();
    log.after(seconds);
    if (it.do === "ring") ring(log, it.first, it.size, ++rings);
    else act(log, it);
    if (tick) log.tick();
  }
  log.after(3 * HOUR).tick();
  return log;
}

/** Random numbers from a seed. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const hourOf = (log: EventLog) => Math.floor(log.time / HOUR);

function report(
  log: EventLog,
  signer: Address,
  hour: number,
  hosts: RecordBody,
  served: RecordBody = {},
): void {
  log.record("uptime", signer, { hour, region: "eu", part: 0, hosts, served });
}

/**
 * The results of an hour. The host is usually up. Otherwise it is down in all slots or in a run of slots. Some slots
 * have no look.
 */
function word(next: (below: number) => number): [number, number] {
  const looked = next(3) === 0 ? next(4_096) : 4_095;
  const kind = next(4);
  const some = kind === 0 ? 4_095 : kind === 1 ? ((1 << (1 + next(4))) - 1) << next(10) : 0;
  return [looked, some & looked];
}

function act(log: EventLog, it: Exclude<Action, { do: "ring" }>): void {
  switch (it.do) {
    case "hours": {
      const next = numbers(it.seed);
      for (let n = 0; n < it.hours; n++) {
        log.after(HOUR);
        for (const prober of PROBERS.slice(0, 1 + next(4))) {
          const hosts = Object.fromEntries([0, 1, 2].map((host) => [hostOf(host), word(next)]));
          const served = { [wallet(1 + next(8))]: [hostOf(next(3))], [wallet(1)]: [hostOf(0)] };
          report(log, prober, hourOf(log) - 1, hosts, n % 20 === 0 ? served : {});
        }
        if (it.tick) log.tick();
      }
      return;
    }
    case "outage": {
      const next = numbers(it.seed);
      for (let n = 0; n < it.hours; n++) {
        log.after(HOUR);
        const away = n === 0 ? 0 : next(2) === 0 ? 4_095 : 0xff << next(4);
        const hosts = Object.fromEntries(
          Array.from({ length: it.hosts }, (_, host) => [
            hostOf(host),
            [4_095, next(4) === 0 ? 0 : away & 4_095],
          ]),
        );
        const served = {
          ...Object.fromEntries(
            Array.from({ length: it.sellers }, (_, host) => [
              wallet(DECOYS + host),
              [hostOf(host), hostOf(99)],
            ]),
          ),
          [wallet(2)]: [hostOf(1)],
        };
        if (n === 0) for (let host = 0; host < it.sellers; host++) sellOnce(log, wallet(DECOYS + host), host);
        report(log, PROBERS[it.prober] ?? OPERATOR, hourOf(log) - 1, hosts, served);
      }
      return;
    }
    case "late": {
      const next = numbers(it.seed);
      const hosts = { [hostOf(next(3))]: word(next) };
      report(log, PROBERS[it.prober] ?? OPERATOR, hourOf(log) - it.ago, hosts, {
        [wallet(1 + next(7))]: [hostOf(next(3))],
      });
      return;
    }
    case "claim": {
      const next = numbers(it.seed);
      report(log, wallet(it.agent), hourOf(log) - it.ago, {
        [hostOf(next(3))]: [4_095, next(3) === 0 ? next(4_096) : 0],
      });
      return;
    }
    case "attest": {
      log.record("attestation", it.other ? ATTESTOR : wallet(it.agent), {
        agent_id: wallet(it.agent),
        version: "1",
        commit: "ab".repeat(20),
        runs: it.runs.map(({ seed: of, passing, total, hash }) => ({
          ...(of !== undefined && { seed: of }),
          passing: Math.min(passing, total),
          total,
          flaky: 0,
          report_hash: HASHES[0] ?? "",
          outcomes_hash: HASHES[hash] ?? "",
        })),
        ran_at: log.time - it.ago,
      });
      return;
    }
    case "endorse":
      endorse(log, it.endorser, it.agent, {
        ...(it.capability !== undefined && { capability: it.capability }),
        ...(it.revoked && { revoked: true }),
        issued_at: log.time - it.ago,
        ...(it.agreed > 0 && { agent_signature: "0x01" }),
      });
      return;
    case "crowd":
      for (let n = 0; n < it.count; n++) {
        endorse(log, 1 + ((it.agent + n) % 7), it.agent, { issued_at: log.time, agent_signature: "0x01" });
        log.after(it.apart);
      }
      return;
    case "hire": {
      if (it.seller === it.buyer) return;
      const capability = CAPABILITIES[it.buyer % CAPABILITIES.length] ?? "";
      const receipt = log.hire(wallet(it.seller), wallet(it.buyer), { passed: it.passed, capability });
      if (it.failure !== undefined)
        log.record("telemetry", wallet(it.buyer), { receipt, failure: it.failure });
      return;
    }
    case "sell":
      for (let n = 1; n <= it.count; n++) log.hire(wallet(n), wallet(40 + n));
  }
}

/** Adds one hire of an agent, if the agent sold nothing yet. */
function sellOnce(log: EventLog, seller: Address, n: number): void {
  const isKnown = log.events.some(
    (it) => it.kind === "record" && it.type === "receipt" && it.signer === seller,
  );
  // One of thirteen wallets never sells anything, so this wallet is not an agent.
  if (isKnown || n % 13 === 12) return;
  log.listing(seller, `custom.decoy${n}`, { price_usdc: String(2 ** n) });
  log.hire(seller, wallet(300 + n));
}

function endorse(log: EventLog, endorser: number, of: number, more: RecordBody): void {
  log.record("endorsement", wallet(endorser), { endorser: wallet(endorser), agent_id: wallet(of), ...more });
}

function ring(log: EventLog, first: number, size: number, times: number): void {
  for (let n = first; n < first + size; n++) log.transfer(wallet(99), wallet(n), 100_000_000 * 4 ** times);
}
