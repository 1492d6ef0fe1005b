import type { ColumnKind } from "../columnKind.ts";

/** The rows of audits (see `../tables.ts`). */
export const auditTables = {
  /**
   * An audit of a hire, by the hire's id, once it may be drawn: it was paid and has a receipt, or its seller kept silent,
   * and a listing agreed to audits (see `audits/`).
   */
  audit: {
    id: "text",
    /** The hire: its own id. An audit by `audit_history` is `<hire>/history`. */
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
    /** Whether its seller said what was asked for and delivered, under a capability that it lists. */
    isDisclosed: "boolean",
    /**
     * The rate at which it is drawn, and why it was drawn: `sample`; `contested`, when its buyer had taken its money back
     * after delivery; `rules`, for what its own receipts show; `history`, by `audit_history`.
     */
    ppm: "number",
    cause: "text",
    /** `eligible`, `assigning`, `assigned`, `rechecking`, `passed`, `failed`, `inconclusive` or `abandoned`. */
    status: "text",
    /** Why it failed by the rules alone: `undisclosed` or `equivocation`. */
    reason: "text?",
    round: "number",
    attempt: "number",
    /** The verdict of each round, in order: `p` or `f`; and how many of the fails are its operator's own. */
    verdicts: "text",
    operatorFails: "number",
    /** Since which tick nobody could be assigned, if that is so. */
    unassignedSince: "number?",
    eligibleBlock: "number",
    eligibleTime: "number",
    drawnBlock: "number?",
    drawnTime: "number?",
    closedTime: "number?",
    /** In which mode it failed: `bootstrap` or `mature`. */
    mode: "text?",
    /**
     * What happened to a hire that failed: `rollback` or `dismiss`, and which record of its operator says so; none when it
     * was mature.
     */
    decision: "text?",
    decisionRecord: "text?",
    /** What auditors of a mature capability found later, once known: `passed`, `failed`, `inconclusive` or `abandoned`. */
    history: "text?",
    /**
     * Whether it is among its buyer's `false_refunds`: the work was good, and the buyer kept it and took its money back.
     */
    isRefundFalse: "boolean",
    /** `good` or `bad`, once its operator revealed that it had arranged the hire. */
    canary: "text?",
    /** Whether it is in its seller's `audit_pass_rate`: `passed`, `rolledBack`, or null. */
    counted: "text?",
  },
  /** What waits to be drawn, `<kind>/<operator>/<ppm>`: from `start` on. `before` is its length before `block`. */
  auditQueue: {
    id: "text",
    start: "number",
    length: "number",
    before: "number",
    block: "number",
    /** The tick whose list of queues has it. */
    touched: "number",
    /** Its last items, as in the row of a list. */
    tail: "text",
  },
  /** Who was asked about a hire, `<hire>/<round>/<attempt>`, and what it found. */
  auditAssignment: {
    id: "text",
    hire: "text",
    /** The row of `audit` that it belongs to. */
    audit: "text",
    round: "number",
    attempt: "number",
    operator: "text",
    auditor: "text",
    /** `auditor` for a drawn one, or `operator-issued`: by `audit_judge`, with these models, separated by line feeds. */
    auditorType: "text",
    models: "text?",
    /** Why those that were picked before it could not be assigned, in order, separated by commas. */
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
    /** How many assignments in a row it left unanswered. */
    unanswered: "number",
    /**
     * Why it was removed, until it offers itself again: `unanswered`, `extortion` or `collusion`; and until when no offer
     * counts.
     */
    removedFor: "text?",
    barredUntil: "number?",
    /** How often it was removed for its verdicts. Earlier judgements no longer count. */
    epoch: "number",
    /**
     * Its verdicts on audits with two or more that ended in the window; and how many of its fails, and passes, the audit
     * overruled.
     */
    judged: "number",
    wrongFails: "number",
    wrongPasses: "number",
    /** What it earned and what its operator's pool paid it, atomic units. */
    accrued: "bigint",
    paid: "bigint",
  },
  /**
   * Who of Tier 2 audits a capability for an operator, `<operator>/<capability>`; its auditors by place; and the place of
   * each.
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
    /** When an auditor was first assigned since the capability was last in bootstrap. */
    firstAssigned: "number?",
    /** The verdicts of the last days, the number of their auditors, and the last tick that counted one. */
    verdicts: "number",
    auditors: "number",
    touched: "number?",
  },
  /** Every change of it, `<operator>/<capability>/<n>`. */
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
  /** How many of those verdicts are one auditor's, `<operator>/<capability>/<auditor>`. */
  auditShare: { id: "text", verdicts: "number" },
  /** Until when a seller, or a cluster, is drawn more often, `<seller or cluster>/<verification version>`. */
  elevation: { id: "text", until: "number" },
  /** When a refund after delivery was last drawn as such, `<buyer>/<seller>`. */
  contestedPair: { id: "text", time: "number" },
  /** A list of hires that an operator committed to arrange, `<operator>/<commitment>`. */
  canaryList: {
    id: "text",
    operator: "text",
    commitment: "text",
    record: "text",
    block: "number",
    time: "number",
    /** When it revealed them, how many they are, and how many of them measure nothing. */
    revealedTime: "number?",
    revealRecord: "text?",
    hires: "number",
    voids: "number",
  },
  /** An arranged hire, by the wallet that bought it. A wallet serves once. */
  canary: {
    id: "text",
    operator: "text",
    list: "text",
    hire: "text?",
    truth: "text",
    /** `counted`, or why it measures nothing: `unknown`, `unsigned`, `late`, `foreign`, `busy`, `undrawn` or `contradicted`. */
    status: "text",
    time: "number",
  },
  /** How an auditor judged arranged hires of a capability, `<operator>/<auditor>/<capability>`. */
  auditorError: {
    id: "text",
    operator: "text",
    auditor: "text",
    capability: "text",
    /** Verdicts on good work, and how many passed it; on bad work, and how many failed it. */
    good: "number",
    goodPassed: "number",
    bad: "number",
    badFailed: "number",
  },
  /** An operator's own figures, of all time unless said. */
  auditOperator: {
    id: "text",
    /** Audits that were drawn, and how many of them for a refund after delivery. */
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
    /** Assignments without a verdict in time. */
    unanswered: "number",
    /**
     * Open audits that ended because the operator left the parameters: unassigned, assigned, or waiting to be judged again.
     */
    abandonedUnassigned: "number",
    abandonedAssigned: "number",
    abandonedRechecking: "number",
    /** Verdicts that it gave itself. */
    issued: "number",
    /** Its decisions. Of those that mature auditors judged again: how many they agree with, and how many not. */
    rolledBack: "number",
    dismissed: "number",
    historyAgreed: "number",
    historyDiffered: "number",
    /** Lists of arranged hires that it committed to, and revealed. */
    canariesCommitted: "number",
    canariesRevealed: "number",
    /** Atomic units. `owed`: what its auditors earned and were not paid, each by itself. */
    accrued: "bigint",
    paid: "bigint",
    owed: "bigint",
  },
  /** The same over 30 days, `<operator>/<n>`, from n × 2,592,000 on; `owed` as of its last change. */
  auditPeriod: {
    id: "text",
    operator: "text",
    from: "number",
    accrued: "bigint",
    paid: "bigint",
    owed: "bigint",
  },
} as const satisfies Record<string, Record<string, ColumnKind>>;
