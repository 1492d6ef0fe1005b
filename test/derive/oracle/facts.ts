import type { Params } from "tallystick-protocol/records/params";
import type { Audits } from "./auditFacts.ts";
import type { FamilyFacts } from "./families.ts";

/** The position of an event, with the event's index in the log. */
export type Position = { index: number; block: number; log: number; time: number };

/** The position of an event. */
export type Place = { block: number; time: number; log: number };

export type Transfer = Position & {
  from: string;
  to: string;
  value: bigint;
  tx: string;
  authorized: boolean;
  /** Whether neither side is a hub, an escrow or the zero address. */
  ordinary: boolean;
  /** The sum that the receiver ever got, including this transfer. */
  receivedSoFar: bigint;
  /** Whether it is large enough to fund its receiver, by the parameters at its arrival. */
  large: boolean;
  /** Until this time it is presumed a hire payment, if no receipt claims it. Null if it is not presumed a hire payment. */
  presumedUntil: number | null;
  /** Whether it can pay a hire: it is not below the lowest price at its arrival, and is one of the first hundred equal ones. */
  mayBePayment: boolean;
  claimed: boolean;
  /** Whether no receipt claimed it in time. Then it counts as funding permanently. */
  decided: boolean;
  /** Its place among all plain transfers, or null. A plain transfer is not presumed a hire payment. */
  plain: number | null;
};

export type Escrow = {
  id: string;
  provider: string;
  buyer: string;
  seller: string;
  arbiter: string;
  amount: bigint;
  depositedTime: number;
  delivered: boolean;
  outcome: "held" | "released" | "refunded" | "timed_out";
  toSeller: bigint;
  feeRecipient: string;
  /** The fee that was taken at its settlement. */
  fee: bigint;
  refundedBy: string | null;
  takenBack: boolean;
  settledTime: number | null;
  hireId: string;
  /** Whether its buyer reported, before the settlement, that nothing arrived. */
  nothingCame: boolean;
  receipt: Receipt | null;
  hire: Hire | null;
};

export type Receipt = {
  hash: string;
  agent: string;
  buyer: string;
  capability: string;
  hireId: string;
  tx: string;
  logIndex: number | null;
  amount: bigint;
  payee: string;
  escrowId: string | null;
  allPassed: boolean;
  latency: number | null;
  buyerSigned: boolean;
  hashes: (string | null)[];
  /**
   * `wasSeen`: whether it was checked for audits after it was joined with its payment. `isHeld`: whether its hashes are
   * compared with those of the seller's other receipts.
   */
  wasSeen: boolean;
  isHeld: boolean;
  time: number;
  waitsUntil: number;
  /** Whether it had to wait for its payment at its arrival. */
  waited: boolean;
  status: "pending" | "counted" | "free" | "unmatched" | "duplicate";
  hire: Hire | null;
};

export type Hire = {
  id: string;
  receipt: Receipt | null;
  /** Whether it was checked for audits when it was counted. */
  wasSeen: boolean;
  /** Whether an audit rolled it back. Then later reports of the buyer do not change its outcome. */
  isRolledBack: boolean;
  /** Whether an operator had arranged it. Then it is in no figure. */
  isCanary: boolean;
  seller: string;
  buyer: string;
  capability: string | null;
  price: bigint;
  amount: bigint;
  outcome: "success" | "failure" | "neutral";
  escrow: Escrow | null;
  refunded: boolean;
  byAudit: boolean;
  silentTimeout: boolean;
  refundAfterDelivery: boolean;
  size: number;
  latency: number | null;
  time: number;
  /** The times at which it leaves the windows of 30 days and of 24 hours, by the parameters at the time of counting. */
  leavesWindow: number;
  leavesDay: number;
};

export type Rating = {
  receipt: Receipt;
  side: string;
  stars: number;
  time: number;
  size: number | null;
  leavesWindow: number;
};

/** Agents that a signal joined. `funder` is the account whose money tripped the signal, null for similar listings. */
export type Group = { signal: string; funder: string | null; members: Set<string> };

/** A group as it was found. It gives the cluster its id. If the nearest few agents are enough, it has only these. */
export type Trip = Group & { kind: "ownership" | "fingerprint"; id: string };

/** When the cluster is merged into an older one, its `size` stays as it was. */
export type Cluster = {
  id: string;
  kind: Trip["kind"];
  mergedInto: Cluster | null;
  size: number;
  members: Set<string>;
};

export type Listing = {
  agent: string;
  capability: string;
  mode: string;
  price: string;
  latency: number;
  host: string;
  live: boolean;
  private: boolean;
  version: string;
  issuedAt: number;
};

/** The figures that decide the tier of one agent. Sums of weights are in units. */
export type TierFigures = {
  successes: bigint;
  rated: bigint;
  isVerified: boolean;
  capabilities: number;
  buyers: number;
};

/** `figures`: those of its tier after the last event. */
export type Agent = Position & { tier: number; figures: TierFigures | null };

/** The data that the oracle collects while it reads a log: everything, in plain arrays. */
export type Facts = {
  params: Params;
  /** The names of the log's chain; empty if the log does not name it. */
  networks: string[];
  /** Every set of tokens of listings, in order of appearance, and the similarity that was required then. */
  tokenSets: Map<string, { n: number; similarity: Params["fingerprintSimilarity"] }>;
  /** The index and the position of the present event. */
  now: number;
  at: { block: number; log: number | null; seq: number | null };
  /** Time of the last tick. */
  asOf: number;
  transfers: Transfer[];
  escrows: Map<string, Escrow>;
  receipts: Receipt[];
  hires: Hire[];
  ratings: Rating[];
  telemetry: Map<string, { latency: number | null; allPassed: boolean | null; time: number }>;
  listings: Listing[];
  seenListings: Set<string>;
  /** Every claim of an attestor so far, by signer and body. */
  seenClaims: Set<string>;
  /** Ledgers with a record that was signed for them. */
  boundLedgers: Set<string>;
  /** `agent/payee` → block and log of the consent. */
  consents: Map<string, { block: number; log: number }>;
  claims: Map<string, string>;
  /** The human handle of each agent, in lower case; absent if it has none. */
  handles: Map<string, string>;
  audits: Audits;
  families: FamilyFacts;
  agents: Map<string, Agent>;
  hubs: Set<string>;
  escrowContracts: Set<string>;
  /** Every `funder agent time` that was ever seen. A later receipt removes none. */
  fundings: Set<string>;
  /** All complete groups so far. A group is removed only if its funder is published as a hub. */
  groups: Group[];
  /** The groups as they were found, in order, and their clusters, including those from before a hub was published. */
  trips: Trip[];
  clusters: Cluster[];
  /** Wallets that were once removed from the hubs. */
  hubsOnce: Set<string>;
  /** Time and block of every change of parameters that can join more agents. */
  widened: { time: number; block: number }[];
};
