import type { ColumnKind } from "../../columnKind.ts";

/** The rows of SLAs (see `../../tables.ts`). Figures are whole numbers of 10⁻⁹: shares, or milliseconds. */
export const slaTables = {
  /** An agent's present SLA, and the effects of its breaches. */
  sla: {
    id: "text",
    record: "text",
    version: "text",
    issuedAt: "number",
    time: "number",
    /** The whole body, as canonical JSON. */
    body: "text",
    /** The day of its first SLA. Hires of later days are stored for its guarantees. */
    firstDay: "number",
    /**
     * The number of guarantees ever made; the ids of those that bind; and the ids of breaches that are not
     * over, one per line.
     */
    made: "number",
    binding: "text",
    breaches: "text",
    /** `compliant`, `at_risk` or `breached`: the worst of its guarantees. */
    status: "text",
    /** The suspensions that are not over, one line `breach from until` each. */
    suspensions: "text",
    /** When the last breach was confirmed. */
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
    /** Until when it still binds after it was weakened, dropped or withdrawn. */
    boundUntil: "number?",
    openBreach: "text?",
    lastBreach: "number?",
    current: "bigint?",
    status: "text",
    /** Its figures at the close of the last seven days, `day:value;…`, and the last closed day. */
    closes: "text",
    closedDay: "number",
    daysUntilBreach: "number?",
  },
  /**
   * The hires of one day that count for SLAs, `<agent>/<day>`. Buyers in a cluster or family with the agent
   * do not count.
   */
  slaDay: {
    id: "text",
    ok: "number",
    failed: "number",
    /** How many of the latencies are known. The latencies are an ordered set (see `slaHires.ts`). */
    latencies: "number",
    /** The number of families of buyers with a failure, and with a latency. */
    failingFamilies: "number",
    slowFamilies: "number",
    /** Three of the families with a failure, or all if there are fewer. */
    failing: "text",
    /** The three families with the highest latencies, `family:ms` each. */
    slowest: "text",
  },
  /**
   * One family of buyers on one day, `<agent>/<day>/<family>`: its successes and failures, its known latencies and the
   * highest.
   */
  slaFamily: { id: "text", ok: "number", failed: "number", latencies: "number", slowest: "number?" },
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
    /** The days in which it was found. */
    fromDay: "number",
    toDay: "number",
    /** `detected`, `disputed`, `confirmed` or `overturned`. */
    status: "text",
    detectedBlock: "number",
    detectedTime: "number",
    /** The end of the time for a dispute, or for its ruling. */
    decidedBy: "number",
    dispute: "text?",
    ruling: "text?",
    excuse: "text?",
    confirmedTime: "number?",
    /** When the guarantee was at target again for a day. */
    closedTime: "number?",
    /** Days since the confirmation that met the target, at most 30; and the last day that was evaluated. */
    goodDays: "number",
    checkedDay: "number",
    isReinstated: "boolean",
    /** The amounts that are owed to its buyers and that were paid, in atomic units. */
    owed: "bigint",
    paid: "bigint",
    steps: "number",
  },
  /**
   * Every step of a breach, `<breach>/<n>`: detected, disputed, upheld, overturned, confirmed, closed, reinstated,
   * paid.
   */
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
   * A prober's last findings on an agent's own monitoring, `<agent>/<prober>`: the guarantees whose figures
   * differ from the measured ones, as canonical JSON.
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
  /** A buyer's claim for a breach, `<breach>/<buyer>`, and the transfer that paid it, `<tx>-<log>`. */
  slaClaim: { id: "text", breach: "text", buyer: "text", owed: "bigint", payment: "text?" },
  /** A transfer that paid a claim: `<tx>-<log>`. */
  slaPayment: { id: "text", claim: "text" },
} as const satisfies Record<string, Record<string, ColumnKind>>;
