import type { Params } from "tallystick-protocol/records/params";
import type { Audits } from "./auditFacts.ts";
import type { FamilyFacts } from "./families.ts";

/** What the oracle notes while it reads a log: everything, in plain arrays. */
export type Position = { index: number; block: number; log: number; time: number };

/** Of an event. */
export type Place = { block: number; time: number; log: number };

export type Transfer = Position & {
  from: string;
  to: string;
  value: bigint;
  tx: string;
  authorized: boolean;
  /** Neither side is a hub, an escrow or the zero address. */
  ordinary: boolean;
  /** All that the receiver ever got, this one included. */
  receivedSoFar: bigint;
  /** Large enough to fund its receiver, by the parameters of its arrival. */
  large: boolean;
  /** A hire payment until that time has passed, unless a receipt claims it; null when it is presumed none. */
  presumedUntil: number | null;
  /** Worth at least a hire, by the parameters of its arrival. */
  mayBePayment: boolean;
  claimed: boolean;
  /** No receipt claimed it in time, which decided for good that it is funding. */
  decided: boolean;
  /** Its place among all transfers that ever became plain, or null. */
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
  refundedBy: string | null;
  settledTime: number | null;
  hireId: string;
  /** Its buyer had said before that nothing came. */
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
  /** Whether it was looked at when it met its payment; and whether its hashes are held against its seller's other words. */
  wasSeen: boolean;
  isHeld: boolean;
  time: number;
  waitsUntil: number;
  /** Whether it had to wait for its payment when it came. */
  waited: boolean;
  status: "pending" | "counted" | "free" | "unmatched" | "duplicate";
  hire: Hire | null;
};

export type Hire = {
  id: string;
  receipt: Receipt | null;
  /** Whether it was looked at when it was counted. */
  wasSeen: boolean;
  /** What an audit decided stands, whatever a buyer says after. */
  isRolledBack: boolean;
  /** An operator had arranged it: it is in no figure. */
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
  /** When it is out of the 30 days and of the 24 hours, by the parameters under which it was counted. */
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

/** Agents that a signal found to be one: `funder` is whose money showed it, null for listings alike. */
export type Group = { signal: string; funder: string | null; members: Set<string> };

/** A group as it was taken, which is what names a cluster: with the nearest few only, where they are enough. */
export type Trip = Group & { kind: "ownership" | "fingerprint"; id: string };

/** `size` stays as it was when the cluster was merged into an older one. */
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

export type Agent = Position & { tier: number };

export type Facts = {
  params: Params;
  /** Every set of tokens that listings ever had, in order of appearance, and how similar others then had to be. */
  tokenSets: Map<string, { n: number; similarity: Params["fingerprintSimilarity"] }>;
  /** Index of the event being read, and where it stands. */
  now: number;
  at: { block: number; log: number | null; seq: number | null };
  /** Time of the last tick. */
  asOf: number;
  transfers: Transfer[];
  escrows: Map<string, Escrow>;
  receipts: Receipt[];
  hires: Hire[];
  ratings: Rating[];
  telemetry: Map<string, { latency: number | null; allPassed: boolean | null }>;
  listings: Listing[];
  seenListings: Set<string>;
  /** Ledgers with a record that was signed for them. */
  boundLedgers: Set<string>;
  /** `agent/payee` → block and log of the consent. */
  consents: Map<string, { block: number; log: number }>;
  claims: Map<string, string>;
  /** Whose human each agent says it is, in small letters, unless nobody's. */
  handles: Map<string, string>;
  audits: Audits;
  families: FamilyFacts;
  agents: Map<string, Agent>;
  hubs: Set<string>;
  escrowContracts: Set<string>;
  /** Every `funder agent time` that was ever seen: a receipt that comes later undoes none. */
  fundings: Set<string>;
  /** Groups found so far, whole; only a funder that is published as a hub takes its own away. */
  groups: Group[];
  /** The same as they were taken, in order, and the clusters that they make; those of before a hub was published too. */
  trips: Trip[];
  clusters: Cluster[];
  /** Wallets that were hubs once and are none. */
  hubsOnce: Set<string>;
  /** Time and block of every change of parameters that lets more agents be one. */
  widened: { time: number; block: number }[];
};
