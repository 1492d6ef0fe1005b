import { reputationOf } from "tallystick-derive/reputationOf";
import type { Row } from "tallystick-derive/tables";
import { TallystickError } from "tallystick-protocol/errors";
import type { Database } from "../database.ts";
import { agentWithCluster } from "../rows/agents.ts";
import {
  type ClusterLoader,
  clusterOf,
  keepCluster,
  type MemberPlace,
  membersAfter,
} from "../rows/clusters.ts";
import { listingsOf } from "../rows/listings.ts";
import { pricesOf } from "../rows/prices.ts";
import { receiptsOf } from "../rows/receipts.ts";
import { rowsById } from "../rows/rowsById.ts";
import { lastTick } from "../rows/state.ts";
import { weightOf } from "../weightOf.ts";
import { cutPage, type Page, pageOf, readCursor } from "./cursor.ts";
import { listingJson } from "./listingJson.ts";
import type { ClusterResponse, ListingsResponse, ReceiptsResponse, ReputationResponse } from "./schemas.ts";

/**
 * The row of an agent.
 *
 * @param clusters keeps the agent's cluster for a later look-up
 * @throws TallystickError `unknown_agent`
 */
export async function agentOf(
  db: Database,
  address: string,
  clusters?: ClusterLoader,
): Promise<Row<"agent">> {
  const found = await agentWithCluster(db, address);
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

/**
 * An agent's public fields (SHP §9.2). When one of its live listings asks for private metrics, a field that has a
 * coarse form (`bucket` in `publishedFields.ts`) is given in that form. The other fields are exact.
 */
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

/** An agent's cluster and the other members (SHP §4.5.2). */
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
  // Two more members than the limit are read. One of them may be the agent itself, which is not shown. If more other
  // members than the limit remain, there is a next page.
  const after = page.cursor === undefined ? undefined : readCursor(page.cursor, ["number", "number", "text"]);
  const members = await membersAfter(db, found, after as MemberPlace | undefined, page.limit + 2);
  const others = members.filter(([, , id]) => id !== address);
  const { shown, next_cursor } = cutPage(others, page.limit, (place) => place);
  return {
    ...own,
    cluster_id: found.id,
    cluster_size: found.size,
    co_members: shown.map(([, , id]) => id),
    next_cursor,
  };
}

/** All listings that an agent ever published, also retired ones. They are sorted by capability and payment mode. */
export async function listings(db: Database, address: string, page: Page): Promise<ListingsResponse> {
  const [{ shown, next_cursor }] = await Promise.all([
    pageOf(db, listingsOf(address, "all"), page),
    agentOf(db, address),
  ]);
  return { agent_id: address, listings: shown.map(listingJson), next_cursor };
}

/** The receipts that an agent signed as the seller, the latest first, and how each counts. */
export async function receipts(db: Database, address: string, page: Page): Promise<ReceiptsResponse> {
  const [{ shown, next_cursor }] = await Promise.all([
    pageOf(db, receiptsOf(address), page),
    agentOf(db, address),
  ]);
  const ids = shown.flatMap(({ hire }) => (hire === null ? [] : [hire]));
  const hires = new Map((await rowsById(db, "hire", ids)).map((hire) => [hire.id, hire]));
  return {
    agent_id: address,
    receipts: shown.map((row) => receiptJson(row, row.hire === null ? undefined : hires.get(row.hire))),
    next_cursor,
  };
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
            weight: weightOf(hire),
            time: hire.time,
          },
  };
}
