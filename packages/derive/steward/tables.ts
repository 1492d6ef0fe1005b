import type { ColumnKind } from "../columnKind.ts";

/** The rows of the trust score (see `../tables.ts`). Shares are whole numbers of 10⁻⁹. */
export const stewardTables = {
  /**
   * One row for each agent that sold something or that a record of the trust score names. It is updated every
   * hour.
   */
  steward: {
    id: "text",
    /** Hires as a seller by UTC day, `day:ok:failed;…`, sums of weights. */
    outcomes: "text",
    /**
     * The extra weights of hires whose capability has a published difficulty, in the same form: their weight
     * × (difficulty − 1).
     */
    hardSales: "text",
    /** Hires as a seller that were ever counted. */
    sales: "number",

    /** The hosts that serve it, as probers found: one line `host prober from to` each. `from` and `to` are hours. */
    served: "text",
    /** Its slots by UTC day, in cells of eight characters (see `slotDays.ts`). */
    slots: "text",
    /** Its unfinished run of down slots. */
    run: "text",
    /** Its own claims about its hosts for hours that are not processed yet, one line `hour host up` each. */
    claims: "text",
    /** The last hour whose slots are processed. */
    mergedHour: "number?",

    /** Its latest attestation, by entry hash; what it says is copied from there. */
    attestation: "text?",
    alias: "text?",
    ranAt: "number?",
    testsPassing: "number",
    testsTotal: "number",

    /**
     * The endorsements of it that hold, oldest first: one line `endorser capability time` each, with `*` for no
     * capability.
     */
    endorsedBy: "text",

    /**
     * This column, the following ones and `slots` are as of the last computation. Before the first one this is null.
     */
    computedBlock: "number?",
    computedTime: "number?",
    /** The attestation that the score used. */
    scoredAttestation: "text?",
    /** The algorithm's score, and the score after the costs of denied downtime and of SLA breaches. */
    algorithmScore: "number",
    score: "number",
    /** 0 to 3 (see `stewardTier.ts`). */
    tier: "number",
    testCoverage: "number",
    uptime: "number",
    successRate: "number",
    endorsements: "number",
    freshness: "number",
    /** Its score without endorsements, which is the worth of its endorsement of another agent. */
    ownTrust: "number",
    /** Weights of its successes and failures in 30 days. */
    succeeded: "text",
    failed: "text",
    /** The slots of 7, 30 and 90 days, `data:down:raw` each, and the denied slots of 30 days. */
    slotSums: "text",
    denied: "number",
    endorsementCount: "number",
    uniqueEndorsers: "number",
    endorserTrust: "number",
    /**
     * The endorsements that count, one line `endorser capability party trust` each. `party` is the first endorser in
     * these lines that is one buyer with the endorser.
     */
    counted: "text",
    /** The endorsements that do not count, with the reason, one line `endorser capability reason` each. */
    leftOut: "text",
    /**
     * The factor that remains of the score after breaches of its SLA; and its guarantees, one line `guarantee
     * current status days` each.
     */
    slaLeft: "text",
    guarantees: "text",
    /**
     * The success rate and uptime in which each day weighs `starDecay` times as much as the next one; null
     * without data.
     */
    decayedSuccess: "number?",
    decayedUptime: "number?",
    /**
     * The success rate in which each hire weighs as much as its capability is difficult; null without data.
     */
    difficultySuccess: "number?",
  },
  /** An attestation of an agent's tests, by entry hash. */
  attestation: {
    id: "text",
    agent: "text",
    /** Who signed it: the agent (`self`) or somebody else (`attested`). */
    kind: "text",
    signer: "text",
    alias: "text?",
    version: "text",
    commit: "text",
    ciUrl: "text?",
    coverageTool: "text?",
    ranAt: "number",
    /** The tests of the worst run; 0 of 0 if it does not count. */
    testsPassing: "number",
    testsTotal: "number",
    /** Its runs as JSON. */
    runs: "text",
    block: "number",
    time: "number",
  },
  /**
   * The agents are computed in slots of the hour. For each slot: the number of its agents' scores, and the root over
   * their leaves, as of the last computation.
   */
  stewardSlot: { id: "text", agents: "number", root: "text", block: "number", time: "number" },
  /** An agent's latest endorsement of another, `<endorser>/<agent>/<capability or *>`. */
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
   * A host with its recent reports, one line `hour prober looked down wasUp` each. It also has the last hour in which
   * each prober found that it serves a seller, one line `prober hour` each.
   */
  probedHost: { id: "text", reports: "text", sellers: "text" },
  /**
   * For each `<prober>/<hour>` and slot: the number of sellers' hosts that the prober checked and that were up
   * before, and how many of them it found down. If more than half of at least 20 are down at once, the prober
   * itself is cut off.
   */
  probedHour: { id: "text", looked: "text", down: "text" },
  /**
   * Hires with another weight than 1, by the difficulty of their capability when they were counted. The value
   * is the difficulty − 1.
   */
  hardHire: { id: "text", extra: "text" },
  /** Hires whose own buyer said that its request was at fault. */
  clientError: { id: "text" },
} as const satisfies Record<string, Record<string, ColumnKind>>;
