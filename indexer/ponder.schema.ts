import { index, onchainTable, type PgColumnsBuilders } from "ponder";
import { auditStatus, countedSeller } from "./src/auditStatus.ts";
import { deriveTable } from "./src/deriveTable.ts";
import { publishedFigures } from "./src/publishedFigures.ts";

// The tables of the derivation. `packages/derive/tables.ts` says what the columns mean. If a table is missing
// here, the type check in src/ponderRows.ts fails. The indexes are for the API. Handlers use primary keys
// only.

export const state = deriveTable("state");
export const wallet = deriveTable("wallet");
export const inflow = deriveTable("inflow");
export const transferCount = deriveTable("transferCount");
export const agent = deriveTable("agent", (table) => ({
  byRegistration: index().on(table.registeredBlock, table.registeredLog, table.id),
  byOwnership: index().on(table.ownershipCluster, table.registeredBlock, table.registeredLog, table.id),
  byFingerprint: index().on(table.fingerprintCluster, table.registeredBlock, table.registeredLog, table.id),
  byRank: index().on(table.rank, table.id),
  bySuccessRate: index("agent_success_rate_index").on(publishedFigures.successRate(table), table.id),
  byHires: index("agent_hires_index").on(publishedFigures.hires(table), table.id),
  byVolume: index("agent_volume_index").on(publishedFigures.volume(table), table.id),
  byStars: index("agent_stars_index").on(publishedFigures.stars(table), table.id),
  byFamilies: index("agent_families_index").on(publishedFigures.families(table), table.id),
  byKept: index("agent_kept_index").on(publishedFigures.kept(table), table.id),
  byCoverage: index("agent_coverage_index").on(publishedFigures.coverage(table), table.id),
}));
export const tierChange = deriveTable("tierChange", (table) => ({
  byAgent: index().on(table.agent, table.block, table.id),
  byBlock: index().on(table.block, table.id),
}));
export const capability = deriveTable("capability", (table) => ({
  byAgent: index().on(table.agent, table.capability),
}));
export const capabilityPlace = deriveTable("capabilityPlace");
export const purchases = deriveTable("purchases");
export const declaration = deriveTable("declaration");
export const familyMember = deriveTable("familyMember", (table) => ({
  byFamily: index().on(table.family, table.actedBlock, table.actedLog, table.id),
}));
export const registeredMember = deriveTable("registeredMember");
export const brought = deriveTable("brought");
export const family = deriveTable("family");
export const familyPurchases = deriveTable("familyPurchases");
export const buyerFamily = deriveTable("buyerFamily", (table) => ({
  bySeller: index().on(table.seller, table.id),
  byFamily: index().on(table.family, table.id),
}));
export const flow = deriveTable("flow");
export const unreceipted = deriveTable("unreceipted", (table) => ({
  bySeller: index().on(table.seller, table.block, table.id),
}));
export const listing = deriveTable("listing", (table) => ({
  byAgent: index().on(table.agent, table.id),
  byRank: index().on(table.capability, table.live, table.rank, table.price, table.id),
  byPrice: index().on(table.capability, table.live, table.price, table.id),
  byRankOfAll: index().on(table.live, table.rank, table.price, table.id),
  byBlock: index().on(table.live, table.block, table.log, table.seq, table.id),
}));
export const offer = deriveTable("offer");
export const seenListing = deriveTable("seenListing");
export const seenClaim = deriveTable("seenClaim");
export const payee = deriveTable("payee");
export const payment = deriveTable("payment", (table) => ({ byLog: index().on(table.block, table.log) }));
export const escrow = deriveTable("escrow", (table) => ({
  byDeposit: index().on(table.depositedBlock, table.id),
  bySeller: index().on(table.seller, table.depositedBlock, table.id),
  byBuyer: index().on(table.buyer, table.depositedBlock, table.id),
  byStatus: index().on(table.status, table.depositedBlock, table.id),
}));
export const boundLedger = deriveTable("boundLedger");
export const record = deriveTable("record", (table) => ({
  byHash: index().on(table.hash),
  byType: index().on(table.type, table.block, table.log, table.seq),
  byLedger: index().on(table.ledger, table.type, table.seq),
}));
export const receipt = deriveTable("receipt", (table) => ({
  byAgent: index().on(table.agent, table.time, table.id),
}));
export const hire = deriveTable("hire", (table) => ({
  byTime: index().on(table.time, table.id),
  bySeller: index().on(table.seller, table.time, table.id),
  byBuyer: index().on(table.buyer, table.time, table.id),
  byCapability: index().on(table.capability, table.time, table.id),
}));
export const hireKey = deriveTable("hireKey");
export const freeHire = deriveTable("freeHire");
export const orderIndex = deriveTable("orderIndex");
export const orderedNode = deriveTable("orderedNode");
export const fingerprint = deriveTable("fingerprint");
export const fingerprintMember = deriveTable("fingerprintMember");
export const trip = deriveTable("trip");
export const buyerGroup = deriveTable("buyerGroup");
export const rating = deriveTable("rating", (table) => ({
  byRatee: index().on(table.ratee, table.time, table.id),
}));
export const starDay = deriveTable("starDay");
export const telemetry = deriveTable("telemetry");
export const claim = deriveTable("claim");
export const audit = deriveTable("audit", (table) => ({
  byDraw: index().on(table.drawnBlock, table.id),
  byEligibility: index().on(table.eligibleBlock, table.id),
  bySeller: index().on(table.seller, table.eligibleBlock, table.id),
  byStatus: index("audit_status_index").on(auditStatus(table), table.eligibleBlock, table.id),
  // A seller has a row for each hire that may be audited. Few of these hires are under audit, and this index finds
  // them directly.
  bySellerStatus: index("audit_seller_status_index").on(
    table.seller,
    auditStatus(table),
    table.eligibleBlock,
    table.id,
  ),
  byCounted: index("audit_counted_index").on(countedSeller(table), table.eligibleBlock, table.id),
}));
export const auditQueue = deriveTable("auditQueue");
export const auditAssignment = deriveTable("auditAssignment", (table) => ({
  byAuditor: index().on(table.auditor, table.block, table.id),
  byBlock: index().on(table.block, table.id),
  byHire: index().on(table.hire, table.round, table.attempt),
}));
export const auditPair = deriveTable("auditPair");
export const auditor = deriveTable("auditor", (table) => ({
  byAgent: index().on(table.agent, table.id),
  byOperator: index().on(table.operator, table.id),
}));
export const roster = deriveTable("roster");
export const rosterPlace = deriveTable("rosterPlace");
export const rosterMember = deriveTable("rosterMember");
export const auditMode = deriveTable("auditMode", (table) => ({
  byOperator: index().on(table.operator, table.id),
}));
export const auditModeChange = deriveTable("auditModeChange", (table) => ({
  byBlock: index().on(table.block, table.id),
}));
export const auditShare = deriveTable("auditShare");
export const auditOperator = deriveTable("auditOperator");
export const auditPeriod = deriveTable("auditPeriod", (table) => ({
  byOperator: index().on(table.operator, table.from),
}));
export const auditorError = deriveTable("auditorError", (table) => ({
  byAuditor: index().on(table.auditor, table.id),
}));
export const elevation = deriveTable("elevation");
export const contestedPair = deriveTable("contestedPair");
export const canaryList = deriveTable("canaryList", (table) => ({
  byOperator: index().on(table.operator, table.block, table.id),
}));
export const canary = deriveTable("canary");
export const steward = deriveTable("steward", (table) => ({
  byAlias: index().on(table.alias),
  byScore: index().on(table.score, table.id),
}));
export const attestation = deriveTable("attestation", (table) => ({
  byAgent: index().on(table.agent, table.ranAt, table.id),
}));
export const stewardSlot = deriveTable("stewardSlot");
export const endorsement = deriveTable("endorsement", (table) => ({
  byAgent: index().on(table.agent, table.time, table.id),
}));
export const probedHost = deriveTable("probedHost");
export const probedHour = deriveTable("probedHour");
export const hardHire = deriveTable("hardHire");
export const clientError = deriveTable("clientError");
export const sla = deriveTable("sla");
export const guarantee = deriveTable("guarantee", (table) => ({ byAgent: index().on(table.agent) }));
export const slaDay = deriveTable("slaDay");
export const slaFamily = deriveTable("slaFamily");
export const breach = deriveTable("breach", (table) => ({
  byAgent: index().on(table.agent, table.detectedTime, table.id),
  byStatus: index().on(table.status, table.decidedBy),
}));
export const breachStep = deriveTable("breachStep", (table) => ({
  byBlock: index().on(table.block, table.id),
}));
export const slaClaim = deriveTable("slaClaim", (table) => ({
  byBreach: index().on(table.breach, table.id),
  byBuyer: index().on(table.buyer, table.id),
}));
export const slaMonitoring = deriveTable("slaMonitoring", (table) => ({
  byAgent: index().on(table.agent, table.id),
}));
export const slaPayment = deriveTable("slaPayment");
export const settlementTrust = deriveTable("settlementTrust", (table) => ({
  byTrust: index().on(table.trust, table.id),
}));
export const outcomesTold = deriveTable("outcomesTold");
export const registry = deriveTable("registry");
export const identity = deriveTable("identity");
export const identityLink = deriveTable("identityLink", (table) => ({
  byWallet: index().on(table.wallet, table.fromBlock, table.fromLog, table.id),
  byEnd: index().on(table.wallet, table.untilBlock),
  byIdentity: index().on(table.identity, table.fromBlock, table.fromLog, table.id),
}));
export const identityParty = deriveTable("identityParty");
export const feedback = deriveTable("feedback", (table) => ({
  byIdentity: index().on(table.identity, table.block, table.log, table.id),
  byLink: index().on(table.link, table.block, table.log, table.id),
}));
export const feedbackResponse = deriveTable("feedbackResponse", (table) => ({
  byFeedback: index().on(table.feedback, table.block, table.log, table.id),
}));
export const feedbackPair = deriveTable("feedbackPair");
export const backing = deriveTable("backing");
export const cluster = deriveTable("cluster", (table) => ({
  byOrdinal: index().on(table.ordinal),
  byMerge: index().on(table.mergedInto),
  bySize: index().on(table.size, table.ordinal, table.id),
}));
export const list = deriveTable("list");
export const listPage = deriveTable("listPage");
export const digestNode = deriveTable("digestNode");
export const digest = deriveTable("digest");

// Additional tables of the handlers.

/**
 * The events of the derivation, in the order of `position`. This is the log that `tallystick export` writes,
 * without the transfers that became payments. Most events are such transfers, and `payment` has everything
 * about them.
 */
export const eventLog = onchainTable("event_log", (p) => ({
  position: p.text().primaryKey(),
  json: p.text().notNull(),
}));

/** The number in the log of every tick and of every 256th line, by its position (see src/logLines.ts). */
export const logLine = onchainTable(
  "log_line",
  (p) => ({ id: p.text().primaryKey(), line: p.int8({ mode: "number" }).notNull() }),
  (table) => ({ byLine: index().on(table.line) }),
);

/** One row, `last`: how many lines the log has, and the block of the last one. */
export const logLength = onchainTable("log_length", (p) => ({
  id: p.text().primaryKey(),
  lines: p.int8({ mode: "number" }).notNull(),
  block: p.int8({ mode: "number" }).notNull(),
}));

/** One row: the token whose transfers are read, and from which block on. */
export const token = onchainTable("token", (p) => ({
  id: p.text().primaryKey(),
  firstBlock: p.int8({ mode: "number" }).notNull(),
}));

/**
 * One row, `last`, if only relevant transfers are read: the last place of the chain up to which they are
 * applied.
 */
export const transfersRead = onchainTable("transfers_read", (p) => ({
  id: p.text().primaryKey(),
  block: p.int8({ mode: "number" }).notNull(),
  log: p.int8({ mode: "number" }).notNull(),
}));

/**
 * The events for live followers of the node, in the order of `position`: the table and the row of each (see
 * src/timeline.ts). While the block `blockHash` is on the chain, all events up to this one stand.
 */
export const timeline = onchainTable("timeline", (p) => ({
  position: p.text().primaryKey(),
  blockHash: p.text().notNull(),
  kind: p.text().notNull(),
  subject: p.text().notNull(),
  agent: p.text().notNull(),
  counterpart: p.text(),
}));

// Summaries of hires for insights. They are not part of the derivation (see src/insights.ts).

const tally = (p: PgColumnsBuilders) => ({
  hires: p.int8({ mode: "number" }).notNull(),
  weight: p.int8({ mode: "number" }).notNull(),
  successes: p.int8({ mode: "number" }).notNull(),
  failures: p.int8({ mode: "number" }).notNull(),
  refunds: p.int8({ mode: "number" }).notNull(),
  disputes: p.int8({ mode: "number" }).notNull(),
  successWeight: p.int8({ mode: "number" }).notNull(),
  ratedWeight: p.int8({ mode: "number" }).notNull(),
  volume: p.bigint().notNull(),
  latencies: p.int8({ mode: "number" }).notNull(),
  latencySum: p.bigint().notNull(),
});

export const agentDay = onchainTable(
  "agent_day",
  (p) => ({
    id: p.text().primaryKey(),
    agent: p.text().notNull(),
    day: p.int8({ mode: "number" }).notNull(),
    ...tally(p),
  }),
  (table) => ({ byDay: index().on(table.agent, table.day) }),
);
export const capabilityDay = onchainTable(
  "capability_day",
  (p) => ({
    id: p.text().primaryKey(),
    capability: p.text().notNull(),
    day: p.int8({ mode: "number" }).notNull(),
    ...tally(p),
  }),
  (table) => ({ byDay: index().on(table.capability, table.day) }),
);
/** Sums over the window: an agent's hires in one capability. */
export const capabilityAgent = onchainTable(
  "capability_agent",
  (p) => ({
    id: p.text().primaryKey(),
    capability: p.text().notNull(),
    agent: p.text().notNull(),
    ...tally(p),
  }),
  (table) => ({ byWeight: index().on(table.capability, table.weight, table.id) }),
);
/**
 * A capability: its hires in the window, and its present offers, which are copied from `offer` so that one
 * list has both.
 */
export const capabilityTotal = onchainTable(
  "capability_total",
  (p) => ({
    id: p.text().primaryKey(),
    capability: p.text().notNull(),
    ...tally(p),
    listings: p.int8({ mode: "number" }).notNull(),
    sellers: p.int8({ mode: "number" }).notNull(),
    lowestPrice: p.bigint(),
    medianPrice: p.bigint(),
  }),
  (table) => ({
    byWeight: index().on(table.weight, table.id),
    byListings: index().on(table.listings, table.id),
  }),
);
/** All hires of a day, by the number of the day. */
export const marketDay = onchainTable(
  "market_day",
  (p) => ({ id: p.text().primaryKey(), day: p.int8({ mode: "number" }).notNull(), ...tally(p) }),
  (table) => ({ byDay: index().on(table.day) }),
);
/** All hires: those in the `window`, and those of `all` time. */
export const marketTotal = onchainTable("market_total", (p) => ({ id: p.text().primaryKey(), ...tally(p) }));
/** All hires between two agents, `<seller>/<buyer>`. */
export const agentPair = onchainTable(
  "agent_pair",
  (p) => ({ id: p.text().primaryKey(), seller: p.text().notNull(), buyer: p.text().notNull(), ...tally(p) }),
  (table) => ({
    bySeller: index().on(table.seller, table.hires, table.id),
    byBuyer: index().on(table.buyer, table.hires, table.id),
  }),
);
/** One row, `market`: the counts of the market (see src/marketCounts.ts). */
export const marketCount = onchainTable("market_count", (p) => {
  const count = () => p.int8({ mode: "number" }).notNull();
  return {
    id: p.text().primaryKey(),
    agents: count(),
    sellers: count(),
    tier1Agents: count(),
    tier2Agents: count(),
    clusteredAgents: count(),
    clusters: count(),
    listings: count(),
    capabilities: count(),
    ratings: count(),
    escrowsHeld: count(),
    heldAmount: p.bigint().notNull(),
  };
});

/**
 * The steps of an escrow on the chain, `<escrowId>/<kind>`, with their transactions. The derivation itself
 * needs only the transaction of the deposit.
 */
export const escrowStep = onchainTable("escrow_step", (p) => ({
  id: p.text().primaryKey(),
  /** `deposited`, `delivered`, `released`, `refunded` or `timed_out`. */
  kind: p.text().notNull(),
  block: p.int8({ mode: "number" }).notNull(),
  time: p.int8({ mode: "number" }).notNull(),
  log: p.int8({ mode: "number" }).notNull(),
  tx: p.text().notNull(),
}));

/** One row, `last`: the latest AuthorizationUsed, for the Transfer that follows it. */
export const authorization = onchainTable("authorization", (p) => ({
  id: p.text().primaryKey(),
  block: p.int8({ mode: "number" }).notNull(),
  log: p.int8({ mode: "number" }).notNull(),
  tx: p.text().notNull(),
  authorizer: p.text().notNull(),
}));

/** Every ledger opened in the AnchoredLedger contract, followed or not. */
export const openedLedger = onchainTable("opened_ledger", (p) => ({
  id: p.text().primaryKey(),
  /** Its present writer. */
  writer: p.text().notNull(),
  /** Its first writer. The id follows from the first writer, the guardian and the origin. */
  firstWriter: p.text().notNull(),
  guardian: p.text().notNull(),
  origin: p.text().notNull(),
  block: p.int8({ mode: "number" }).notNull(),
  time: p.int8({ mode: "number" }).notNull(),
}));

/** Every anchor of every ledger, `<ledger>/<seq>`. A stranger may anchor any size below 2^64, so these are bigints. */
export const anchor = onchainTable(
  "anchor",
  (p) => ({
    id: p.text().primaryKey(),
    ledger: p.text().notNull(),
    seq: p.bigint().notNull(),
    oldSize: p.bigint().notNull(),
    newSize: p.bigint().notNull(),
    root: p.text().notNull(),
    block: p.int8({ mode: "number" }).notNull(),
    time: p.int8({ mode: "number" }).notNull(),
    log: p.int8({ mode: "number" }).notNull(),
    tx: p.text().notNull(),
  }),
  (table) => ({
    byLedger: index().on(table.ledger, table.seq),
    byBlock: index().on(table.block, table.log, table.id),
  }),
);

/** Ledgers with a proof that their writer signed two histories. Nothing more of them is loaded. */
export const equivocation = onchainTable("equivocation", (p) => ({
  id: p.text().primaryKey(),
  size: p.bigint().notNull(),
  /** The root of the shorter statement at that size, and the root of the longer one there. */
  root: p.text().notNull(),
  ownRoot: p.text().notNull(),
  block: p.int8({ mode: "number" }).notNull(),
  time: p.int8({ mode: "number" }).notNull(),
}));

/**
 * The loaded part of each followed ledger. It is enough to check the next segment without reading an older
 * one.
 */
export const ledger = onchainTable("ledger", (p) => ({
  id: p.text().primaryKey(),
  size: p.int8({ mode: "number" }).notNull(),
  /** The Merkle root of that size, and its complete subtrees, the largest first, separated by commas. */
  root: p.text().notNull(),
  frontier: p.text().notNull(),
  /** Hash of the last entry. */
  head: p.text().notNull(),
  /** Length of the canonical lines so far: where the next one begins in `ledger.jsonl`. */
  bytes: p.int8({ mode: "number" }).notNull(),
  block: p.int8({ mode: "number" }).notNull(),
  time: p.int8({ mode: "number" }).notNull(),
}));

/**
 * The loaded entries that are not records, `<ledger>/<seq>`. Records are in `record` under the same kind of
 * id.
 */
export const genericEntry = onchainTable(
  "generic_entry",
  (p) => ({
    id: p.text().primaryKey(),
    ledger: p.text().notNull(),
    seq: p.int8({ mode: "number" }).notNull(),
    hash: p.text().notNull(),
    type: p.text(),
  }),
  (table) => ({
    byHash: index().on(table.hash),
    byLedger: index().on(table.ledger, table.type, table.seq),
  }),
);

/** Nodes of the followed ledgers' Merkle trees, `<ledger>/<height>/<page>`: enough of them to prove any entry (see
 * `src/segments/storedTree.ts`). */
export const treePage = onchainTable("tree_page", (p) => ({
  id: p.text().primaryKey(),
  /** Up to 16 hashes in hex, without separators. */
  hashes: p.text().notNull(),
}));
