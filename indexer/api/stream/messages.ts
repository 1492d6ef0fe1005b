import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import type { Database } from "../database.ts";
import { type KeyedTable, type RowOf, rowsById } from "../rows/rowsById.ts";
import type { TimelineRow } from "../rows/timeline.ts";
import { weightOf } from "../weightOf.ts";

/** A moment as it is sent: `text` is the JSON, made once for all clients. */
export type StreamMessage = Pick<TimelineRow, "position" | "kind" | "subject" | "agent" | "counterpart"> & {
  text: string;
};

/** What clients can ask for. */
export const TOPICS = ["hires", "ratings", "tiers", "anchors"] as const;
export type Topic = (typeof TOPICS)[number];

const TOPIC_OF: { [kind: string]: Topic } = {
  hire: "hires",
  rating: "ratings",
  tier_change: "tiers",
  anchor: "anchors",
};

export function topicOf({ kind }: Pick<TimelineRow, "kind">): Topic | undefined {
  return TOPIC_OF[kind];
}

/** The messages of timeline rows, in their order; four look-ups however many they are. A row that is gone is left out. */
export async function messagesOf(db: Database, rows: TimelineRow[]): Promise<StreamMessage[]> {
  const find = async <Name extends KeyedTable>(
    kind: string,
    table: Name,
    json: (row: RowOf<Name>) => object,
  ): Promise<Map<string, object>> => {
    const ids = rows.filter((row) => row.kind === kind).map(({ subject }) => subject);
    const found = await rowsById(db, table, ids);
    return new Map(found.map((row) => [row.id, json(row)]));
  };
  const [hire, rating, tier_change, anchor] = await Promise.all([
    find("hire", "hire", hireJson),
    find("rating", "rating", ratingJson),
    find("tier_change", "tierChange", tierChangeJson),
    find("anchor", "anchor", anchorJson),
  ]);
  const data: { [kind: string]: Map<string, object> } = { hire, rating, tier_change, anchor };
  return rows.flatMap((row) => {
    const found = data[row.kind]?.get(row.subject);
    if (found === undefined) return [];
    const { position, kind, subject, agent, counterpart } = row;
    const text = JSON.stringify({ type: kind, position, data: found });
    return [{ position, kind, subject, agent, counterpart, text }];
  });
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
