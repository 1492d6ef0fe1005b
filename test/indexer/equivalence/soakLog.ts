import fc from "fast-check";
import type { DeriveEvent } from "tallystick-derive/events";
import type { Address } from "tallystick-protocol/address";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { EventLog } from "../../derive/eventLog.ts";
import { ARBITER, ATTESTOR, OPERATOR } from "../../derive/oracle/generatedActions.ts";
import { distantLogOf, generatedLogOf } from "../../derive/oracle/generatedLog.ts";
import { isStranger } from "./crowd.ts";

/** Which node of a log is killed, and after which of its blocks (modulo their number). */
export type Kill = { node: "all" | "relevant" | "both"; at: number };

/** A log of the soak. */
export type SoakLog = {
  events: DeriveEvent[];
  /** The numbers of its wallets, without the strangers that only move money among themselves. */
  wallets: number[];
  /** Parameters that its records of parameters get unless they have others. */
  kept: RecordBody;
  kill: Kill | null;
};

const LENGTH = { minLength: 12, maxLength: 36 };

/** Money that comes from far away and late, and wallets that reach `hubTransfers`, a number below 21 here. */
const distant = distantLogOf(LENGTH, 3);
/** Of a hundred of its transfers, about one concerns somebody. */
const crowded = distantLogOf({ minLength: 10, maxLength: 14 }, 500);

const kill = fc.record({ node: fc.constantFrom("all", "relevant", "both"), at: fc.nat() });

const soakLog = fc.record({
  log: fc.oneof(
    { weight: 8, arbitrary: generatedLogOf(LENGTH) },
    { weight: 11, arbitrary: distant },
    { weight: 1, arbitrary: crowded },
  ),
  kill: fc.oneof({ weight: 1, arbitrary: kill }, { weight: 6, arbitrary: fc.constant(null) }),
});

/** Log `n` of a seed. It depends on nothing else, so it can be played alone. */
export function soakLogOf(seed: number, n: number): SoakLog {
  const [drawn] = fc.sample(soakLog, { numRuns: 1, seed: (seed * 1_000_003 + n) | 0 });
  if (drawn === undefined) throw new Error("Nothing was drawn.");
  const { log, kill } = drawn;
  const [first] = log.events;
  const hubTransfers = first?.kind === "params" ? first.params.hubTransfers : 10_000;
  const events = [...publication(), ...log.events];
  return { events, wallets: walletsOf(events), kept: { hubTransfers }, kill };
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

function walletsOf(events: readonly DeriveEvent[]): number[] {
  const strangers = new Set<number>();
  for (const event of events) {
    const sides = event.kind === "transfer" ? [event.from, event.to].filter(isStranger) : [];
    // A transfer of two strangers is the crowd's.
    if (sides.length === 1) strangers.add(Number(BigInt(sides[0] as Address)));
  }
  const usual = Array.from({ length: 39 }, (_, n) => n + 1);
  return [...usual, ...strangers];
}
