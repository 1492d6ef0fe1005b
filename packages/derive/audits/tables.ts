import type { ColumnKind } from "../columnKind.ts";

/** The rows of audits (see `../tables.ts`). */
export const auditTables = {
  /**
   * An audit of a hire, by the hire's id. It exists from the moment at which the hire may be drawn. By then the hire
   * was paid, and a listing of the seller agreed to audits. The seller wrote a receipt, or let the time for it pass
   * (see `audits/`).
   */
  audit: {
    id: "text",
    /** The id of the hire. The row has the same id, or `<hire>/history` for an audit by `audit_history`. */
    hire: "text",
    operator: "text",
    capability: "text?",
    verificationVersion: "text",
    seller: "text",
    buyer: "text",
    amount: "bigint",
    receipt: "text?",
    paramsHash: "text?",
    resultHash: "text?",
    /**
     * Whether the receipt has what an auditor needs (both hashes, and the hire's id), and the seller lists its
     * capability. Without this, a hire that is drawn fails as `undisclosed`.
     */
    isDisclosed: "boolean",
    /**
     * The rate at which it is drawn, and why there is an audit: `sample` (the common draw), `contested` (its buyer took
     * its money back after delivery), `rules` (its own receipts showed the fault before a draw) or `history` (by
     * `audit_history`).
     */
    ppm: "number",
    cause: "text",
    /** `eligible`, `assigning`, `assigned`, `rechecking`, `passed`, `failed`, `inconclusive` or `abandoned`. */
    status: "text",
    /** Why it failed by the rules alone: `undisclosed` or `equivocation`. */
    reason: "text?",
    round: "number",
    attempt: "number",
    /**
     * The verdict of each round, in order: `p` (pass) or `f` (fail); and the number of fails that its
     * operator gave itself.
     */
    verdicts: "text",
    operatorFails: "number",
    /** The time of the tick since which nobody could be assigned; null if somebody was. */
    unassignedSince: "number?",
    eligibleBlock: "number",
    eligibleTime: "number",
    drawnBlock: "number?",
    drawnTime: "number?",
    closedTime: "number?",
    /** In which mode it failed: `bootstrap` or `mature`. */
    mode: "text?",
    /**
     * What was decided about a hire that failed, `rollback` or `dismiss`, and the operator's record that says so. In a
     * mature capability the decision is always `rollback`, without a record.
     */
    decision: "text?",
    decisionRecord: "text?",
    /**
     * What auditors of a mature capability found later, once known: `passed`, `failed`, `inconclusive` or `abandoned`.
     */
    history: "text?",
    /**
     * Whether it counts in its buyer's `false_refunds`: the work was good, but the buyer took its money back.
     */
    isRefundFalse: "boolean",
    /** `good` or `bad`, once its operator revealed that it had arranged the hire. */
    canary: "text?",
    /** Whether it is in its seller's `audit_pass_rate`: `passed`, `rolledBack`, or null. */
    counted: "text?",
  },
  /**
   * A queue of what waits to be drawn, `<kind>/<operator>/<ppm>`. The items from `start` on wait. `block`: where its
   * last item joined. `before`: its length before that block; a tick in the same block draws only up to there.
   */
  auditQueue: {
    id: "text",
    start: "number",
    length: "number",
    before: "number",
    block: "number",
    /** The number of the tick that next looks at it, or did so last. */
    touched: "number",
    /** Its last items, one per line (see `../lists.ts`). Earlier ones are in pages. */
    tail: "text",
  },
  /** An auditor that was asked about a hire, and what the auditor found: `<hire>/<round>/<attempt>`. */
  auditAssignment: {
    id: "text",
    hire: "text",
    /** The row of `audit` that it belongs to. */
    audit: "text",
    round: "number",
    attempt: "number",
    operator: "text",
    auditor: "text",
    /**
     * `auditor` if it was drawn. `operator-issued` if the operator judged by `audit_judge`; then `models` has
     * the models that it used, one per line.
     */
    auditorType: "text",
    models: "text?",
    /** Why the auditors that were picked before it could not be assigned, in order, separated by commas. */
    passedOver: "text",
    /** The clusters of auditor, buyer and seller at that time, as JSON. */
    clusters: "text",
    /** Their families, as JSON. */
    families: "text",
    host: "text",
    verdict: "text?",
    /** The codes of its reasons, separated by commas. */
    reasons: "text?",
    record: "text?",
    /** What its auditor earned for it, atomic units. */
    fee: "bigint",
    block: "number",
    time: "number",
    verdictTime: "number?",
  },
  /** When an auditor was last asked about a buyer and a seller, `<auditor>/<buyer>/<seller>`. */
  auditPair: { id: "text", time: "number" },
  /** What an agent offers an operator to audit, `<operator>/<agent>`. */
  auditor: {
    id: "text",
    agent: "text",
    operator: "text",
    /** Comma-separated. */
    capabilities: "text",
    endpoint: "text",
    host: "text",
    isActive: "boolean",
    issuedAt: "number",
    time: "number",
    assigned: "number",
    answered: "number",
    /** The number of assignments in a row that it did not answer. */
    unanswered: "number",
    /**
     * `removedFor`: why it was removed, `unanswered`, `extortion` or `collusion`; null once it has offered itself
     * again. `barredUntil`: the time until which its offers do not count.
     */
    removedFor: "text?",
    barredUntil: "number?",
    /** How often it was removed for its verdicts. Earlier judgements no longer count. */
    epoch: "number",
    /**
     * `judged`: its verdicts on audits that passed or failed in the window, after at least two verdicts. `wrongFails`
     * and `wrongPasses`: how many of its fails, and of its passes, were overruled.
     */
    judged: "number",
    wrongFails: "number",
    wrongPasses: "number",
    /** What it earned and what its operator's pool paid it, atomic units. */
    accrued: "bigint",
    paid: "bigint",
  },
  /**
   * A roster, `<operator>/<capability>`: the auditors of Tier 2 for a capability of an operator, by place;
   * and the place of each.
   */
  roster: { id: "text", size: "number" },
  rosterPlace: { id: "text", auditor: "text" },
  rosterMember: { id: "text", place: "number?" },
  /** The state of the audits of a capability, `<operator>/<capability>`: `bootstrap` or `mature` (SHP §8.3.4). */
  auditMode: {
    id: "text",
    operator: "text",
    capability: "text",
    mode: "text",
    changes: "number",
    /** When an auditor was first assigned; null again after the operator took the capability back to bootstrap. */
    firstAssigned: "number?",
    /**
     * `verdicts`: how many verdicts were given within `matureShareSeconds`. `auditors`: how many auditors gave them.
     * `touched`: the tick that checks, after the latest verdict, whether the capability is mature.
     */
    verdicts: "number",
    auditors: "number",
    touched: "number?",
  },
  /** Every change of a capability's mode, `<operator>/<capability>/<n>`. */
  auditModeChange: {
    id: "text",
    operator: "text",
    capability: "text",
    from: "text",
    to: "text",
    /** The operator's reason for taking a capability back to bootstrap, and the record that has it. */
    justification: "text?",
    record: "text?",
    block: "number",
    time: "number",
  },
  /** How many of the `verdicts` of `auditMode` one auditor gave, `<operator>/<capability>/<auditor>`. */
  auditShare: { id: "text", verdicts: "number" },
  /**
   * Until when a cluster is drawn more often, `<seller or cluster>/<verification version>`. A seller's row is for the
   * clusters that it joins later.
   */
  elevation: { id: "text", until: "number" },
  /** When a refund after delivery was last drawn because it was contested, `<buyer>/<seller>`. */
  contestedPair: { id: "text", time: "number" },
  /** A list of hires that an operator committed to arrange, `<operator>/<commitment>`. */
  canaryList: {
    id: "text",
    operator: "text",
    commitment: "text",
    record: "text",
    block: "number",
    time: "number",
    /** When and in which record the operator revealed the hires, their number, and how many change no figure. */
    revealedTime: "number?",
    revealRecord: "text?",
    hires: "number",
    voids: "number",
  },
  /** An arranged hire, by the wallet that bought it. A wallet can be used only once. */
  canary: {
    id: "text",
    operator: "text",
    list: "text",
    hire: "text?",
    truth: "text",
    /**
     * `counted`, or why it measures nothing: `busy` (its wallet bought more), `unknown` (no such hire), `unsigned` (its
     * buyer did not confirm the id), `late` (not paid after the commitment), `foreign` (another operator's audit, or
     * none), `contradicted` (two auditors say the opposite) or `undrawn` (no verdict).
     */
    status: "text",
    time: "number",
  },
  /** How an auditor judged arranged hires of a capability, `<operator>/<auditor>/<capability>`. */
  auditorError: {
    id: "text",
    operator: "text",
    auditor: "text",
    capability: "text",
    /**
     * Verdicts on good work and how many of them passed it; verdicts on bad work and how many of them failed
     * it.
     */
    good: "number",
    goodPassed: "number",
    bad: "number",
    badFailed: "number",
  },
  /** An operator's own figures. They are of all time, unless a column says something else. */
  auditOperator: {
    id: "text",
    /** Audits that were drawn, and how many of them were drawn because of a refund after delivery. */
    drawn: "number",
    contested: "number",
    passed: "number",
    failed: "number",
    inconclusive: "number",
    /** Failed by the rules alone. */
    undisclosed: "number",
    equivocal: "number",
    /** Audits for which nobody could be assigned at the last tick. */
    unassigned: "number",
    /** Assignments that ended without a verdict. */
    unanswered: "number",
    /**
     * Open audits that ended because the operator left the parameters: unassigned, assigned, or waiting to be judged
     * again.
     */
    abandonedUnassigned: "number",
    abandonedAssigned: "number",
    abandonedRechecking: "number",
    /** Verdicts that it gave itself. */
    issued: "number",
    /**
     * Its decisions. Auditors of the mature capability judged some of these hires again. The last two count how often
     * they agreed with the operator, and how often they did not.
     */
    rolledBack: "number",
    dismissed: "number",
    historyAgreed: "number",
    historyDiffered: "number",
    /** Lists of arranged hires that it committed to, and revealed. */
    canariesCommitted: "number",
    canariesRevealed: "number",
    /**
     * Atomic units. `owed` is the sum of its debts to each auditor. A payment above one debt does not reduce
     * another.
     */
    accrued: "bigint",
    paid: "bigint",
    owed: "bigint",
  },
  /**
   * The fees that an operator owed newly, and those that it paid, in a period of 30 days, `<operator>/<n>`. The period
   * begins at n × 2,592,000 seconds.
   * `owed` is the debt after the last change in that period.
   */
  auditPeriod: {
    id: "text",
    operator: "text",
    from: "number",
    accrued: "bigint",
    paid: "bigint",
    owed: "bigint",
  },
} as const satisfies Record<string, Record<string, ColumnKind>>;
