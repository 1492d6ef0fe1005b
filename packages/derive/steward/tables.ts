import type { ColumnKind } from "../columnKind.ts";

/** The rows of the trust score (see `../tables.ts`). Shares are whole numbers of 10⁻⁹. */
export const stewardTables = {
  /** One of each agent that sold something, or of which a record of the trust score told; updated in place every hour. */
  steward: {
    id: "text",
    /** Hires as a seller by UTC day, `day:ok:failed;…`, sums of weights. */
    outcomes: "text",
    /** What hires of capabilities with a published difficulty weigh beside that, in the same form: their weight × (difficulty − 1). */
    hardSales: "text",
    /** Hires as a seller that were ever counted. */
    sales: "number",

    /** Which prober found which host to serve it, `host prober from to`, hours, a line each. */
    served: "text",
    /** Slots by UTC day, in cells of eight characters, and the run of down slots it is in (see `slotDays.ts`). */
    slots: "text",
    run: "text",
    /** What it said itself of its hosts, `hour host up`, a line each, of hours that are not taken yet. */
    claims: "text",
    /** The last hour whose slots are taken. */
    mergedHour: "number?",

    /** Its latest attestation, by entry hash; what it says is copied from there. */
    attestation: "text?",
    alias: "text?",
    ranAt: "number?",
    testsPassing: "number",
    testsTotal: "number",

    /** The endorsements of it that hold, oldest first: `endorser capability time`, `*` for none, a line each. */
    endorsedBy: "text",

    /** From here on as of the last hour, as are `slots`: null before the first. */
    computedBlock: "number?",
    computedTime: "number?",
    /** The attestation that counted. */
    scoredAttestation: "text?",
    /** The algorithm's score, and what is left of it after what it denied and after breaches of its SLA. */
    algorithmScore: "number",
    score: "number",
    /** 0 to 3 (see `stewardTier.ts`). */
    tier: "number",
    testCoverage: "number",
    uptime: "number",
    successRate: "number",
    endorsements: "number",
    freshness: "number",
    /** Its score without endorsements: what its word for another is worth. */
    ownTrust: "number",
    /** Weights of its successes and failures in 30 days. */
    succeeded: "text",
    failed: "text",
    /** Slots of 7, 30 and 90 days, `data:down:raw` each; and those of 30 days that it denied. */
    slotSums: "text",
    denied: "number",
    endorsementCount: "number",
    uniqueEndorsers: "number",
    endorserTrust: "number",
    /** Endorsements that count, `endorser capability party trust`, a line each. */
    counted: "text",
    /** Endorsements that do not count and why, `endorser capability reason`, a line each. */
    leftOut: "text",
    /** What breaches of its SLA leave of a score of 1; and what its guarantees came to, `guarantee current status days`, a line each. */
    slaLeft: "text",
    guarantees: "text",
    /** Success and uptime where every day counts e^(−0.1) times what the next does; null without data. */
    decayedSuccess: "number?",
    decayedUptime: "number?",
    /** Its success where each hire weighs as much as its capability is difficult; null without data. */
    difficultySuccess: "number?",
  },
  /** A word for an agent's tests, by entry hash. */
  attestation: {
    id: "text",
    agent: "text",
    /** Whose word it is: `self` or `attested`. */
    kind: "text",
    signer: "text",
    alias: "text?",
    version: "text",
    commit: "text",
    ciUrl: "text?",
    coverageTool: "text?",
    ranAt: "number",
    /** Of the worst run; 0 of 0 where it counts for nothing. */
    testsPassing: "number",
    testsTotal: "number",
    /** Its runs as JSON. */
    runs: "text",
    block: "number",
    time: "number",
  },
  /** The scores of one slot of the hour, as of when it was computed last: how many they are, and the root over their leaves. */
  stewardSlot: { id: "text", agents: "number", root: "text", block: "number", time: "number" },
  /** What an agent said last of another, `<endorser>/<agent>/<capability or *>`. */
  endorsement: {
    id: "text",
    endorser: "text",
    agent: "text",
    capability: "text?",
    statement: "text?",
    isRevoked: "boolean",
    issuedAt: "number",
    record: "text",
    time: "number",
  },
  /**
   * A host and what probers reported of it lately, `hour prober looked down wasUp`, a line each; and when a prober last found that it stands for
   * an agent that sold something, `prober hour`.
   */
  probedHost: { id: "text", reports: "text", sellers: "text" },
  /**
   * Of hosts of sellers that were up before, by slot: at how many a prober looked and how many it found down, `<prober>/<hour>`. Where more than half
   * of 20 or more are down at once, it is the prober that is away.
   */
  probedHour: { id: "text", looked: "text", down: "text" },
  /** Hires that weigh more or less than others, for their capability's difficulty when they were counted: that − 1. */
  hardHire: { id: "text", extra: "text" },
  /** Hires whose own buyer said that its request was at fault. */
  clientError: { id: "text" },
} as const satisfies Record<string, Record<string, ColumnKind>>;
