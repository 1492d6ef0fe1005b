import type { FactorName } from "tallystick-derive/steward/score";
import { bold } from "../query/nodeQuery.ts";
import { factorLines } from "./factorLines.ts";
import { quoted, signed, warned } from "./marks.ts";
import { plainStrings } from "./plainStrings.ts";
import { FACTOR_TITLES, type ShownReport, TIER_TITLES } from "./shownReport.ts";

/** Formats a trust report for people (T017). */
export function trustReportText(report: ShownReport): string {
  const { trust_report: it } = plainStrings(report);
  const asOf = it.as_of.time;
  const names = Object.keys(FACTOR_TITLES) as FactorName[];
  const lines = [
    `${bold("Trust Report:")} ${quoted(it.alias ?? it.agent_id)}${it.version === null ? "" : ` v${quoted(it.version)}`}`,
    ...(it.alias === null ? [] : [`Agent: ${it.agent_id}`]),
    `Generated: ${it.report_date}`,
    "",
    `${bold("Overall Trust Score:")} ${it.trust_score.toFixed(2)} ${TIER_TITLES[it.tier] ?? it.tier}`,
    ...(it.suspended_until === null
      ? []
      : [warned(`Takes no new hires until ${dateOf(it.suspended_until)}`)]),
    "",
    bold("Factor Breakdown:"),
  ];
  for (const name of names) {
    const factor = it.factors[name];
    const weight = `${Math.round(factor.weight * 100)}% weight`;
    const said = `${FACTOR_TITLES[name]}: ${factor.score.toFixed(2)} (${weight}) → ${factor.contribution.toFixed(4)}`;
    lines.push(`  ${factor.score > 0 ? signed(said) : warned(said)}`);
    lines.push(...factorLines(name, factor, asOf).map((line) => `     - ${line}`), "");
  }
  lines.push(`${bold("Total:")} ${it.algorithm_score.toFixed(4)}`);
  if (it.denied_slots > 0)
    lines.push(`  less ${it.denied_cost.toFixed(2)} for ${it.denied_slots} slots of downtime that it denied`);
  if (it.sla_factor !== "1") lines.push(`  times ${it.sla_factor} after breaches of its SLA`);
  if (it.badges.length > 0) lines.push(`${bold("Badges:")} ${it.badges.join(", ")}`);
  const missed = it.requirements.filter(({ is_met }) => !is_met);
  if (missed.length > 0) {
    const words = missed.map(({ tier, metric, above }) => `${metric} > ${above} (${tier})`);
    lines.push(`${bold("Not met:")} ${words.join(", ")}`);
  }
  lines.push(
    "",
    `${bold("Verification:")} SIGNED by ${quoted(it.verification.signed_by)}`,
    "  - Verify offline: tallystick trust-report ID --json > FILE, then tallystick verify-signature FILE",
    `  - The node's key: ${it.verification.verification_url}`,
  );
  return lines.join("\n");
}

function dateOf(seconds: number): string {
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;
}
