import type { ColumnKind } from "../columnKind.ts";

/** The rows of audits (see `../tables.ts`). */
export const auditTables = {
  /**
   * An audit of a hire, by the hire's id, from when it may be drawn on: it was paid and receipted, or its seller kept silent, and
   * a listing agreed to audits (see `audits/`).
   */
  audit: {
    id: "text",
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
    /** The rate at which it is drawn, and why it was: `sample`, or `rules` for what its own receipts show. */
    ppm: "number",
    cause: "text",
    /** `eligible`, `assigning`, `assigned`, `rechecking`, `passed`, `failed`, `inconclusive` or `abandoned`. */
    status: "text",
    /** Why it failed by the rules alone: `undisclosed` or `equivocation`. */
    reason: "text?",
    round: "number",
    attempt: "number",
    /** What each round came to, in order: `p` or `f`. */
    verdicts: "text",
    eligibleBlock: "number",
    eligibleTime: "number",
    drawnBlock: "number?",
    drawnTime: "number?",
    closedTime: "number?",
    /** What the operator made of a hire that failed, in bootstrap: `rollback` or `dismiss`, and by which record. */
    decision: "text?",
    decisionRecord: "text?",
    /** Whether it is in its seller's `audit_pass_rate`: `passed`, `rolledBack`, or null. */
    counted: "text?",
  },
  /** What waits to be drawn, `<kind>/<operator>/<ppm>`: from `start` on, `before` being its length before `block`. */
  auditQueue: {
    id: "text",
    start: "number",
    length: "number",
    before: "number",
    block: "number",
    /** The tick for which it is on the list of those to draw from. */
    touched: "number",
  },
  /** Who was asked about a hire, `<hire>/<round>/<attempt>`, and what it found. */
  auditAssignment: {
    id: "text",
    hire: "text",
    round: "number",
    attempt: "number",
    operator: "text",
    auditor: "text",
    auditorType: "text",
    /** Why those that were picked before it could not be taken, in order, separated by commas. */
    passedOver: "text",
    /** The clusters of auditor, buyer and seller at that time, as JSON. */
    clusters: "text",
    host: "text",
    verdict: "text?",
    /** The codes of its reasons, separated by commas. */
    reasons: "text?",
    record: "text?",
    block: "number",
    time: "number",
    verdictTime: "number?",
  },
  /** When an auditor was asked last about a buyer and a seller, `<auditor>/<buyer>/<seller>`. */
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
    /** How many assignments in a row it let pass. */
    unanswered: "number",
    /** Why it was taken out, until it offers itself again. */
    removedFor: "text?",
  },
  /** Who audits a capability for an operator, `<operator>/<capability>`; in which place; and where each stands. */
  roster: { id: "text", size: "number" },
  rosterPlace: { id: "text", auditor: "text" },
  rosterMember: { id: "text", place: "number?" },
  /** What a seller signed for a hire first, `<agent>/<hire_id>`, and whether it signed something else too. */
  disclosure: {
    id: "text",
    paramsHash: "text",
    resultHash: "text",
    isEquivocal: "boolean",
  },
} as const satisfies Record<string, Record<string, ColumnKind>>;
