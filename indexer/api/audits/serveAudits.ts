import type { OpenAPIHono } from "@hono/zod-openapi";
import type { RecordEvent, TickEvent } from "tallystick-derive/events";
import type { Row } from "tallystick-derive/tables";
import { TallystickError } from "tallystick-protocol/errors";
import type { AuditActuation } from "tallystick-protocol/records/auditActuation";
import { positionKey } from "../../src/positionKey.ts";
import type { Database } from "../database.ts";
import { FOR_NOW, finalPage } from "../log/finalPage.ts";
import { pageOf } from "../rest/cursor.ts";
import { assignmentsOf } from "../rows/audits.ts";
import { eventsAt } from "../rows/events.ts";
import { validRecords } from "../rows/records.ts";
import { rowsById } from "../rows/rowsById.ts";
import { type ActuationJson, type AuditJson, actuationLogRoute, auditRoute } from "./routes.ts";

/** Adds the REST routes for audits. */
export function serveAudits(app: OpenAPIHono, db: Database): void {
  app.openapi(actuationLogRoute, async ({ req }) => {
    const list = { ...validRecords("audit_actuation", { final: true }), direction: "asc" } as const;
    const { shown, next_cursor } = await pageOf(db, list, req.valid("query"));
    const body = JSON.stringify({ actuations: await actuationsOf(db, shown), next_cursor });
    return finalPage(req.header("if-none-match"), body, {
      "content-type": "application/json",
      // Which decisions count depends on the rules. A version with other rules may count others of the same blocks.
      "cache-control": FOR_NOW,
    }) as never;
  });
  app.openapi(auditRoute, async (context) =>
    context.json(await auditOf(db, context.req.valid("param").hire), 200),
  );
}

async function actuationsOf(db: Database, records: Row<"record">[]): Promise<ActuationJson[]> {
  const positions = records.map((it) => positionKey({ kind: "record", ...placeOf(it) } as RecordEvent));
  const events = await eventsAt(db, positions);
  return records.map((record, n) => {
    const { ledger, seq, hash, block, time, signer } = record;
    const { body, signature } = JSON.parse(events[n] as string) as RecordEvent;
    const { hire, decision, reasons } = body as object as AuditActuation;
    return { hash, ledger, seq, operator: signer, hire, decision, reasons, signature, block, time };
  });
}

function placeOf({ block, log, seq }: Row<"record">) {
  return { block, log, seq };
}

/** @throws TallystickError `unknown_audit` */
async function auditOf(db: Database, hire: string): Promise<AuditJson> {
  const [rows, [asked = []]] = await Promise.all([rowsById(db, "audit", [hire]), assignmentsOf(db, [hire])]);
  const [row] = rows;
  if (row === undefined) {
    throw new TallystickError({
      code: "unknown_audit",
      message: `The hire ${hire} may not be audited.`,
    });
  }
  const { drawnBlock, drawnTime } = row;
  const [tick] =
    drawnBlock === null
      ? []
      : await eventsAt(db, [positionKey({ kind: "tick", block: drawnBlock, time: 0 })]);
  const tickHash = tick ? ((JSON.parse(tick) as TickEvent).hash ?? null) : null;
  return {
    hire: row.id,
    operator: row.operator,
    seller: row.seller,
    buyer: row.buyer,
    capability: row.capability,
    verification_version: row.verificationVersion,
    amount_usdc_atomic: row.amount.toString(),
    receipt_hash: row.receipt,
    params_hash: row.paramsHash,
    result_hash: row.resultHash,
    status: row.status,
    challenged: row.status === "failed" && row.decision === null && row.cause !== "contested",
    mode: row.mode,
    history: row.history,
    canary: row.canary,
    decision: row.decision,
    decision_record: row.decisionRecord,
    reason: row.reason,
    cause: row.cause,
    rate_ppm: row.ppm,
    eligible_block: row.eligibleBlock,
    eligible_time: row.eligibleTime,
    drawn: drawnBlock === null ? null : { block: drawnBlock, time: drawnTime ?? 0, tick_hash: tickHash },
    closed_time: row.closedTime,
    rounds: [...Map.groupBy(asked, ({ round }) => round)].map(([round, attempts]) => ({
      round,
      attempts: attempts.map(attemptJson),
    })),
  };
}

function attemptJson(row: Row<"auditAssignment">): AuditJson["rounds"][number]["attempts"][number] {
  return {
    attempt: row.attempt,
    auditor: row.auditor,
    auditor_type: row.auditorType,
    assigned_block: row.block,
    assigned_at: row.time,
    passed_over: row.passedOver === "" ? [] : row.passedOver.split(","),
    clusters: JSON.parse(row.clusters),
    families: JSON.parse(row.families),
    verdict: row.verdict,
    verdict_time: row.verdictTime,
    reason_codes: row.reasons === null ? [] : row.reasons.split(","),
    record: row.record,
  };
}
