import type { AuditParams } from "tallystick-protocol/records/auditParams";

/** What is simulated: a seller, those who audit it, and how well they judge. Shares are from 0 to 1. */
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
  /** What a hire costs, in atomic units. */
  priceAtomic: bigint;
  /** How many buyers hire it, in turn. */
  buyers: number;
  auditors: number;
  /** How many of the auditors say the opposite of the truth, always, and never let an assignment pass. */
  colluders: number;
  /** Whether the colluders can be told to be of one house: then at most one of them is asked about a hire from its second round on. */
  areLinked: boolean;
  /** How often an honest auditor fails what is garbage. */
  trueNegative: number;
  /** How often an honest auditor passes what is good. */
  truePositive: number;
  /** How often an honest auditor cannot say, or does not answer. */
  inconclusive: number;
  unanswered: number;
};

/** What an auditor says of a hire; null when it lets its time pass. */
export type Word = "pass" | "fail" | "inconclusive" | null;

/** Where chance comes in: the rules' hashes, and what honest people get wrong. */
export type Chance = {
  /** The `u` of a draw at a tick: from 0 to 999,999. */
  draw: (queue: "sample" | "recheck", tick: number) => number;
  /** The place of a roster that a probe looks at. */
  place: (probe: Probe, size: number) => number;
  isGarbage: (hire: number) => boolean;
  word: (auditor: Auditor, isGarbage: boolean, probe: Omit<Probe, "k">) => Word;
};

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
