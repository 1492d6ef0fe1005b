import type { OpenAPIHono } from "@hono/zod-openapi";
import { publishedField } from "tallystick-derive/reputationOf";
import type { Row } from "tallystick-derive/tables";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { formatUsdc } from "tallystick-protocol/amount";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { chargeSkipped } from "../charge.ts";
import type { Database } from "../database.ts";
import { figuresOf } from "../insights/figures.ts";
import { marketSeries } from "../insights/series.ts";
import { agentOf } from "../rest/agents.ts";
import { type Page, pageOf } from "../rest/cursor.ts";
import { type ClusterGraph, clusterGraph } from "../rows/clusterGraph.ts";
import { clusterList, clusterLoader, clusterParts } from "../rows/clusters.ts";
import { stepsOfEscrow } from "../rows/escrows.ts";
import { marketCounts, marketTotals } from "../rows/market.ts";
import { rowsById } from "../rows/rowsById.ts";
import { counterpartyList, offeredList } from "../rows/tallies.ts";
import * as routes from "./routes.ts";
import type * as schemas from "./schemas.ts";

/** The routes of this file that read rows. */
export const MARKET_PATHS = [
  "/v1/market",
  "/v1/capabilities",
  "/v1/clusters",
  "/v1/clusters/:id/graph",
  "/v1/escrows/:id",
];

/** Adds the routes of the market, of clusters and of escrows. */
export function serveMarket(app: OpenAPIHono, db: Database, insightsAreFree: boolean): void {
  app.openapi(routes.marketRoute, async (context) =>
    context.json(await market(db, context.req.valid("query").days), 200),
  );
  app.openapi(routes.capabilitiesRoute, async (context) => {
    const { order, ...page } = context.req.valid("query");
    // The cursors of this order would reveal figures that the operator sells.
    if (order === "hires" && !insightsAreFree)
      throw new InvalidInputError({
        issues: [{ field: "order", message: "must not be hires: this node sells insights" }],
      });
    const { shown, next_cursor } = await pageOf(db, offeredList(order), page);
    const capabilities = shown.map((row) => ({
      capability: row.capability,
      listings: row.listings,
      sellers: row.sellers,
      lowest_price_usdc: usdcOrNull(row.lowestPrice),
      median_price_usdc: usdcOrNull(row.medianPrice),
      window: insightsAreFree ? figuresOf(row) : null,
    }));
    return context.json({ capabilities, next_cursor }, 200);
  });
  app.openapi(routes.clustersRoute, async (context) => {
    const { order, ...page } = context.req.valid("query");
    const { shown, next_cursor } = await pageOf(db, clusterList({}, order), page);
    return context.json({ clusters: shown.map(clusterJson), next_cursor }, 200);
  });
  app.openapi(routes.graphRoute, async (context) => {
    const { id } = context.req.valid("param");
    return context.json(await graph(db, id, context.req.valid("query").members), 200);
  });
  app.openapi(routes.counterpartiesRoute, async (context) => {
    const { as, ...page } = context.req.valid("query");
    const { answer, skipped } = await counterparties(db, context.req.valid("param").id, as, page);
    // The page of a seller leaves no buyer out.
    if (as === "buyer") chargeSkipped(context.env, skipped);
    return context.json(answer, 200);
  });
  app.openapi(routes.escrowRoute, async (context) =>
    context.json(await escrow(db, context.req.valid("param").id), 200),
  );
}

async function market(db: Database, days: number): Promise<schemas.MarketResponse> {
  const [counts, { window, all }, series] = await Promise.all([
    marketCounts(db),
    marketTotals(db),
    marketSeries(db, days),
  ]);
  return {
    counts: {
      agents: counts.agents,
      sellers: counts.sellers,
      tier1_agents: counts.tier1Agents,
      tier2_agents: counts.tier2Agents,
      clustered_agents: counts.clusteredAgents,
      clusters: counts.clusters,
      listings: counts.listings,
      capabilities: counts.capabilities,
      ratings: counts.ratings,
      escrows_held: counts.escrowsHeld,
      held_usdc: formatUsdc(counts.heldAmount),
    },
    window: figuresOf(window),
    all_time: figuresOf(all),
    ...series,
  };
}

function clusterJson({ id, kind, size, block, time }: Row<"cluster">) {
  return { cluster_id: id, kind, size, formed_block: block, formed_time: time };
}

/** @throws TallystickError `unknown_cluster` */
async function graph(db: Database, id: string, members: number): Promise<schemas.GraphResponse> {
  const cluster = await clusterLoader(db).load(id);
  if (cluster === null)
    throw new TallystickError({ code: "unknown_cluster", message: `There is no cluster ${id}.` });
  const [parts = [cluster.id]] = await clusterParts(db, [cluster.id]);
  const found = await clusterGraph(db, { kind: cluster.kind, parts }, members);
  return { ...clusterJson(cluster), ...graphJson(found) };
}

function graphJson({ nodes, edges, signals, isWhole }: ClusterGraph) {
  return {
    nodes: nodes.map(({ address, depth, kind, agent }) => ({
      address,
      depth,
      kind,
      is_agent: agent !== null,
      trust_tier: agent && publishedField(agent, "trust_tier"),
      last_30d_hire_count: agent && publishedField(agent, "last_30d_hire_count"),
      last_30d_hire_count_raw: agent && publishedField(agent, "last_30d_hire_count_raw"),
    })),
    edges: edges.map(({ kind, value, from, to, block, time, log }) => ({
      ...{ from, to, block, time, log },
      amount_usdc: usdcOrNull(value),
      reason: kind === "paid" ? "paid_for_hire" : "funding",
    })),
    signals: signals.map(({ memberCount, ...signal }) => ({ ...signal, member_count: memberCount })),
    is_whole: isWhole,
  };
}

/** @throws TallystickError `unknown_agent` */
async function counterparties(
  db: Database,
  address: string,
  side: "seller" | "buyer",
  page: Page,
): Promise<{ answer: schemas.CounterpartiesResponse; skipped: number }> {
  const agent = await agentOf(db, address);
  const { shown, next_cursor, skipped } = await pageOf(db, counterpartyList(agent, side), page);
  const isSecret = side === "seller" && agent.privateListings > 0;
  const answer = {
    agent_id: address,
    counterparties: shown.map((pair) => ({
      agent_id: side === "seller" ? pair.buyer : pair.seller,
      figures: isSecret ? null : figuresOf(pair),
    })),
    next_cursor,
  };
  return { answer, skipped };
}

/** @throws TallystickError `unknown_escrow` */
async function escrow(db: Database, id: string): Promise<schemas.EscrowResponse> {
  const [[row], steps] = await Promise.all([rowsById(db, "escrow", [id]), stepsOfEscrow(db, id)]);
  if (row === undefined)
    throw new TallystickError({ code: "unknown_escrow", message: `No escrow ${id} is known here.` });
  return {
    escrow_id: row.id,
    contract: row.escrow,
    provider: row.provider,
    hire_id: row.hireId,
    buyer: row.buyer,
    seller: row.seller,
    payee: addressOrNull(row.payee) ?? row.seller,
    amount_usdc: formatUsdc(row.amount),
    fee_usdc: formatUsdc(row.fee),
    fee_recipient: addressOrNull(row.feeRecipient),
    arbiter: addressOrNull(row.arbiter),
    deadline: row.deadline,
    status: row.status,
    delivered: row.delivered,
    result_hash: row.resultHash,
    to_seller_usdc: usdcOrNull(row.toSeller),
    to_buyer_usdc: usdcOrNull(row.toBuyer),
    refunded_by: row.refundedBy,
    receipt_hash: row.receipt,
    steps: steps.map(({ kind, tx, block, time, log }) => ({ kind, tx, block, time, log })),
  };
}

const addressOrNull = (address: string) => (address === ZERO_ADDRESS ? null : address);
const usdcOrNull = (atomic: bigint | null) => (atomic === null ? null : formatUsdc(atomic));
