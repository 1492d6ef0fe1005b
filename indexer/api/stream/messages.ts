import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import { stepJson } from "../breachSteps/stepJson.ts";
import type { Database } from "../database.ts";
import { type KeyedTable, type RowOf, rowsById } from "../rows/rowsById.ts";
import type { TimelineRow } from "../rows/timeline.ts";
import { weightOf } from "../weightOf.ts";
import { positionOf } from "./position.ts";

/**
 * The message of a row of the timeline. `position` is the position for clients, which names a block. `text` is the
 * message's JSON, which is made once for all clients.
 */
export type StreamMessage = Pick<TimelineRow, "kind" | "subject" | "agent" | "counterpart"> & {
  position: string;
  text: string;
};

/** The topics that clients can ask for. */
export const TOPICS = ["hires", "ratings", "tiers", "anchors", "audits", "sla"] as const;
export type Topic = (typeof TOPICS)[number];

const TOPIC_OF: { [kind: string]: Topic } = {
  hire: "hires",
  rating: "ratings",
  tier_change: "tiers",
  anchor: "anchors",
  sla_step: "sla",
  audit_drawn: "audits",
  audit_assigned: "audits",
  audit_verdict: "audits",
  audit_ended: "audits",
  audit_decided: "audits",
};

export function topicOf({ kind }: Pick<TimelineRow, "kind">): Topic | undefined {
  return TOPIC_OF[kind];
}

/**
 * The messages of timeline rows, in their order. Each kind of message takes one look-up, and steps of SLAs take two. A
 * row whose subject no longer exists is left out.
 */
export async function messagesOf(db: Database, rows: TimelineRow[]): Promise<StreamMessage[]> {
  const find = async <Name extends KeyedTable>(
    kind: TimelineRow["kind"],
    table: Name,
    json: (row: RowOf<Name>) => object,
  ): Promise<[kind: string, Map<string, object>]> => {
    const ids = rows.filter((row) => row.kind === kind).map(({ subject }) => subject);
    const found = await rowsById(db, table, ids);
    return [kind, new Map(found.map((row) => [row.id, json(row)]))];
  };
  const data = new Map(
    await Promise.all([
      find("hire", "hire", hireJson),
      find("rating", "rating", ratingJson),
      find("tier_change", "tierChange", tierChangeJson),
      find("anchor", "anchor", anchorJson),
      slaSteps(db, rows),
      find("audit_drawn", "audit", drawnJson),
      find("audit_assigned", "auditAssignment", assignedJson),
      find("audit_verdict", "auditAssignment", verdictJson),
      find("audit_ended", "audit", endedJson),
      find("audit_decided", "audit", decidedJson),
    ]),
  );
  return rows.flatMap((row) => {
    const found = data.get(row.kind)?.get(row.subject);
    if (found === undefined) return [];
    const { kind, subject, agent, counterpart } = row;
    const position = positionOf(row);
    const text = JSON.stringify({ type: kind, position, data: found });
    return [{ position, kind, subject, agent, counterpart, text }];
  });
}

/** The message of a step contains its breach's terms, which never change. */
async function slaSteps(db: Database, rows: TimelineRow[]): Promise<[kind: string, Map<string, object>]> {
  const ids = rows.filter(({ kind }) => kind === "sla_step").map(({ subject }) => subject);
  const steps = await rowsById(db, "breachStep", ids);
  const breaches = await rowsById(db, "breach", [...new Set(steps.map(({ breach }) => breach))]);
  const byId = new Map(breaches.map((it) => [it.id, it]));
  const told = steps.flatMap((step): [string, object][] => {
    const breach = byId.get(step.breach);
    return breach === undefined ? [] : [[step.id, stepJson(step, breach)]];
  });
  return ["sla_step", new Map(told)];
}

function hireJson(row: Row<"hire">) {
  return {
    id: row.id,
    hire_id: row.hireId,
    seller: row.seller,
    buyer: row.buyer,
    capability: row.capability,
    payment_mode: row.paymentMode,
    price_usdc: formatUsdc(row.price),
    outcome: row.outcome,
    evidence: row.evidence,
    dispute: row.dispute,
    weight: weightOf(row),
    latency_ms: row.latencyMs,
    time: row.time,
    tx: row.tx,
    escrow_id: row.escrowId,
  };
}

function ratingJson(row: Row<"rating">) {
  const { receipt, side, rater, ratee, stars, time, hire } = row;
  return { receipt, side, rater, ratee, stars, time, hire };
}

function tierChangeJson(row: Row<"tierChange">) {
  const { agent, from, to, reason, block, time } = row;
  return { agent, from, to, reason, block, time };
}

function anchorJson(row: RowOf<"anchor">) {
  const { ledger, seq, oldSize, newSize, root, block, time, tx } = row;
  return {
    ledger,
    seq: String(seq),
    old_size: String(oldSize),
    new_size: String(newSize),
    root,
    block,
    time,
    tx,
  };
}

type Assignment = Row<"auditAssignment">;

// The message of an audit contains only what does not change later.

function sidesJson({ hire, operator, seller, buyer, capability, cause }: Row<"audit">) {
  return { hire, operator, seller, buyer, capability, cause };
}

function drawnJson(row: Row<"audit">) {
  return { ...sidesJson(row), rate_ppm: row.ppm, block: row.drawnBlock, time: row.drawnTime };
}

function endedJson(row: Row<"audit">) {
  return { ...sidesJson(row), status: row.status, reason: row.reason, time: row.closedTime };
}

function decidedJson(row: Row<"audit">) {
  return { ...sidesJson(row), decision: row.decision, record: row.decisionRecord };
}

function assignedJson({ hire, round, attempt, operator, auditor, auditorType, block, time }: Assignment) {
  return { hire, round, attempt, operator, auditor, auditor_type: auditorType, block, time };
}

function verdictJson(row: Assignment) {
  const { hire, round, attempt, operator, auditor, verdict, reasons, record, verdictTime } = row;
  const reason_codes = reasons?.split(",") ?? [];
  return { hire, round, attempt, operator, auditor, verdict, reason_codes, record, time: verdictTime };
}
