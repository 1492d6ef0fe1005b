import { parseRational } from "tallystick-derive/rational";
import { worstRun } from "tallystick-derive/steward/attestations";
import { nanoOf } from "tallystick-derive/steward/nano";
import { endorsementsOf, type FactorName, freshnessOf } from "tallystick-derive/steward/score";
import type { TestRun } from "tallystick-protocol/records/attestation";
import type { ShownFactor, ShownReport } from "./shownReport.ts";

const DAY = 86_400;
const SCORE_DAYS = 30;

/** A factor computed from its evidence, in units of 10⁻⁹, and the node's value. */
export type Recomputed = { recomputed: number; told: number; agrees: boolean };

/**
 * Computes a factor again from the evidence in a report, by the formulas of docs/steward.md, section 3. This
 * does not check the evidence itself, which the ledger and the chain prove: `tallystick derive --from URL
 * --check`.
 */
export function recomputeFactor({ trust_report }: ShownReport, name: FactorName): Recomputed {
  const factor = trust_report.factors[name];
  const computed = Date.parse(trust_report.report_date) / 1_000;
  const recomputed = VALUES[name](factor.evidence, computed);
  const told = Math.round(factor.score * 1e9);
  return { recomputed, told, agrees: recomputed === told };
}

type Evidence = ShownFactor["evidence"];

const VALUES: { [name in FactorName]: (evidence: Evidence, computed: number) => number } = {
  test_coverage: ({ runs }) => {
    const { passing, total } = worstRun(listOf<TestRun>(runs));
    return total === 0 ? 0 : nanoOf(BigInt(passing), BigInt(total));
  },
  uptime: ({ days }, computed) => {
    const today = Math.floor(computed / DAY);
    let [data, down] = [0, 0];
    for (const it of listOf<{ date: string; slots: number; down: number }>(days)) {
      const day = Date.parse(`${it.date}T00:00:00Z`) / (1_000 * DAY);
      if (day <= today - SCORE_DAYS || day > today) continue;
      data += it.slots;
      down += it.down;
    }
    return data === 0 ? 0 : nanoOf(BigInt(data - down), BigInt(data));
  },
  success_rate: ({ successful, failed }) => {
    const [ok, bad] = [parseRational(String(successful)), parseRational(String(failed))];
    const all = ok.n * bad.d + bad.n * ok.d;
    return all === 0n ? 0 : nanoOf(ok.n * bad.d, all);
  },
  endorsements: ({ counted }) => {
    const words = listOf<{ party: string; trust: number }>(counted);
    return endorsementsOf(words.map(({ party, trust }) => ({ party, trust: Math.round(trust * 1e9) }))).value;
  },
  attestation_freshness: ({ last_attestation: last }, computed) =>
    typeof last === "number" ? freshnessOf(Math.floor((computed - last) / 3_600)) : 0,
};

function listOf<Item>(value: unknown): Item[] {
  return Array.isArray(value) ? (value as Item[]) : [];
}
