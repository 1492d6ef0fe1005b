import type { FactorName } from "tallystick-derive/steward/score";
import { quoted } from "./marks.ts";
import { plainStrings } from "./plainStrings.ts";
import { ageOf, type ShownFactor, shareText } from "./shownReport.ts";

/** The parts of a factor, one per line. */
export function factorLines(name: FactorName, factor: ShownFactor, asOf: number): string[] {
  const { evidence, last_verified } = plainStrings(factor);
  const count = (key: string): number => Number(evidence[key] ?? 0);
  switch (name) {
    case "test_coverage": {
      const [passing, total] = [count("passing_tests"), count("total_tests")];
      return [
        `${passing}/${total} tests passing${total === 0 ? "" : ` (${shareText(passing / total)})`}`,
        ...known("Whose word", evidence.kind),
        `Last verified: ${ageOf(last_verified, asOf)}`,
        ...known("CI", evidence.ci_url),
      ];
    }
    case "uptime": {
      const [total, down] = [count("total_hours"), count("downtime_hours")];
      return [
        `${count("measurement_period_days")}-day period: ${total === 0 ? "no data" : `${shareText((total - down) / total, 2)} uptime`}`,
        `Downtime: ${down.toFixed(1)}h of ${total.toFixed(1)}h with data`,
      ];
    }
    case "success_rate":
      return [
        `Weight of successes ${quoted(evidence.successful)}, of failures ${quoted(evidence.failed)}`,
        `Measurement: last ${count("measurement_period_days")} days`,
      ];
    case "endorsements": {
      const leftOut = Array.isArray(evidence.left_out) ? evidence.left_out.length : 0;
      return [
        `${count("total_endorsements")} total endorsements, ${count("unique_endorsers")} unique`,
        `Average endorser trust: ${count("endorser_trust_avg").toFixed(2)}`,
        ...(leftOut === 0 ? [] : [`Left out: ${leftOut}`]),
      ];
    }
    case "attestation_freshness":
      return [
        `Last attested: ${ageOf(last_verified, asOf)}`,
        ...validUntil(last_verified, count("validity_period_hours")),
      ];
  }
}

function known(what: string, value: unknown): string[] {
  return value === null || value === undefined ? [] : [`${what}: ${quoted(value)}`];
}

/** Empty if there is no such date. */
function validUntil(last: string | null, hours: number): string[] {
  const end = new Date(Date.parse(last ?? "") + 3_600_000 * hours);
  return Number.isNaN(end.getTime()) ? [] : [`Valid until: ${end.toISOString().slice(0, 19)}Z`];
}
