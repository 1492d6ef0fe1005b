import fc from "fast-check";
import type { DeriveEvent } from "tallystick-derive/events";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { EventLog, wallet } from "../../derive/eventLog.ts";
import { ARBITER, ATTESTOR, gates, OPERATOR } from "../../derive/oracle/generatedActions.ts";
import { distantLogOf, generatedLogOf } from "../../derive/oracle/generatedLog.ts";
import * as roles from "./actors.ts";
import { isOfCrowd } from "./crowd.ts";

/** Wallets that records of parameters name. */
const ROLES = [roles.ATTESTOR, roles.OPERATOR, roles.ARBITER];

/** Which node is killed during a log, and after which block of the log (modulo their number). */
export type Kill = { node: "all" | "relevant" | "both"; at: number };

/** A log of the soak. */
export type SoakLog = {
  events: DeriveEvent[];
  /** The numbers of its wallets, without the strangers that only move money among themselves. */
  wallets: number[];
  /** Parameters that its records of parameters get if they do not have them. */
  kept: RecordBody;
  kill: Kill | null;
};

/** After this many logs, a new chain and new nodes begin, so that the compared data does not grow. */
export const LOGS_PER_CHAIN = 12;

/**
 * Parameters that must not change on a chain while agents have hires in the window. The derivation uses a new value at
 * the next change of an agent's figures, but the oracle uses it at once.
 */
const GATES = [
  "tier2MinSuccesses",
  "tier2MinSuccessRate",
  "tier2MinCapabilities",
  "tier2MinBuyers",
  "tier2RequiresClaim",
  "starDecay",
] as const;

const LENGTH = { minLength: 10, maxLength: 28 };

/**
 * Logs with money that comes late and over several wallets, and with wallets that reach `hubTransfers`, which is below
 * 21 here.
 */
const distant = distantLogOf(LENGTH, 3);
/** Logs in which about one of a hundred transfers has an effect on an agent. */
const crowded = distantLogOf({ minLength: 6, maxLength: 9 }, 900);

const kill = fc.record({ node: fc.constantFrom("all", "all", "relevant", "relevant", "both"), at: fc.nat() });

const soakLogs = (log: fc.Arbitrary<EventLog>) =>
  fc.record({
    log,
    kill: fc.oneof({ weight: 1, arbitrary: kill }, { weight: 6, arbitrary: fc.constant(null) }),
  });

/** One of this many logs is crowded. */
const CROWDED = 20;
const usual = soakLogs(fc.oneof(generatedLogOf(LENGTH), distant));
const rare = soakLogs(crowded);

/** Log `n` of a seed. It depends on nothing else, so it can be played alone. */
export function soakLogOf(seed: number, n: number): SoakLog {
  const [drawn] = fc.sample(n % CROWDED === CROWDED - 1 ? rare : usual, {
    numRuns: 1,
    seed: (seed * 1_000_003 + n) | 0,
  });
  if (drawn === undefined) throw new Error("Nothing was drawn.");
  const { log, kill } = drawn;
  settleOne(log, n);
  const [first] = log.events;
  const hubTransfers = first?.kind === "params" ? first.params.hubTransfers : 10_000;
  const events = [...publication(), ...log.events].map(withoutGates);
  const kept = { hubTransfers, ...gatesOf(seed, Math.floor(n / LOGS_PER_CHAIN)) };
  return { events, wallets: walletsOf(events), kept, kill };
}

/** The gates of a chain, the same for all its logs. */
function gatesOf(seed: number, chain: number): RecordBody {
  const [drawn = {}] = fc.sample(gates, { numRuns: 1, seed: (seed * 1_000_003 + chain) | 0 });
  return Object.fromEntries(
    GATES.flatMap((name) => (drawn[name] === undefined ? [] : [[name, drawn[name]]])),
  );
}

function withoutGates(event: DeriveEvent): DeriveEvent {
  if (event.kind !== "record" || event.type !== "params") return event;
  const body = Object.entries(event.body).filter(([name]) => !(GATES as readonly string[]).includes(name));
  return { ...event, body: Object.fromEntries(body) };
}

/**
 * Ends the log with an escrow. Random steps settle few escrows. So the logs use the four ways to settle an escrow in
 * turn.
 */
function settleOne(log: EventLog, n: number): void {
  const [seller, buyer] = [wallet(5), wallet(11)];
  const id = log.after(60).deposit(seller, buyer);
  log.after(n % 4 === 3 ? 4_000 : 60);
  if (n % 4 === 0) log.released(id);
  else if (n % 4 === 1) log.released(id, 200_000, 300_000);
  else if (n % 4 === 2) log.refunded(id, buyer);
  else log.timedOut(id, false);
}

/** A record of parameters, so that no log begins with the parameters of the log before it. */
function publication(): DeriveEvent[] {
  const log = new EventLog();
  log.record("params", OPERATOR, {
    version: 1,
    operator: OPERATOR,
    claimAttestors: [ATTESTOR],
    auditArbiters: [ARBITER],
    hubs: [],
  });
  const [, record] = log.events;
  return record === undefined ? [] : [{ ...record, block: 0 }];
}

/** The numbers of the wallets that a log names anywhere, except in transfers of the crowd. */
function walletsOf(events: readonly DeriveEvent[]): number[] {
  const found = new Set<number>(ROLES);
  const concerning = events.filter((it) => !isOfCrowd(it));
  for (const [address] of JSON.stringify(concerning).matchAll(/0x0{24}[0-9a-f]{16}(?![0-9a-f])/g)) {
    const n = Number(BigInt(address));
    if (n > 0) found.add(n);
  }
  return [...found];
}
