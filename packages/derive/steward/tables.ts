import type { ColumnKind } from "../columnKind.ts";

/** The rows of the trust score (see `../tables.ts`). Shares are whole numbers of 10⁻⁹. */
export const stewardTables = {
  /** One of each agent that sold something, or of which a record of the trust score told; updated in place every hour. */
  steward: {
    id: "text",
    /** Hires as a seller by UTC day, `day:ok:failed;…`, sums of weights. */
    outcomes: "text",
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

    /** Its latest attestation, by entry hash, and whose word it is: `self` or `attested`. */
    attestation: "text?",
    attestedBy: "text?",
    alias: "text?",
    version: "text?",
    commit: "text?",
    ciUrl: "text?",
    coverageTool: "text?",
    ranAt: "number?",
    /** Of the worst run; 0 of 0 where the attestation counts for nothing. */
    testsPassing: "number",
    testsTotal: "number",

    /** The endorsements of it that hold, oldest first: `endorser capability time`, `*` for none, a line each. */
    endorsedBy: "text",

    /** As of the last hour: null before the first. */
    computedBlock: "number?",
    computedTime: "number?",
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
    /** Endorsements that do not count and why, `endorser capability reason`, a line each. */
    leftOut: "text",
    /** Success and uptime where every day counts e^(−0.1) times what the next does; null without data. */
    decayedSuccess: "number?",
    decayedUptime: "number?",
  },
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
  /** A host and what probers reported of it lately, `hour prober looked down wasUp`, a line each. */
  probedHost: { id: "text", reports: "text" },
  /**
   * Of hosts that were up before, by slot: at how many a prober looked and how many it found down, `<prober>/<hour>`. Where more than half
   * of 20 or more are down at once, it is the prober that is away.
   */
  probedHour: { id: "text", looked: "text", down: "text" },
  /** Hires whose own buyer said that its request was at fault. */
  clientError: { id: "text" },
} as const satisfies Record<string, Record<string, ColumnKind>>;
