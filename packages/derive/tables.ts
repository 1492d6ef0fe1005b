import { auditTables } from "./audits/tables.ts";
import type { ColumnKind, ColumnValues } from "./columnKind.ts";
import { familyTables } from "./families/tables.ts";
import { identityTables } from "./identities/tables.ts";
import { settlementTrustTables } from "./settlementTrust/tables.ts";
import { slaTables } from "./steward/sla/tables.ts";
import { stewardTables } from "./steward/tables.ts";

/**
 * The rows of the derivation. Every table has one text primary key, `id`. The id can be computed from the event, so an
 * event costs a few look-ups by key and never a scan. Lists are rows too (see `lists.ts`).
 *
 * Column kinds: `text`, `number` (a safe integer), `bigint` (a whole number that may be larger, such as atomic units or
 * a sum of milliseconds; numeric(78) in Postgres), `boolean`. A kind with `?` at the end is nullable. Exact fractions
 * are stored as text, `n` or `n/d` in lowest terms (see `rational.ts`).
 */
export const tables = {
  /** One row, `state`: the time, and how far the schedule has run. */
  state: {
    id: "text",
    /** Block and time of the last tick. Everything that expires is evaluated at this time. */
    block: "number",
    time: "number",
    ticks: "number",
    /** The first bucket of the schedule that may still have items that did not run. */
    scheduleBucket: "number?",
    /** How many signals have tripped. When the first signal of a cluster trips, this count becomes its `ordinal`. */
    trips: "number",
    /** How many sets of tokens of listings have appeared. Each gets this count as its `appeared`. */
    tokenSets: "number",
    paramsVersion: "number",
    params: "text",
    /** The chain of the log. Only its receipts count. Null for a log that does not name its chain. */
    chainId: "number?",
    /** `all` or `relevant`: which transfers the log has. */
    form: "text",
    /** Whether the log names registries of ERC-8004. */
    registries: "boolean",
    /** The roots of the digest's trees, 64 hex digits each, and the digest of the last tick, with `0x` before it. */
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
    /**
     * In a log of all transfers: its largest inflow before it was registered or agreed to be paid for an agent,
     * whichever came first. Empty if nothing had reached it by then, or if it had spent before.
     */
    begun: "text",
    /** Whether transfers to it are searched for money that comes back to a buyer. */
    traced: "boolean",
    /**
     * The end of the list of large transfers that reached it (see `families/keptFlows.ts`). It is kept in this row
     * because each transfer reads this row anyway.
     */
    reached: "number",
    reachedTail: "text",
    /**
     * In a log of all transfers: the last block in which something reached it, and the sum that reached it in that
     * block. The block is −1 once `hubTransfers` transfers reached it.
     */
    arrivedBlock: "number?",
    arrived: "bigint",
  },
  /**
   * In a relevant log: a summary of the transfers that reached a wallet before the log began to watch it. The log
   * reports these transfers later, when they matter. The summary covers those up to the place `block` and `log`. The
   * transfers that reach the wallet after the place `watchedBlock` and `watchedLog` are in the log themselves.
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
    /** The number of them that ask for private metrics. */
    privateListings: "number",
    claimStatus: "text",
    trustTier: "number",
    tierChanges: "number",
    /** The figures of its tier after the last event (see `tiers.ts`). */
    tierFigures: "text?",
    /**
     * The clusters that it joined first, one of each kind. The current ones are found by following `cluster.parent`.
     */
    ownershipCluster: "text?",
    fingerprintCluster: "text?",
    /** The class of its live listings' fingerprint (see `fingerprint/`). */
    fingerprint: "text?",
    /** The agent's place among the members of that class. */
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
    /** The weights of failures that an audit found. */
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
    /** Whether one of its listings ever agreed to audits. */
    everConsented: "boolean",
    /** Until when its hires are drawn more often, because one was rolled back; 0 if none ever was. */
    elevatedUntil: "number",
    /** Whether it is now a hub or an escrow. It can become one after it has become an agent. */
    isHub: "boolean",
    /** Hires in the window whose latency is known, and statistics of it in milliseconds. */
    latencies: "number",
    latencySum: "bigint",
    latencyP50: "number?",
    latencyP95: "number?",
    latencyP99: "number?",
    /** A fraction, rounded at nine decimals. */
    avgStars: "text?",
    totalRatings: "number",
    /** The first day that may still have ratings in the window. */
    firstStarDay: "number",
    /** Σ weight × price over the last `volumeWindowSeconds`, atomic units. */
    dayVolume: "text",
    /** The number of its capabilities with hires in the window. The agent uses this many rows of `capabilityPlace`. */
    capabilities: "number",
    distinctBuyers: "number",
    /**
     * Counts of families of buyers (see `families/`): the independent ones, the established among them, and
     * those with rated hires.
     */
    independentBuyers: "number",
    establishedBuyers: "number",
    ratingFamilies: "number",
    /** The sum of the families' shares of successes, in units of 10⁻⁹. */
    familyShares: "bigint",
    /**
     * The money that independent families brought from outside and paid for hires in the window, minus the money that
     * came back to them.
     */
    kept: "bigint",
    /**
     * The number of families that took money back after delivery, and the number of hires whose money they took back.
     */
    contestingFamilies: "number",
    refundsContested: "number",
    /** The fees of its hires that went to published recipients. */
    feesPaid: "bigint",
    /** The number of hires that were paid directly, and of payments without a receipt in time. */
    windowDirect: "number",
    unreceipted: "number",
    unreceiptedValue: "bigint",
    /** The number of deposits for this agent that went back to the buyer without any action of this agent. */
    unanswered: "number",
    /** The number of hires in the window that it bought, and the sum of the addresses of their sellers. */
    bought: "number",
    sellerSum: "bigint",
    escrowBought: "number",
    silentTimeouts: "number",
    refundsAfterDelivery: "number",
    /** Refunds in the window for which an audit found good work. */
    falseRefunds: "number",
    /** The number of sellers from which it, or its buyer group, ever bought (see `buyerGroups.ts`). */
    sellers: "number",
    /**
     * Its place in a search (a lower place is better), and rates cut to whole percent and tenths (see
     * `searchRank.ts`).
     */
    rank: "number",
    successPercent: "number?",
    starTenths: "number?",
    /** The number of the tick at which it was last put on the list of rows to digest. */
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
  /**
   * Hires in the window per agent and capability, `<agent>/<capability>`. `place` is the capability's number among
   * the agent's capabilities with hires in the window; null without hires.
   */
  capability: {
    id: "text",
    agent: "text",
    capability: "text",
    windowHires: "number",
    /** The number of these hires that were successes. An auditor of a capability needs at least one. */
    windowSuccesses: "number",
    medianPrice: "text?",
    place: "number?",
  },
  /**
   * The capabilities of an agent with hires in the window, `<agent>/<place>`. With these rows they are read without the
   * agent's other capabilities. Only rows with a place below `agent.capabilities` are in use.
   */
  capabilityPlace: { id: "text", capability: "text" },
  /**
   * Hires in the window from a seller, `<address>/<seller>`. `own`: those of the address itself. `held`: those of the
   * buyer group that has the address as its name.
   */
  purchases: { id: "text", own: "number", held: "number" },
  /**
   * Addresses that count as one buyer: union–find by `parent`, with the number of addresses if it is a root. Only
   * addresses that were ever joined have a row.
   */
  buyerGroup: { id: "text", parent: "text", members: "number" },
  listing: {
    id: "text",
    agent: "text",
    capability: "text",
    paymentMode: "text",
    priceUsdc: "text",
    /** `priceUsdc` in atomic units. */
    price: "bigint",
    maxLatencyMs: "number",
    endpoint: "text",
    firstCallFree: "boolean",
    privateMetrics: "boolean",
    clarificationSupported: "boolean",
    verificationVersion: "text?",
    /** N of a version `vN`; 0 without one, null for one that cannot be compared. */
    verificationRank: "number?",
    /** The operator to whose audits it agreed last, and when that takes effect. */
    auditOperator: "text?",
    auditFrom: "number?",
    payee: "text?",
    live: "boolean",
    issuedAt: "number",
    hash: "text",
    block: "number",
    log: "number",
    seq: "number",
    /** Copied from its agent, so a search reads listings in order from one index. */
    rank: "number",
    trustTier: "number",
    successPercent: "number?",
    starTenths: "number?",
  },
  /**
   * The offers of a capability: the number of live listings and of their sellers, and the lowest and the
   * median price in atomic units.
   */
  offer: {
    id: "text",
    listings: "number",
    sellers: "number",
    lowestPrice: "bigint?",
    medianPrice: "bigint?",
  },
  /**
   * A class of agents whose live listings have the same set of tokens, by the hash of the set. `around` counts its
   * members and those of all classes near it. `appeared` is the ordinal of the set's last appearance, when the class
   * got a first member, and `similarity` is what was required then (`<numerator>/<denominator>`). A class without
   * members has no tokens, and its other columns are not kept.
   */
  fingerprint: {
    id: "text",
    tokens: "text",
    members: "number",
    around: "number",
    core: "boolean",
    appeared: "number",
    similarity: "text",
  },
  /** The members of a class now, `<class>/<place>`. */
  fingerprintMember: { id: "text", agent: "text" },
  /** The listing bodies that were seen, by digest. A body that comes again changes nothing. */
  seenListing: { id: "text" },
  /** The claims that were seen, `<attestor>/<digest of the body>`. A ledger's writer cannot bring an old claim back. */
  seenClaim: { id: "text" },
  /** The first position at which `<agent>/<payee>` was agreed by a payee's own signature. */
  payee: { id: "text", block: "number", log: "number" },
  /**
   * A payment that may belong to a hire: `<tx>/<ends of from and to>/<value>/<n>`. A payment is claimed if a hire with
   * the payment's transaction and log exists. So this row is written once and never changed.
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
    /**
     * In a log of all transfers: what had reached the sender in the same block before; null if `hubTransfers`
     * transfers had reached it by then.
     */
    arrived: "bigint?",
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
    depositedLog: "number",
    depositedTime: "number",
    /**
     * What had reached the buyer in the same block before the deposit; null if `hubTransfers` transfers had reached
     * the buyer by then. A loan within one block cannot pay for an escrow that is held beyond this block. So the value
     * becomes zero when the escrow is settled in a later block.
     */
    arrived: "bigint?",
    tx: "text",
    /** `held`, `released`, `refunded` or `timed_out`. */
    status: "text",
    delivered: "boolean",
    resultHash: "text?",
    toSeller: "bigint?",
    toBuyer: "bigint?",
    /** The part of the fee that went to a published recipient. */
    feePaid: "bigint",
    refundedBy: "text?",
    /** Whether its buyer took the money back (see `outcome.ts`). */
    takenBack: "boolean",
    settledTime: "number?",
    /** Whether its buyer had reported, before it took its money back, that nothing arrived. */
    nothingCame: "boolean",
    /** Whether it counts among the refunds that its seller left unanswered. */
    unanswered: "boolean",
    /** The entry hash of the seller's receipt, and the id of the hire once it is counted. */
    receipt: "text?",
    hire: "text?",
  },
  /**
   * The ledgers that have a bound record, with the position of the first. The signed body of a bound record names its
   * type and its ledger.
   */
  boundLedger: { id: "text", seq: "number" },
  /** Every record of a followed ledger, `<ledger>/<seq>`. */
  record: {
    id: "text",
    ledger: "text",
    seq: "number",
    /** The hash of the entry. Another ledger may carry the same entry, but it counts once. */
    hash: "text",
    type: "text",
    signer: "text",
    /** `valid`, `invalid` (with the reason), or `unread` if its type has no meaning for reputation. */
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
    /** The hash of what was asked for, and the hash of what was delivered. */
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
    /** What the seller got, with a fee to a published recipient, and what the buyer paid in. */
    price: "bigint",
    amount: "bigint",
    /** `success`, `failure` or `neutral`. */
    outcome: "text",
    refunded: "boolean",
    dispute: "boolean",
    disputeSource: "text?",
    silentTimeout: "boolean",
    refundAfterDelivery: "boolean",
    /** Whose word decided the outcome: `audit`, `escrow`, `buyer` or `seller`. */
    evidence: "text",
    /**
     * The weight is 1/clusterSize. It is fixed when the hire is counted. Only a hub that is published late
     * changes it.
     */
    clusterSize: "number",
    /** When its price leaves its seller's `dayVolume`; null if the hire was too old to enter it. */
    leavesDay: "number?",
    latencyMs: "number?",
    time: "number",
    tx: "text",
    escrowId: "text?",
    receipt: "text?",
    /**
     * The family of buyers that it counts for, and the account that got the money (see `families/buyerFamilies.ts`).
     */
    buyerFamily: "text",
    payeeAccount: "text?",
    /** The part of the price that the buyer's family had brought from outside (see `families/brought.ts`). */
    brought: "bigint",
    /** The fee that went to a published recipient. */
    feePaid: "bigint",
    inWindow: "boolean",
    /**
     * Whether it became eligible for an audit, and whether an operator of audits had arranged it. An arranged
     * hire is in no figure.
     */
    isAuditable: "boolean",
    isCanary: "boolean",
    countedBlock: "number",
    countedLog: "number",
    countedSeq: "number?",
  },
  /**
   * The rating by one side of a receipt, `<receipt>/<side>`: its stars, and its weight once the hire is
   * counted.
   */
  rating: {
    id: "text",
    receipt: "text",
    rater: "text",
    ratee: "text",
    side: "text",
    stars: "number",
    time: "number",
    /**
     * `counted` if it counts. `pending` until its hire is counted. A buyer's rating is also `pending` while the hire is
     * neutral, and if an operator of audits arranged the hire.
     */
    status: "text",
    hire: "text?",
    clusterSize: "number",
    inWindow: "boolean",
  },
  /** The ratings of one day in the window, `<agent>/<day>`: Σ weight and Σ weight × stars. */
  starDay: { id: "text", weight: "text", stars: "text" },
  /** What the buyer measured, and what it says went wrong, by receipt. Only its first statement counts. */
  telemetry: { id: "text", time: "number", latencyMs: "number?", allPassed: "boolean?", failure: "text?" },
  /** The human claim of an agent, by agent. */
  claim: { id: "text", xHandle: "text", status: "text", hash: "text" },
  ...familyTables,
  ...auditTables,
  ...stewardTables,
  ...slaTables,
  ...settlementTrustTables,
  ...identityTables,
  /**
   * `<agent>/<hire_id>` of receipts: the hire that was counted under this key. Because of this row, no hire counts
   * twice. If the seller agreed to audits, the row also has the hashes that the seller signed first, whether the seller
   * signed other hashes too, and the first audited hire under this key.
   */
  hireKey: {
    id: "text",
    hire: "text?",
    paramsHash: "text?",
    resultHash: "text?",
    isEquivocal: "boolean",
    audited: "text?",
  },
  /** `<buyer>/<seller>`: the pair has a free hire. Each pair counts once. */
  freeHire: { id: "text", receipt: "text" },
  /**
   * An index of members, sorted by a number. Some rows are bitmaps of the numbers that have members. Each other row
   * says that one member has one number (see `orderIndex.ts`).
   */
  orderIndex: { id: "text", value: "text" },
  /** Ordered sets of numbers, for medians and percentiles: a list, or nodes of a tree (see `orderedSet.ts`). */
  orderedNode: { id: "text", counts: "text" },
  cluster: {
    id: "text",
    /**
     * `ownership` (funding origin, deploy batch) or `fingerprint` (similar listings). Clusters of different
     * kinds are never merged.
     */
    kind: "text",
    /** Its order of birth. In a merge the older id stays. */
    ordinal: "number",
    /** The next row on the way to the current root; its own id if it is the root. */
    parent: "text",
    /**
     * The older cluster into which it was merged, or null. It never changes, but `parent` is moved closer to
     * the root.
     */
    mergedInto: "text?",
    /** The number of members of the whole cluster if this is the root; otherwise the number at the merge. */
    size: "number",
    block: "number",
    time: "number",
    touched: "number?",
  },
  /**
   * Every time that a signal of shared ownership tripped, by number. Clusters are rebuilt from these rows
   * when a funder turns out to be a hub.
   */
  trip: {
    id: "text",
    funder: "text",
    signal: "text",
    members: "text",
    /** The id of the cluster that it starts if its members are in no cluster. */
    cluster: "text",
    dropped: "boolean",
  },
  /**
   * A list: its length and its last items, one per line. Its full pages are `<list>/<n>` (see `lists.ts`).
   */
  list: { id: "text", length: "number", tail: "text" },
  listPage: { id: "text", items: "text" },
  /**
   * Nodes of the digest's trees, by prefix of the key's hash. Before this prefix the ids of the tree of trust scores
   * have `s`, and those of the tree of identities `i`. A node has sixteen children, separated by commas.
   */
  digestNode: { id: "text", children: "text" },
  /** The digest at each tick, by zero-padded block. */
  digest: {
    id: "text",
    block: "number",
    time: "number",
    root: "text",
    stewardRoot: "text",
    /** For a log that names registries of ERC-8004. */
    identityRoot: "text?",
    paramsVersion: "number",
    digest: "text",
  },
} as const satisfies Record<string, Record<string, ColumnKind>>;

export type TableName = keyof typeof tables;

/** A row of table `T`. Every column is present; an empty one is null. */
export type Row<T extends TableName> = {
  -readonly [C in keyof (typeof tables)[T]]: (typeof tables)[T][C] extends ColumnKind
    ? ColumnValues[(typeof tables)[T][C]]
    : never;
};
