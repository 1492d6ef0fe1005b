import type { ColumnKind } from "../../columnKind.ts";

/** The rows of SLAs (see `../../tables.ts`). Figures are whole numbers of 10⁻⁹: shares, or milliseconds. */
export const slaTables = {
  /** What an agent promises now, and what follows from its breaches. */
  sla: {
    id: "text",
    record: "text",
    version: "text",
    issuedAt: "number",
    time: "number",
    /** The whole body, as canonical JSON. */
    body: "text",
    /** The day of its first SLA: hires of later days are kept for its guarantees. */
    firstDay: "number",
    /** Guarantees that were ever made; those that bind; and breaches that are not over; ids, a line each. */
    made: "number",
    binding: "text",
    breaches: "text",
    /** `compliant`, `at_risk` or `breached`: the worst of its guarantees. */
    status: "text",
    /** Of suspensions that are not over, `breach from until`, a line each. */
    suspensions: "text",
    /** When a breach was confirmed last. */
    lastConfirmed: "number?",
  },
  /** One promise, `<agent>/<metric>/<days>/<n>`. */
  guarantee: {
    id: "text",
    agent: "text",
    metric: "text",
    days: "number",
    target: "bigint",
    threshold: "bigint",
    /** As canonical JSON. */
    penalty: "text",
    since: "number",
    /** The first UTC day whose data count. */
    fromDay: "number",
    /** Until when it binds, once it was weakened, dropped or withdrawn. */
    boundUntil: "number?",
    openBreach: "text?",
    lastBreach: "number?",
    current: "bigint?",
    status: "text",
    /** What it came to at the close of the last seven days, `day:value;…`, and the last day that closed. */
    closes: "text",
    closedDay: "number",
    daysUntilBreach: "number?",
  },
  /** Hires of one day that count for SLAs, `<agent>/<day>`: those with buyers of no cluster of the agent's; latencies `ms:count,…`. */
  slaDay: { id: "text", ok: "number", failed: "number", latencies: "text" },
  /** A breach of a guarantee, with the terms that it had. */
  breach: {
    id: "text",
    agent: "text",
    guarantee: "text",
    metric: "text",
    days: "number",
    target: "bigint",
    threshold: "bigint",
    penalty: "text",
    value: "bigint",
    /** The days that it was found in. */
    fromDay: "number",
    toDay: "number",
    /** `detected`, `disputed`, `confirmed` or `overturned`. */
    status: "text",
    detectedBlock: "number",
    detectedTime: "number",
    /** Until when it may be disputed, or a ruling is waited for. */
    decidedBy: "number",
    dispute: "text?",
    ruling: "text?",
    excuse: "text?",
    confirmedTime: "number?",
    /** When its own value was at target for a day. */
    closedTime: "number?",
    /** Days since its confirmation whose own value met the target, 30 at most; and the last day that was looked at. */
    goodDays: "number",
    checkedDay: "number",
    isReinstated: "boolean",
    /** Atomic units that its buyers are owed, and that were paid. */
    owed: "bigint",
    paid: "bigint",
    steps: "number",
  },
  /** Every step of a breach, `<breach>/<n>`: detected, disputed, upheld, overturned, confirmed, closed, reinstated, paid. */
  breachStep: {
    id: "text",
    breach: "text",
    agent: "text",
    step: "text",
    record: "text?",
    block: "number",
    time: "number",
  },
  /**
   * What a prober found last when it asked an agent's own monitoring, `<agent>/<prober>`: the guarantees of which that tells something else than what
   * was measured, as canonical JSON.
   */
  slaMonitoring: {
    id: "text",
    agent: "text",
    prober: "text",
    endpoint: "text",
    askedAt: "number",
    differences: "text",
    record: "text",
    time: "number",
  },
  /** What a buyer is owed for a breach, `<breach>/<buyer>`; and which transfer paid it, `<tx>-<log>`. */
  slaClaim: { id: "text", breach: "text", buyer: "text", owed: "bigint", payment: "text?" },
  slaPayment: { id: "text", claim: "text" },
} as const satisfies Record<string, Record<string, ColumnKind>>;
