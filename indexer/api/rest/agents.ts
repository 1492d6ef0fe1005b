import { and, asc, desc, eq, gt, inArray, sql } from "ponder";
import { reputationOf } from "tallystick-derive/reputationOf";
import type { Row } from "tallystick-derive/tables";
import { TallystickError } from "tallystick-protocol/errors";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { type ClusterLoader, clusterIsNamed, clusterOf, keepCluster } from "../rows/clusters.ts";
import { prepared } from "../rows/prepared.ts";
import { pricesOf } from "../rows/prices.ts";
import { lastTick } from "../rows/state.ts";
import { readCursor, writeCursor } from "./cursor.ts";
import { listingJson } from "./listingJson.ts";
import type { ClusterResponse, ListingsResponse, ReceiptsResponse, ReputationResponse } from "./schemas.ts";

/** Which part of a list is asked for. */
export type Page = { limit: number; cursor?: string | undefined };

/**
 * The row of an agent.
 *
 * @param clusters is given its cluster, if it will be asked for
 * @throws TallystickError `unknown_agent`
 */
export async function agentOf(
  db: Database,
  address: string,
  clusters?: ClusterLoader,
): Promise<Row<"agent">> {
  const { agent, cluster } = schema;
  const statement = prepared(db, "agent", () =>
    db
      .select({ agent, cluster })
      .from(agent)
      .leftJoin(cluster, clusterIsNamed)
      .where(eq(agent.id, sql.placeholder("address")))
      .prepare("agent"),
  );
  const [found] = await statement.execute({ address });
  if (found === undefined) throw unknownAgent(address);
  if (clusters !== undefined) keepCluster(clusters, found.cluster);
  return found.agent;
}

function unknownAgent(address: string): TallystickError {
  return new TallystickError({
    code: "unknown_agent",
    message: `${address} has published no listing, taken part in no counted hire and paid into no escrow.`,
  });
}

/** An agent's public fields (SHP §9.2), as buckets when one of its live listings asks for private metrics. */
export async function reputation(
  db: Database,
  clusters: ClusterLoader,
  address: string,
): Promise<ReputationResponse> {
  const [agent, [prices = []], asOf] = await Promise.all([
    agentOf(db, address, clusters),
    pricesOf(db, [address]),
    lastTick(db),
  ]);
  const fields = reputationOf(agent, await clusterOf(agent, clusters), prices);
  return { agent_id: address, ...fields, private_metrics: agent.privateListings > 0, as_of: asOf };
}

/** An agent's cluster and who else is in it (SHP §4.5.2). */
export async function cluster(
  db: Database,
  clusters: ClusterLoader,
  address: string,
  page: Page,
): Promise<ClusterResponse> {
  const agent = await agentOf(db, address, clusters);
  const found = await clusterOf(agent, clusters);
  const signals = agent.signalsTripped === "" ? [] : agent.signalsTripped.split(",");
  const own = { agent_id: address, signals_tripped: signals };
  if (found === null) {
    return { ...own, cluster_id: null, cluster_size: 1, co_members: [], next_cursor: null };
  }
  // The agent itself may be among them.
  const members = await membersOf(db, found, page, page.limit + 2);
  const others = members.filter(({ id }) => id !== address);
  const shown = others.slice(0, page.limit);
  const last = shown.at(-1);
  return {
    ...own,
    cluster_id: found.id,
    cluster_size: found.size,
    co_members: shown.map(({ id }) => id),
    next_cursor:
      others.length > page.limit && last
        ? writeCursor([last.registered_block, last.registered_log, last.id])
        : null,
  };
}

type Member = { id: string; registered_block: number; registered_log: number };

/**
 * Members of a cluster in the order of their registration. An agent's row names the cluster it joined first, so this reads
 * the first few of each cluster that was merged into this one.
 */
async function membersOf(
  db: Database,
  { id, kind }: Row<"cluster">,
  { cursor }: Page,
  limit: number,
): Promise<Member[]> {
  const { agent, cluster } = schema;
  const joined = kind === "ownership" ? agent.ownershipCluster : agent.fingerprintCluster;
  const [block, log, after] =
    cursor === undefined ? [-1, -1, ""] : readCursor(cursor, ["number", "number", "text"]);
  const { rows } = await db.execute<{ id: string; registered_block: string; registered_log: string }>(sql`
    WITH RECURSIVE merged AS (
      SELECT ${id}::text AS id
      UNION ALL SELECT c.id FROM ${cluster} c JOIN merged ON c.merged_into = merged.id
    )
    SELECT member.* FROM merged CROSS JOIN LATERAL (
      SELECT ${agent.id}, ${agent.registeredBlock}, ${agent.registeredLog} FROM ${agent}
      WHERE ${joined} = merged.id
        AND (${agent.registeredBlock}, ${agent.registeredLog}, ${agent.id}) > (${block}::bigint, ${log}::bigint, ${after})
      ORDER BY ${agent.registeredBlock}, ${agent.registeredLog}, ${agent.id} LIMIT ${limit}
    ) member
    ORDER BY registered_block, registered_log, id LIMIT ${limit}`);
  return rows.map((row) => ({
    id: row.id,
    registered_block: Number(row.registered_block),
    registered_log: Number(row.registered_log),
  }));
}

/** All listings an agent ever published, by capability and payment mode; retired ones too. */
export async function listings(db: Database, address: string, page: Page): Promise<ListingsResponse> {
  const { listing } = schema;
  const [after = ""] = page.cursor === undefined ? [] : readCursor(page.cursor, ["text"]);
  const [rows] = await Promise.all([
    db
      .select()
      .from(listing)
      .where(and(eq(listing.agent, address), gt(listing.id, String(after))))
      .orderBy(asc(listing.id))
      .limit(page.limit + 1),
    agentOf(db, address),
  ]);
  const shown = rows.slice(0, page.limit);
  const last = shown.at(-1);
  return {
    agent_id: address,
    listings: shown.map(listingJson),
    next_cursor: rows.length > page.limit && last ? writeCursor([last.id]) : null,
  };
}

/** The receipts an agent signed as the seller, the latest first, with what they counted as. */
export async function receipts(db: Database, address: string, page: Page): Promise<ReceiptsResponse> {
  const { receipt } = schema;
  const after = page.cursor === undefined ? undefined : readCursor(page.cursor, ["number", "text"]);
  const [rows] = await Promise.all([
    db
      .select()
      .from(receipt)
      .where(
        and(
          eq(receipt.agent, address),
          after && sql`(${receipt.time}, ${receipt.id}) < (${after[0]}::bigint, ${after[1]})`,
        ),
      )
      .orderBy(desc(receipt.time), desc(receipt.id))
      .limit(page.limit + 1),
    agentOf(db, address),
  ]);
  const shown = rows.slice(0, page.limit);
  const hires = await hiresById(
    db,
    shown.flatMap(({ hire }) => (hire === null ? [] : [hire])),
  );
  const last = shown.at(-1);
  return {
    agent_id: address,
    receipts: shown.map((row) => receiptJson(row, row.hire === null ? undefined : hires.get(row.hire))),
    next_cursor: rows.length > page.limit && last ? writeCursor([last.time, last.id]) : null,
  };
}

async function hiresById(db: Database, ids: string[]): Promise<Map<string, Row<"hire">>> {
  if (ids.length === 0) return new Map();
  const rows = await db.select().from(schema.hire).where(inArray(schema.hire.id, ids));
  return new Map(rows.map((row) => [row.id, row]));
}

function receiptJson(
  row: Row<"receipt">,
  hire: Row<"hire"> | undefined,
): ReceiptsResponse["receipts"][number] {
  return {
    receipt_hash: row.id,
    agent_id: row.agent,
    buyer: row.buyer,
    capability: row.capability,
    hire_id: row.hireId,
    tx_hash: row.txHash,
    log_index: row.logIndex,
    amount_usdc_atomic: row.amount.toString(),
    payee: row.payee,
    escrow_id: row.escrowId,
    completed_at: row.completedAt,
    time: row.time,
    verification: { all_passed: row.allPassed },
    latency_ms: row.latencyMs,
    buyer_signed: row.buyerSigned,
    status: row.status,
    hire:
      hire === undefined
        ? null
        : {
            id: hire.id,
            outcome: hire.outcome,
            evidence: hire.evidence,
            dispute: hire.dispute,
            dispute_source: hire.disputeSource,
            weight: Math.round(1e9 / hire.clusterSize) / 1e9,
            time: hire.time,
          },
  };
}
