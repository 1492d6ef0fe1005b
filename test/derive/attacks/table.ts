import type { Reputation } from "tallystick-derive/reputation";
import { formatUsdc } from "tallystick-protocol/amount";
import { type Attack, type Cost, costOf } from "./scene.ts";

const HEAD = [
  "| attack | locked USDC | lost USDC | wallets | time | SHP: tier, success, hires, buyers, cluster | here: independent (established), rate, kept, coverage | what it comes to |",
  "|---|---|---|---|---|---|---|---|",
];

/** The table of docs/independence.md, made from derived figures. */
export function attackTable(rows: { attack: Attack; figures: Reputation }[]): string {
  return [...HEAD, ...rows.map(({ attack, figures }) => rowText(attack, costOf(attack), figures))].join("\n");
}

function rowText({ name, outcome, own }: Attack, cost: Cost, it: Reputation): string {
  const isAttack = own.length > 0;
  const shp = [
    it.trust_tier,
    it.success_rate ?? "–",
    it.last_30d_hire_count,
    it.distinct_buyers,
    it.cluster_size,
  ].join(", ");
  const here = [
    `${it.independent_buyers} (${it.established_buyers})`,
    it.independent_success_rate ?? "–",
    it.kept_usdc,
    it.receipt_coverage ?? "–",
  ].join(", ");
  const price = isAttack
    ? [formatUsdc(cost.locked), formatUsdc(cost.lost), cost.wallets, duration(cost.seconds)]
    : ["–", "–", "–", "–"];
  return `| ${[name, ...price, shp, here, outcome].join(" | ")} |`;
}

/** Formats a duration in the largest unit that it reaches, rounded up. */
function duration(seconds: number): string {
  if (seconds >= 86_400) return `${Math.ceil(seconds / 86_400)} d`;
  return seconds >= 3_600 ? `${Math.ceil(seconds / 3_600)} h` : `${Math.ceil(seconds / 60)} min`;
}
