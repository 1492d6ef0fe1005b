import type { OpenAPIHono } from "@hono/zod-openapi";
import type { FactorReport, ScoreReport } from "tallystick-derive/steward/scoreReport";
import { linesOf } from "tallystick-derive/steward/sla/lines";
import { monitoringReport, slaReport } from "tallystick-derive/steward/sla/slaReport";
import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import { TallystickError } from "tallystick-protocol/errors";
import { reportKeyOf } from "tallystick-protocol/trustReport/reportKey";
import { signTrustReport } from "tallystick-protocol/trustReport/signTrustReport";
import type { Database } from "../database.ts";
import { originOf } from "../rest/agentCard.ts";
import { agentOf } from "../rest/agents.ts";
import { pageOf } from "../rest/cursor.ts";
import { rowsById } from "../rows/rowsById.ts";
import { lastTick } from "../rows/state.ts";
import { breachesOf, failureReasons, failuresSince, monitoringOf } from "../rows/steward.ts";
import { type FindRows, publishedScoreOf } from "./publishedScoreOf.ts";
import { type FailuresJson, failuresRoute, reportKeyRoute, slaRoute, trustReportRoute } from "./routes.ts";

const DAY = 86_400;

/** The most breaches that an SLA's status shows. */
const SHOWN_BREACHES = 20;

/** The most probers whose findings about an agent's own monitoring are shown. */
const SHOWN_PROBERS = 20;

/**
 * Adds the REST routes of trust scores and SLAs.
 *
 * @param reportKey signs reports, 32 bytes; null: no reports
 */
export function serveSteward(app: OpenAPIHono, db: Database, reportKey: Uint8Array | null): void {
  app.openapi(trustReportRoute, async (context) => {
    const secretKey = requireKey(reportKey);
    const report = await trustReportOf(db, context.req.valid("param").id);
    const verificationUrl = `${originOf(context.req.raw)}/v1/report-key`;
    return context.json(signTrustReport(report, { secretKey, verificationUrl }) as never, 200);
  });
  app.openapi(slaRoute, async (context) =>
    context.json((await slaStatusOf(db, context.req.valid("param").id)) as never, 200),
  );
  app.openapi(failuresRoute, async (context) => {
    const { days, ...page } = context.req.valid("query");
    return context.json(await failuresOf(db, context.req.valid("param").id, days, page), 200);
  });
  app.openapi(reportKeyRoute, (context) => context.json(reportKeyOf(requireKey(reportKey)), 200));
}

/** @throws TallystickError `no_report_key` */
function requireKey(reportKey: Uint8Array | null): Uint8Array {
  if (reportKey !== null) return reportKey;
  throw new TallystickError({
    code: "no_report_key",
    message: "This node signs no trust reports, because it has no key.",
    hint: "Its operator sets REPORT_KEY to 0x and 64 random hex digits. GraphQL has the same data without a signature: agent { steward { … } }.",
  });
}

/** Rows by their ids. It takes one table, so that TypeScript knows the type of the rows. */
export function finderOf(db: Database): FindRows {
  return (table, ids) => (ids.length === 0 ? Promise.resolve([]) : rowsById(db, table, ids)) as never;
}

/**
 * The signed report of a node about an agent.
 *
 * @throws TallystickError `unknown_agent`, `no_trust_score`
 */
async function trustReportOf(db: Database, address: string) {
  const [agent, asOf] = await Promise.all([agentOf(db, address), lastTick(db)]);
  const published = await publishedScoreOf(finderOf(db), agent, asOf.time);
  if (published === null) {
    throw new TallystickError({
      code: "no_trust_score",
      message: `${address} has no trust score yet.`,
      hint: "An agent gets its score within an hour of its first hire as a seller, its first attestation, or a prober's first report on it.",
    });
  }
  const { row, attestation } = published.sources;
  const { score, computed_at, factors, ...rest } = published.report;
  return {
    agent_id: address,
    alias: row.alias,
    version: attestation?.version ?? null,
    report_date: isoOf(computed_at),
    as_of: asOf,
    trust_score: score,
    ...rest,
    factors: Object.fromEntries(factors.map((it) => [it.name, factorJson(it)])),
  };
}

function factorJson({ value, weight, contribution, source, last_verified, evidence }: FactorReport) {
  const at = last_verified === null ? null : isoOf(last_verified);
  return { score: value, weight, contribution, source, last_verified: at, evidence };
}

function isoOf(seconds: ScoreReport["computed_at"]): string {
  return `${new Date(seconds * 1_000).toISOString().slice(0, 19)}Z`;
}

/** @throws TallystickError `unknown_agent` */
async function slaStatusOf(db: Database, address: string) {
  const find = finderOf(db);
  const [, asOf, [sla], [score]] = await Promise.all([
    agentOf(db, address),
    lastTick(db),
    find("sla", [address]),
    find("steward", [address]),
  ]);
  if (sla === undefined) return { agent_id: address, sla_status: null, as_of: asOf };
  const [guarantees, { shown: breaches }, { shown: monitored }] = await Promise.all([
    find("guarantee", linesOf(sla.binding)),
    pageOf(db, breachesOf(address), { limit: SHOWN_BREACHES }),
    pageOf(db, monitoringOf(address), { limit: SHOWN_PROBERS }),
  ]);
  const ordered = guarantees.sort((a, b) => (a.id < b.id ? -1 : 1));
  const report = slaReport(sla, { guarantees: ordered, breaches, score: score ?? null, time: asOf.time });
  const sla_status = { ...report, own_monitoring: monitored.map(monitoringReport) };
  return { agent_id: address, sla_status, as_of: asOf };
}

/** @throws TallystickError `unknown_agent`, `private_metrics` */
async function failuresOf(
  db: Database,
  address: string,
  days: number,
  page: { limit: number; cursor?: string | undefined },
): Promise<FailuresJson> {
  const [agent, { time }] = await Promise.all([agentOf(db, address), lastTick(db)]);
  if (agent.privateListings > 0) {
    throw new TallystickError({
      code: "private_metrics",
      message: `${address} asks for private metrics, so its failures are not listed.`,
    });
  }
  const since = time - days * DAY;
  const { shown, next_cursor } = await pageOf(db, failuresSince(address, since), page);
  const reasons = await failureReasons(db, shown);
  return {
    agent_id: address,
    since,
    failures: shown.map((row) => failureJson(row, reasons.get(row.id))),
    next_cursor,
  };
}

function failureJson(
  row: Row<"hire">,
  said: { reason: string | null; isExcused: boolean } | undefined,
): FailuresJson["failures"][number] {
  return {
    hire: row.id,
    hire_id: row.hireId,
    buyer: row.buyer,
    capability: row.capability,
    price_usdc: formatUsdc(row.price),
    time: row.time,
    evidence: row.evidence,
    dispute: row.dispute,
    dispute_source: row.disputeSource,
    refunded: row.refunded,
    reason: said?.reason ?? null,
    is_excused: said?.isExcused ?? false,
    latency_ms: row.latencyMs,
    tx: row.tx,
    receipt_hash: row.receipt,
  };
}
