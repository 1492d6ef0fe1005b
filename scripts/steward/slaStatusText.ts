import { bold } from "../query/nodeQuery.ts";
import { failed, quoted, signed, warned } from "./marks.ts";
import { plainStrings } from "./plainStrings.ts";
import { shareText } from "./shownReport.ts";

type ShownGuarantee = {
  metric: string;
  measurement_window: string;
  target: number;
  breach_threshold: number;
  current: number | null;
  status: string;
  buffer: number | null;
  days_until_breach: number | null;
  bound_until: number | null;
};

/** The fields of an agent's SLA status that people are shown. */
export type ShownSla = {
  agent_id: string;
  sla_status: {
    overall_status: string;
    version: string;
    guarantees: ShownGuarantee[];
    recent_breaches: {
      id: string;
      metric: string;
      status: string;
      detected_at: number;
      closed_at: number | null;
    }[];
    penalties_applied: { breach: string; type: string; recovery_days_left: number }[];
    trust_score_impact: number;
    sla_tier: string;
    suspended_until: number | null;
    /** Missing in answers of older nodes. */
    own_monitoring?: {
      prober: string;
      asked_at: number;
      differences: {
        metric: string;
        measurement_window: string;
        measured: number | null;
        claimed: number | null;
      }[];
    }[];
  } | null;
  as_of: { block: number; time: number };
};

const MARKS: { [status: string]: (text: string) => string } = {
  compliant: signed,
  at_risk: warned,
  breached: failed,
};
const WINDOW = 30 * 86_400;

/** An SLA's status, laid out for people (T026). */
export function slaStatusText(status: ShownSla): string {
  const { agent_id, sla_status: sla, as_of } = plainStrings(status);
  if (sla === null) return `${agent_id} promises nothing: it has no SLA.`;
  const mark = MARKS[sla.overall_status] ?? warned;
  const lines = [
    `${bold("SLA Status:")} ${agent_id} (SLA version ${quoted(sla.version)})`,
    `${bold("Overall Status:")} ${mark(sla.overall_status.toUpperCase().replace("_", " "))}`,
    ...(sla.suspended_until === null
      ? []
      : [warned(`Takes no new hires until ${dateOf(sla.suspended_until)}`)]),
    `${bold("Its promises fit the tier:")} ${quoted(sla.sla_tier)}`,
    "",
    bold("Guarantees:"),
    ...(sla.guarantees.length === 0 ? ["  none"] : sla.guarantees.flatMap(guaranteeLines)),
    "",
    bold("Recent Performance (30 days):"),
  ];
  const recent = sla.recent_breaches.filter(({ detected_at }) => detected_at > as_of.time - WINDOW);
  lines.push(
    ...(recent.length === 0 ? ["  - No breaches"] : []),
    ...recent.map((it) => {
      const end = it.closed_at === null ? "open" : `closed ${dateOf(it.closed_at)}`;
      return `  - ${titleOf(it.metric)} breached ${dateOf(it.detected_at)}: ${it.status}, ${end} (${it.id})`;
    }),
    `  - ${sla.penalties_applied.length} penalties applied`,
    ...sla.penalties_applied.map(
      (it) => `     - ${it.type}, recovered in ${it.recovery_days_left} good days`,
    ),
    `  - Trust score impact: ${sla.trust_score_impact === 0 ? "0.0" : sla.trust_score_impact.toFixed(4)}`,
  );
  const differences = (sla.own_monitoring ?? []).flatMap((it) =>
    it.differences.map((difference) => ({ ...it, ...difference })),
  );
  if (differences.length > 0) lines.push("", bold("Its own monitoring says something else:"));
  for (const { metric, measurement_window, measured, claimed, prober, asked_at } of differences) {
    const [said, was] = [claimed, measured].map((it) => (it === null ? "nothing" : figure(metric, it)));
    lines.push(
      `  ${warned(`${titleOf(metric)} (${measurement_window}): it says ${said}, but ${was} was measured`)}`,
      `     - asked by ${prober}, ${dateOf(asked_at)}`,
    );
  }
  const risks = sla.guarantees.filter(({ status }) => status !== "compliant");
  if (risks.length > 0) {
    lines.push("", bold("Recommendation:"));
    for (const { metric } of risks) {
      lines.push(
        `  ${warned(`${titleOf(metric)} is below what was promised. ${adviceOf(metric, agent_id)}`)}`,
      );
    }
  }
  return lines.join("\n");
}

function guaranteeLines(it: ShownGuarantee): string[] {
  const show = (value: number): string => figure(it.metric, value);
  const buffer =
    it.buffer === null ? "" : `, buffer: ${it.buffer >= 0 ? "+" : "−"}${show(Math.abs(it.buffer))}`;
  const mark = MARKS[it.status] ?? warned;
  const head = `${titleOf(it.metric)}: ${it.current === null ? "no data" : show(it.current)} (target: ${show(it.target)}${buffer}, ${it.measurement_window})`;
  const more =
    it.status === "compliant"
      ? []
      : [
          `Status: ${it.status.toUpperCase().replace("_", " ")}`,
          `Breach threshold: ${show(it.breach_threshold)}`,
          ...(it.days_until_breach === null
            ? []
            : [`Days until breach (if trend continues): ${it.days_until_breach}`]),
        ];
  const replaced = it.bound_until === null ? [] : [`Replaced; binds until ${dateOf(it.bound_until)}`];
  return [`  ${mark(head)}`, ...[...more, ...replaced].map((line) => `     - ${line}`)];
}

function figure(metric: string, value: number): string {
  return metric.startsWith("latency_") ? `${value}ms` : shareText(value, 2);
}

function titleOf(metric: string): string {
  const words = metric.replace("latency_p", "latency P").split("_");
  return words.map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`).join(" ");
}

function adviceOf(metric: string, agent: string): string {
  if (metric === "success_rate")
    return `Review recent failures:\n     $ tallystick failures ${agent} --last-7-days`;
  if (metric === "uptime") return `See which slots:\n     $ tallystick verify-factor ${agent} uptime`;
  return "Look at the slowest hires.";
}

function dateOf(seconds: number): string {
  return `${new Date(seconds * 1_000).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}
