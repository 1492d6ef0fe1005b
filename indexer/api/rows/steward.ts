import { and, asc, eq, gte, sql } from "ponder";
import { NANO } from "tallystick-derive/steward/nano";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import type { RowList } from "./list.ts";

const { attestation, breach, hire, slaClaim, slaMonitoring, steward, telemetry, clientError } = schema;

/** A filter for trust scores. */
export type ScoreWhere = { minScore?: number | null; minTier?: number | null };

/** The lowest score, in units of 10⁻⁹, that reaches a share. */
export function nanoShare(share: number): number {
  if (share > 1) return NANO + 1;
  // A float times 10⁹ may be slightly above the exact whole number.
  return Math.max(0, Math.ceil(share * NANO - 0.001));
}

/** All computed trust scores, the highest first. */
export function scoreList({ minScore, minTier }: ScoreWhere): RowList<Row<"steward">> {
  return {
    table: steward,
    order: [steward.score, steward.id],
    direction: "desc",
    where: minScore == null ? undefined : gte(steward.score, nanoShare(minScore)),
    filter: and(
      sql`${steward.computedTime} IS NOT NULL`,
      minTier == null ? undefined : gte(steward.tier, minTier),
    ),
  };
}

/** The attestations of an agent's tests, the latest first. */
export function attestationsOf(agent: string): RowList<Row<"attestation">> {
  return {
    table: attestation,
    of: { name: "attestations", column: attestation.agent, id: agent },
    order: [attestation.ranAt, attestation.id],
    direction: "desc",
  };
}

/** An agent's breaches, the latest first. */
export function breachesOf(agent: string): RowList<Row<"breach">> {
  return {
    table: breach,
    of: { name: "breaches", column: breach.agent, id: agent },
    order: [breach.detectedTime, breach.id],
    direction: "desc",
  };
}

/** Each prober's latest finding about an agent's own monitoring, by the probers' addresses. */
export function monitoringOf(agent: string): RowList<Row<"slaMonitoring">> {
  return {
    table: slaMonitoring,
    of: { name: "monitoring", column: slaMonitoring.agent, id: agent },
    order: [slaMonitoring.id],
    direction: "asc",
  };
}

/** The next deadline for a ruling on a disputed breach, unix seconds; null when none is disputed. */
export async function nextRulingDue(db: Database): Promise<number | null> {
  const [next] = await db
    .select({ decidedBy: breach.decidedBy })
    .from(breach)
    .where(eq(breach.status, "disputed"))
    .orderBy(asc(breach.decidedBy))
    .limit(1);
  return next?.decidedBy ?? null;
}

/** The debts of a breach to buyers. */
export function claimsOf(breachId: string): RowList<Row<"slaClaim">> {
  return {
    table: slaClaim,
    of: { name: "claims", column: slaClaim.breach, id: breachId },
    order: [slaClaim.id],
    direction: "asc",
  };
}

/** An agent's hires since a time, the latest first. */
export function salesSince(agent: string, since: number): RowList<Row<"hire">> {
  return {
    table: hire,
    of: { name: `sales since ${since}`, column: hire.seller, id: agent },
    order: [hire.time, hire.id],
    direction: "desc",
    where: gte(hire.time, since),
    // Hires that an operator of audits arranged are in no figure.
    filter: eq(hire.isCanary, false),
  };
}

/** An agent's failed hires since a time, the latest first. */
export function failuresSince(agent: string, since: number): RowList<Row<"hire">> {
  const list = salesSince(agent, since);
  return {
    ...list,
    of: { name: `failures since ${since}`, column: hire.seller, id: agent },
    filter: and(list.filter, eq(hire.outcome, "failure")),
  };
}

/** What buyers reported as the failure, by hire, and the hires whose buyers blamed their own request. */
export async function failureReasons(
  db: Database,
  hires: readonly Row<"hire">[],
): Promise<Map<string, { reason: string | null; isExcused: boolean }>> {
  const receipts = hires.flatMap(({ receipt }) => receipt ?? []);
  const ids = (values: readonly string[]) => sql`ANY (${sql.param([...values])}::text[])`;
  const [said, excused] = await Promise.all([
    db
      .select({ id: telemetry.id, failure: telemetry.failure })
      .from(telemetry)
      .where(sql`${telemetry.id} = ${ids(receipts)}`),
    db
      .select({ id: clientError.id })
      .from(clientError)
      .where(sql`${clientError.id} = ${ids(hires.map(({ id }) => id))}`),
  ]);
  const reasons = new Map(said.map(({ id, failure }) => [id, failure]));
  const own = new Set(excused.map(({ id }) => id));
  return new Map(
    hires.map(({ id, receipt, evidence }) => [
      id,
      { reason: reasons.get(receipt ?? "") ?? null, isExcused: own.has(id) && evidence !== "audit" },
    ]),
  );
}
