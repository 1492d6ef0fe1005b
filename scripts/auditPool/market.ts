import type { AuditParams } from "tallystick-protocol/records/auditParams";

/** The simulated market: a seller, its auditors, and how well they judge. Shares are from 0 to 1. */
export type Market = {
  /** The rules of draws, rounds and fees. */
  rules: Pick<
    AuditParams,
    | "ratePpm"
    | "recheckPpm"
    | "maxAttempts"
    | "verdictSeconds"
    | "pairSeconds"
    | "maxUnanswered"
    | "fees"
    | "bountyMultiplier"
  >;
  /** Seconds between two ticks, and how often the seller is hired in that time. */
  tickSeconds: number;
  hiresPerTick: number;
  /** The price of a hire, in atomic units. */
  priceAtomic: bigint;
  /** The number of buyers, which hire the seller in turn. */
  buyers: number;
  auditors: number;
  /** The number of auditors that always say the opposite of the truth and always answer. */
  colluders: number;
  /**
   * Whether the colluders are known to belong together. Then at most one of them is asked about a hire from
   * the second round on.
   */
  areLinked: boolean;
  /** How often an honest auditor fails garbage. */
  trueNegative: number;
  /** How often an honest auditor passes good work. */
  truePositive: number;
  /** How often an honest auditor cannot say, or does not answer. */
  inconclusive: number;
  unanswered: number;
};

/** An auditor's verdict on a hire; null if it does not answer in time. */
export type Word = "pass" | "fail" | "inconclusive" | null;

/** All random decisions: the hashes of the rules, and the errors of honest people. */
export type Chance = {
  /** The `u` of a draw at a tick: from 0 to 999,999. */
  draw: (queue: "sample" | "recheck", tick: number) => number;
  /** The place in the roster that a probe looks at. */
  place: (probe: Probe, size: number) => number;
  isGarbage: (hire: number) => boolean;
  word: (auditor: Auditor, isGarbage: boolean, probe: Omit<Probe, "k">) => Word;
};

/** One look for an auditor of an attempt. `k`: how many looks came before it at this tick. */
export type Probe = { tick: number; hire: number; round: number; attempt: number; k: number };

export type Auditor = { id: number; isColluder: boolean };

export type PoolAudit = {
  /** The number of the hire, from 0. */
  hire: number;
  isGarbage: boolean;
  status: "assigning" | "assigned" | "rechecking" | "passed" | "failed" | "inconclusive";
  round: number;
  attempt: number;
  /** Who was asked, in order, and what each said. */
  asked: { auditor: Auditor; round: number; word: Word }[];
};
