import { auditTables } from "./audits/tables.ts";
import type { ColumnKind, ColumnValues } from "./columnKind.ts";
import { familyTables } from "./families/tables.ts";
import { identityTables } from "./identities/tables.ts";
import { settlementTrustTables } from "./settlementTrust/tables.ts";
import { slaTables } from "./steward/sla/tables.ts";
import { stewardTables } from "./steward/tables.ts";

/**
 * The rows of the derivation. Every table has one text primary key, `id`, that can be predicted from the event at hand,
 * so that an event costs a few look-ups by key and never a scan. Lists are rows too (see `lists.ts`).
 *
 * Column kinds: `text`, `number` (a safe integer), `bigint` (atomic units, numeric(78)), `boolean`; a trailing `?` is nullable.
 * Exact fractions are stored as text, `n` or `n/d` in lowest terms (see `rational.ts`).
 */
export const tables = {
  /** One row, `state`: the time, and what the schedule has run. */
  state: {
    id: "text",
    /** Block and time of the last tick: everything that expires is as of here. */
    block: "number",
    time: "number",
    ticks: "number",
    /** First bucket of the schedule that may still hold something due. */
    scheduleBucket: "number?",
    /** How often agents were put together: the order of birth of clusters. */
    trips: "number",
    paramsVersion: "number",
    params: "text",
    /** `all` or `relevant`: which transfers the log has. */
    form: "text",
    /** Whether the log names registries of ERC-8004. */
    registries: "boolean",
    /** Roots of the digest's trees, that of SHP and that of trust scores, and the digest of the last tick, 64 hex characters. */
    root: "text",
    stewardRoot: "text",
    identityRoot: "text",
    digest: "text?",
  },
  /** Every wallet that ever received the token, and the known hubs and escrows. */
  wallet: {
    id: "text",
    /** `hub`, `escrow` or null. */
    kind: "text?",
    received: "bigint",
    /** The number of transfers of any value that reached it, and that left it. */
    incoming: "number",
    outgoing: "number",
    /**
     * The funding transfers that it received, and transfers that may turn out to be funding, one per line (see
     * `funding/legs.ts`).
     */
    fundings: "text",
    /**
     * In a log of all transfers: the largest inflow before it spent, and where it first spent (see
     * `families/origin.ts`).
     */
    origin: "text",
    /** Its largest inflow before it first declared itself. Empty if nothing had reached it by then, or if it had spent before. */
    begun: "text",
    /** Whether transfers to it are searched for money that comes back to a buyer. */
    traced: "boolean",
  },
  /**
   * In a relevant log: a summary of the transfers that reached a wallet before it was watched, as far as the
   * log has reported them: up to the one at `block` and `log`. From the position `watchedBlock` and
   * `watchedLog` on, the log contains its transfers themselves.
   */
  inflow: {
    id: "text",
    received: "bigint",
    incoming: "number",
    block: "number",
    log: "number",
    fundings: "text",
    watchedBlock: "number?",
    watchedLog: "number?",
  },
  /**
   * In a relevant log, `<wallet>/<in, out or spent>/<n>`: the place of its n-th transfer of this kind. `spent`
   * counts those that left it with a value above zero.
   */
  transferCount: { id: "text", block: "number", log: "number", time: "number" },
  agent: {
    id: "text",
    registeredBlock: "number",
    registeredTime: "number",
    registeredLog: "number",
    liveListings: "number",
    /** How many of them ask for coarse metrics only. */
    privateListings: "number",
    claimStatus: "text",
    trustTier: "number",
    tierChanges: "number",
    /** The clusters it joined first, one of each kind; the current ones are found by following `cluster.parent`. */
    ownershipCluster: "text?",
    fingerprintCluster: "text?",
    /** The class of its live listings' fingerprint (see `fingerprint/`). */
    fingerprint: "text?",
    /** Its place among the members of that class. */
    fingerprintPlace: "number",
    /** Comma-separated, sorted. */
    signalsTripped: "text",
    freeHires: "number",
    windowHires: "number",
    windowWeight: "text",
    ratedWeight: "text",
    successWeight: "text",
    escrowWeight: "text",
    refundedWeight: "text",
    /** Of failures that an audit found. */
    auditDisputedWeight: "text",
    /** Audits of its hires in the window that it passed, and those that failed and were rolled back. */
    auditsPassed: "number",
    auditsRolledBack: "number",
    /**
     * The numbers of its hires that ever became eligible for an audit, that were drawn, and that failed because
     * it did not disclose them.
     */
    auditsEligible: "number",
    auditsDrawn: "number",
    auditsUndisclosed: "number",
    /** Hires in the window that may be audited, or were. */
    windowAuditable: "number",
    /** Whether one of its listings ever agreed to audits, and whether one of its hires was ever rolled back. */
    everConsented: "boolean",
    everElevated: "boolean",
    /** Whether it was published as a hub, or is an escrow, after it became an agent. */
    isHub: "boolean",
    /** Hires in the window whose latency is known, and statistics of it in milliseconds. */
    latencies: "number",
    latencySum: "bigint",
    latencyP50: "number?",
    latencyP95: "number?",
    latencyP99: "number?",
    /** A fraction rounded at nine decimals. */
    avgStars: "text?",
    totalRatings: "number",
    /** The first of its days with ratings that may still have some in the window. */
    firstStarDay: "number",
    /** Σ weight × price over the last 24 hours, atomic units. */
    dayVolume: "text",
    capabilities: "number",
    /**
     * The capability that it was hired for most recently for the first time: the end of a chain through its
     * rows of `capability`.
     */
    lastCapability: "text?",
    distinctBuyers: "number",
    /** Families of buyers (see `families/`): the independent ones, the established of them, and those with rated hires. */
    independentBuyers: "number",
    establishedBuyers: "number",
    ratingFamilies: "number",
    /** Σ over those of the share of successes, in parts of 10⁻⁹. */
    familyShares: "bigint",
    /** What the families paid of money that they brought, and did not get back. */
    kept: "bigint",
    /** Families that took money back after delivery; hires that were taken back so. */
    contestingFamilies: "number",
    refundsContested: "number",
    /** Fees of its hires that went to published recipients. */
    feesPaid: "bigint",
    /** Hires that were paid directly; payments of which no receipt came in time. */
    windowDirect: "number",
    unreceipted: "number",
    unreceiptedValue: "bigint",
    /** Deposits for it that went back without an act of its own. */
    unanswered: "number",
    bought: "number",
    escrowBought: "number",
    silentTimeouts: "number",
    refundsAfterDelivery: "number",
    /** Those that an audit found good work behind, in the window. */
    falseRefunds: "number",
    /** How many sellers it ever bought from, by itself or for its buyer group; the newest ends a chain of rows of `purchases`. */
    sellers: "number",
    lastSeller: "text?",
    /** Its place in a search, lower is better, and rates cut to whole percent and tenths (see `searchRank.ts`). */
    rank: "number",
    successPercent: "number?",
    starTenths: "number?",
    /** The tick count at which it was last put on the list of rows to digest. */
    touched: "number?",
  },
  tierChange: {
    id: "text",
    agent: "text",
    from: "number",
    to: "number",
    reason: "text",
    block: "number",
    time: "number",
    log: "number?",
    seq: "number?",
  },
  /** Hires in the window per agent and capability, `<agent>/<capability>`; `before` is the agent's capability before it. */
  capability: {
    id: "text",
    agent: "text",
    capability: "text",
    windowHires: "number",
    /** Those of them that were successes. An auditor of a capability must have at least one there. */
    windowSuccesses: "number",
    medianPrice: "text?",
    before: "text?",
  },
  /**
   * Hires in the window from a seller, `<address>/<seller>`: the address's own, and those of the buyer group of its name; `before`
   * is the address's seller before it.
   */
  purchases: { id: "text", own: "number", held: "number", before: "text?" },
  /** Addresses that are one buyer: union–find by `parent`, only for those ever joined. */
  buyerGroup: { id: "text", parent: "text" },
  listing: {
    id: "text",
    agent: "text",
    capability: "text",
    paymentMode: "text",
    priceUsdc: "text",
    /** The same in atomic units. */
    price: "bigint",
    maxLatencyMs: "number",
    endpoint: "text",
    firstCallFree: "boolean",
    privateMetrics: "boolean",
    clarificationSupported: "boolean",
    verificationVersion: "text?",
    /** N of a version `vN`; 0 without one, null for one that cannot be compared. */
    verificationRank: "number?",
    /** Whose audits it agreed to last, and from when on that holds. */
    auditOperator: "text?",
    auditFrom: "number?",
    payee: "text?",
    live: "boolean",
    issuedAt: "number",
    hash: "text",
    block: "number",
    log: "number",
    seq: "number",
    /** Copied from its agent, so that a search reads them in order from one index. */
    rank: "number",
    trustTier: "number",
    successPercent: "number?",
    starTenths: "number?",
  },
  /** What is offered of a capability: live listings, who made them, and their lowest and median price in atomic units. */
  offer: {
    id: "text",
    listings: "number",
    sellers: "number",
    lowestPrice: "bigint?",
    medianPrice: "bigint?",
  },
  /**
   * A class of agents whose live listings have the same set of tokens, by the hash of the set. `around` counts its members
   * and those of all classes near it.
   */
  fingerprint: { id: "text", tokens: "text", members: "number", around: "number", core: "boolean" },
  /** The members of a class now, `<class>/<place>`. */
  fingerprintMember: { id: "text", agent: "text" },
  /** Listing bodies seen, by digest: a replayed one changes nothing. */
  seenListing: { id: "text" },
  /** The first position at which `<agent>/<payee>` was agreed by a payee's own signature. */
  payee: { id: "text", block: "number", log: "number" },
  /**
   * A payment that could be a hire's: `<tx>/<ends of from and to>/<value>/<n>`. It is claimed when there is a hire of its
   * log; so it is written once.
   */
  payment: {
    id: "text",
    block: "number",
    time: "number",
    log: "number",
    from: "text",
    to: "text",
    value: "bigint",
    authorized: "boolean",
  },
  escrow: {
    id: "text",
    provider: "text",
    escrow: "text",
    hireId: "text",
    buyer: "text",
    seller: "text",
    payee: "text",
    amount: "bigint",
    fee: "bigint",
    feeRecipient: "text",
    deadline: "number",
    arbiter: "text",
    depositedBlock: "number",
    depositedTime: "number",
    tx: "text",
    /** `held`, `released`, `refunded` or `timed_out`. */
    status: "text",
    delivered: "boolean",
    resultHash: "text?",
    toSeller: "bigint?",
    toBuyer: "bigint?",
    /** The part of it that went to the recipient of the fee. */
    feePaid: "bigint",
    refundedBy: "text?",
    settledTime: "number?",
    /** Whether its buyer had reported that nothing arrived before it took its money back. */
    nothingCame: "boolean",
    /** Whether it counts among those that its seller left unanswered. */
    unanswered: "boolean",
    /** Entry hash of the seller's receipt, and the hire once counted. */
    receipt: "text?",
    hire: "text?",
  },
  /** The ledgers with a record whose signed body names its type and its ledger, and the position of their first. */
  boundLedger: { id: "text", seq: "number" },
  /** Every record of a followed ledger, `<ledger>/<seq>`. */
  record: {
    id: "text",
    ledger: "text",
    seq: "number",
    /** The entry's. Another ledger may carry the same entry: what it says counts once. */
    hash: "text",
    type: "text",
    signer: "text",
    /** `valid` or `invalid`, and why. */
    status: "text",
    reason: "text?",
    block: "number",
    time: "number",
    log: "number",
  },
  receipt: {
    id: "text",
    agent: "text",
    buyer: "text",
    capability: "text",
    hireId: "text",
    txHash: "text",
    logIndex: "number?",
    amount: "bigint",
    payee: "text",
    escrowId: "text?",
    completedAt: "number",
    allPassed: "boolean",
    latencyMs: "number?",
    buyerSigned: "boolean",
    /** Of what was asked for, and of what was delivered. */
    paramsHash: "text?",
    resultHash: "text?",
    time: "number",
    /** `pending`, `counted`, `free`, `unmatched` or `duplicate`. */
    status: "text",
    hire: "text?",
  },
  /** A counted hire: `<tx>-<log>` of its payment, or its escrowId. */
  hire: {
    id: "text",
    seller: "text",
    buyer: "text",
    hireId: "text",
    capability: "text?",
    paymentMode: "text",
    /** What the seller got (gross), and what the buyer put up. */
    price: "bigint",
    amount: "bigint",
    /** `success`, `failure` or `neutral`. */
    outcome: "text",
    refunded: "boolean",
    dispute: "boolean",
    disputeSource: "text?",
    silentTimeout: "boolean",
    refundAfterDelivery: "boolean",
    /** `audit`, `escrow`, `buyer` or `seller`: whose word the outcome rests on. */
    evidence: "text",
    /** The weight is 1/clusterSize, fixed when the hire was counted but for a hub that is published late. */
    clusterSize: "number",
    /** When its price leaves the 24-hour volume; null for one that was too old for it. */
    leavesDay: "number?",
    latencyMs: "number?",
    time: "number",
    tx: "text",
    escrowId: "text?",
    receipt: "text?",
    /** The family that it counts for, and whose money its price became (see `families/buyerFamilies.ts`). */
    buyerFamily: "text",
    payeeAccount: "text?",
    /** How much of its price that family had brought from outside (see `families/brought.ts`). */
    brought: "bigint",
    /** The fee that went to a published recipient. */
    feePaid: "bigint",
    inWindow: "boolean",
    /** Whether it became eligible for an audit; and whether an operator of audits had arranged it: then it is in no figure. */
    isAuditable: "boolean",
    isCanary: "boolean",
    countedBlock: "number",
    countedLog: "number",
    countedSeq: "number?",
  },
  /** `<receipt>/<side>`: stars given, and once its hire is counted, with which weight. */
  rating: {
    id: "text",
    receipt: "text",
    rater: "text",
    ratee: "text",
    side: "text",
    stars: "number",
    time: "number",
    /** `pending` until the hire is counted, then `counted`. */
    status: "text",
    hire: "text?",
    clusterSize: "number",
    inWindow: "boolean",
  },
  /** Stars of one day in the window, `<agent>/<day>`: Σ weight and Σ weight × stars. */
  starDay: { id: "text", weight: "text", stars: "text" },
  /** What the buyer measured, by receipt, and what it says went wrong. What it says first stays in force. */
  telemetry: { id: "text", latencyMs: "number?", allPassed: "boolean?", failure: "text?" },
  /** An agent's human claim, by agent. */
  claim: { id: "text", xHandle: "text", status: "text", hash: "text" },
  ...familyTables,
  ...auditTables,
  ...stewardTables,
  ...slaTables,
  ...settlementTrustTables,
  ...identityTables,
  /**
   * `<agent>/<hire_id>` of receipts: the hire that it was counted as, since the same never counts twice. Of sellers that agreed to
   * audits, also what they signed for it first, whether they signed something else too, and the first hire that is audited by it.
   */
  hireKey: {
    id: "text",
    hire: "text?",
    paramsHash: "text?",
    resultHash: "text?",
    isEquivocal: "boolean",
    audited: "text?",
  },
  /** `<buyer>/<seller>` of free hires: one each. */
  freeHire: { id: "text", receipt: "text" },
  /** Members in order of a number: bitmaps of the numbers taken, and who stands where (see `orderIndex.ts`). */
  orderIndex: { id: "text", value: "text" },
  /** Ordered sets of numbers, for medians and percentiles: a list, or nodes of a tree (see `orderedSet.ts`). */
  orderedNode: { id: "text", counts: "text" },
  cluster: {
    id: "text",
    /** `ownership` (funding origin, deploy batch) or `fingerprint` (listings alike); the two are never merged. */
    kind: "text",
    /** Order of birth: on a merge the older id stays. */
    ordinal: "number",
    /** Where to look for the current root; itself when it is the root. */
    parent: "text",
    /** The older cluster it was merged into, if it was; fixed, while `parent` gets shorter. */
    mergedInto: "text?",
    /** Members of the whole cluster, when this is the root; else as it was on the merge. */
    size: "number",
    block: "number",
    time: "number",
    touched: "number?",
  },
  /** Every trip of a signal of shared ownership, by number: what clusters are rebuilt from when a funder turns out a hub. */
  trip: {
    id: "text",
    funder: "text",
    signal: "text",
    members: "text",
    /** The id of the cluster that it starts if its members are in none. */
    cluster: "text",
    dropped: "boolean",
  },
  /** A list's length and its last items, a line each; full pages of it, `<list>/<n>` (see `lists.ts`). */
  list: { id: "text", length: "number", tail: "text" },
  listPage: { id: "text", items: "text" },
  /** Nodes of the digest's trees, by prefix of the key's hash, behind `s` in that of trust scores: sixteen children, separated by commas. */
  digestNode: { id: "text", children: "text" },
  /** The digest at each tick, by zero-padded block. */
  digest: {
    id: "text",
    block: "number",
    time: "number",
    root: "text",
    stewardRoot: "text",
    /** Of a log that names registries of ERC-8004. */
    identityRoot: "text?",
    paramsVersion: "number",
    digest: "text",
  },
} as const satisfies Record<string, Record<string, ColumnKind>>;

export type TableName = keyof typeof tables;

/** A row of `T`: every column present, nullable ones null. */
export type Row<T extends TableName> = {
  -readonly [C in keyof (typeof tables)[T]]: (typeof tables)[T][C] extends ColumnKind
    ? ColumnValues[(typeof tables)[T][C]]
    : never;
};
