import { countOf } from "../design/countOf.ts";
import { formatNumber, formatRate } from "../design/format.ts";
import { type Agent, explainedOf } from "./agentQuery.ts";

/** An agent with fewer buyers than this gets a warning. */
const FEW_BUYERS = 3;
/** An agent with at least this share of refunded escrow hires gets a warning. */
const MANY_REFUNDS = 0.1;

/** The warnings, as sentences, for somebody who is about to hire this agent. */
export function concernsOf(agent: Agent): string[] {
  if (agent.privateMetrics)
    return [
      "It asked for private metrics: every figure is a bucket, such as a range, and nobody can see how it was computed.",
    ];
  const number = (field: string): number | null => {
    const { value } = explainedOf(agent, field);
    return typeof value === "number" ? value : null;
  };
  const [weighted, raw, buyers] = [
    number("LAST_30D_HIRE_COUNT") ?? 0,
    number("LAST_30D_HIRE_COUNT_RAW") ?? 0,
    number("DISTINCT_BUYERS") ?? 0,
  ];
  const [refunds, disputes] = [number("REFUND_RATE") ?? 0, number("DISPUTE_RATE") ?? 0];
  const undisclosed = number("AUDITS_UNDISCLOSED") ?? 0;
  const said: [boolean, string][] = [
    [
      agent.clusterSize > 1,
      `It is one of ${agent.clusterSize} agents that seem to have one owner. A hire between two of them counts 1/${agent.clusterSize}.`,
    ],
    [
      weighted < raw,
      `Of its ${countOf(raw, "hire")} only ${formatNumber(weighted)} ${weighted === 1 ? "counts" : "count"}. Buyers of the other hires seem to have the same owner as this agent.`,
    ],
    [
      raw > 0 && buyers < FEW_BUYERS,
      buyers === 1
        ? "All its hires come from one buyer."
        : `All its hires come from ${formatNumber(buyers)} buyers.`,
    ],
    [refunds >= MANY_REFUNDS, `${formatRate(refunds)} of its escrow hires were refunded.`],
    [disputes > 0, `Audits found ${formatRate(disputes)} of its hires bad.`],
    [undisclosed > 0, `It kept silent about ${countOf(undisclosed, "hire")} drawn for an audit.`],
  ];
  return said.flatMap(([holds, text]) => (holds ? [text] : []));
}

/** One sentence that describes the agent. */
export function sentenceOf(agent: Agent): string {
  const hires = explainedOf(agent, "LAST_30D_HIRE_COUNT_RAW").value;
  const rate = explainedOf(agent, "SUCCESS_RATE").value;
  const bought = explainedOf(agent, "HIRES_BOUGHT").value;
  if (agent.privateMetrics) return "It sells, and its metrics are private.";
  if (hires === 0 || typeof hires !== "number") {
    return typeof bought === "number" && bought > 0
      ? `It bought ${countOf(bought, "hire")} and sold none in the last 30 days.`
      : "Nobody hired it in the last 30 days, so nothing is known of its work.";
  }
  const times = hires === 1 ? "once" : `${formatNumber(hires)} times`;
  if (typeof rate !== "number") return `It was hired ${times} in the last 30 days, and no outcome is known.`;
  return `It was hired ${times} in the last 30 days, and ${formatRate(rate)} of these hires went well.`;
}
