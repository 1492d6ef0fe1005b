import { sql } from "ponder";
import { tripsIn } from "tallystick-derive/clusters";
import { type LegKind, parseFundings } from "tallystick-derive/funding/legs";
import { PAGE as ITEMS_A_PAGE } from "tallystick-derive/lists";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { memberList, type WholeCluster } from "./clusters.ts";
import { readPage } from "./list.ts";
import { rowsById } from "./rowsById.ts";
import { transferValues } from "./transferValues.ts";

/** A transfer that funds its receiver, or is as large as one that does. */
export type GraphEdge = {
  from: string;
  to: string;
  block: number;
  time: number;
  log: number;
  kind: Exclude<LegKind, "presumed">;
  /** Atomic units; null where the node keeps no transfer of that place. */
  value: bigint | null;
};

/** A wallet of the graph; `depth` is how many transfers lead from it to a member, 0 for members. */
export type GraphNode = {
  address: string;
  depth: number;
  /** `hub`, `escrow` or null. */
  kind: string | null;
  agent: Row<"agent"> | null;
};

/** Agents that one funder's money put together. Of many members only the first are named. */
export type GraphSignal = {
  id: string;
  signal: string;
  funder: string;
  members: string[];
  memberCount: number;
  dropped: boolean;
};

export type ClusterGraph = {
  nodes: GraphNode[];
  edges: GraphEdge[];
  signals: GraphSignal[];
  /** False when a limit left something out. */
  isWhole: boolean;
};

/** What a graph has at most. A picture of more shows nothing, and a stranger decides how much money reaches a wallet. */
export const GRAPH_LIMITS = {
  members: 5_000,
  /** Wallets other than the members. */
  wallets: 5_000,
  edges: 20_000,
  /** Transfers into one wallet. */
  inbound: 100,
  signals: 5_000,
  /** Members named by one signal. */
  named: 100,
  /** Legs of a path: no signal rests on more (SHP §4.5.1). */
  depth: 3,
} as const;

/** No line of `wallet.fundings` is longer, with its end. */
const LEG_BYTES = 96;
/** An address and a comma. */
const NAME_BYTES = 43;

/**
 * A cluster with everything that its signals rest on: members, the wallets whose money reached them in at most three transfers, these
 * transfers, and the signals that were tripped. A few statements, however many members there are.
 *
 * @param most members, at most {@link GRAPH_LIMITS}
 */
export async function clusterGraph(
  db: Database,
  cluster: WholeCluster,
  most: number = GRAPH_LIMITS.members,
): Promise<ClusterGraph> {
  const size = Math.min(most, GRAPH_LIMITS.members);
  const members = await readPage({ db, batches: new Map() }, memberList(cluster), {
    size,
    backward: false,
    after: null,
  });
  const isOwnership = cluster.kind === "ownership";
  const agents = members.rows.map(({ row }) => row);
  const signals = isOwnership ? await signalsOf(db, cluster.parts) : { found: [], isWhole: true };
  const funding = isOwnership
    ? await fundingOf(
        db,
        agents.map(({ id }) => id),
      )
    : {
        depths: new Map<string, number>(),
        edges: [],
        isWhole: true,
        kinds: new Map<string, string | null>(),
      };
  const others = [...funding.depths.keys()];
  const known = new Map((await rowsById(db, "agent", others)).map((row) => [row.id, row]));
  const kindOf = (address: string) => funding.kinds.get(address) ?? null;
  return {
    nodes: [
      ...agents.map((agent) => ({ address: agent.id, depth: 0, kind: kindOf(agent.id), agent })),
      ...others.map((address) => ({
        address,
        depth: funding.depths.get(address) ?? 0,
        kind: kindOf(address),
        agent: known.get(address) ?? null,
      })),
    ],
    edges: funding.edges,
    signals: signals.found,
    isWhole: !members.more && funding.isWhole && signals.isWhole,
  };
}

/** The transfers that lead to wallets, level by level; nothing is looked for behind a hub or an escrow, which fund nobody. */
async function fundingOf(db: Database, members: readonly string[]) {
  const depths = new Map<string, number>();
  const kinds = new Map<string, string | null>();
  const edges: GraphEdge[] = [];
  const isMember = new Set(members);
  let isWhole = true;
  let level = [...members];
  for (let depth = 1; depth <= GRAPH_LIMITS.depth + 1 && level.length > 0; depth++) {
    const wallets = await walletsAt(db, level);
    const next = new Set<string>();
    for (const { id, kind, fundings } of wallets) {
      kinds.set(id, kind);
      // The last level is read for what its wallets are.
      if (depth > GRAPH_LIMITS.depth || (kind !== null && !isMember.has(id))) continue;
      const lines = parseFundings(fundings);
      if (lines.length > GRAPH_LIMITS.inbound) isWhole = false;
      for (const { kind: legKind, ...leg } of lines.slice(0, GRAPH_LIMITS.inbound)) {
        if (legKind === "presumed") continue;
        const isNew = !isMember.has(leg.from) && !depths.has(leg.from);
        if (edges.length >= GRAPH_LIMITS.edges || (isNew && depths.size >= GRAPH_LIMITS.wallets)) {
          isWhole = false;
          continue;
        }
        edges.push({ ...leg, to: id, kind: legKind, value: null });
        if (!isNew) continue;
        depths.set(leg.from, depth);
        next.add(leg.from);
      }
    }
    level = [...next];
  }
  edges.sort((a, b) => a.block - b.block || a.log - b.log || (a.to < b.to ? -1 : 1));
  const values = await transferValues(db, edges);
  for (const [n, edge] of edges.entries()) edge.value = values[n] ?? null;
  return { depths, edges, isWhole, kinds };
}

type Wallet = { id: string; kind: string | null; fundings: string };

/**
 * Wallets with the beginning of what funded them, what reached them before they were watched first. The text may end within a leg, but
 * only in one behind those that are looked at.
 */
async function walletsAt(db: Database, ids: readonly string[]): Promise<Wallet[]> {
  const { wallet, inflow } = schema;
  const bytes = sql.raw(String((GRAPH_LIMITS.inbound + 1) * LEG_BYTES));
  type Found = { id: string } & Record<"kind" | "told" | "live", string | null>;
  const { rows } = await db.execute<Found>(
    sql`SELECT asked.id, ${wallet.kind} AS kind, left(${inflow.fundings}, ${bytes}) AS told, left(${wallet.fundings}, ${bytes}) AS live
      FROM unnest(${sql.param([...ids])}::text[]) AS asked (id)
      LEFT JOIN ${wallet} ON ${wallet.id} = asked.id LEFT JOIN ${inflow} ON ${inflow.id} = asked.id`,
  );
  return rows.map(({ id, kind, told, live }) => ({
    id,
    kind,
    fundings: [told, live].filter((text) => text).join("\n"),
  }));
}

/** What put the members of a cluster together, and of all that was merged into it, in the order in which it came about. */
async function signalsOf(
  db: Database,
  parts: readonly string[],
): Promise<{ found: GraphSignal[]; isWhole: boolean }> {
  const { trip, list, listPage } = schema;
  const most = GRAPH_LIMITS.signals;
  const lists = parts.map(tripsIn);
  const pages = sql.raw(String(Math.ceil((most + 1) / ITEMS_A_PAGE)));
  const named = sql.raw(String(GRAPH_LIMITS.named * NAME_BYTES));
  type Found = Record<"id" | "signal" | "funder" | "members" | "length", string> & { dropped: boolean };
  const { rows } = await db.execute<Found>(sql`
    WITH lists AS (SELECT ${list.id} AS id, ${list.length} AS length, ${list.tail} AS tail FROM ${list}
      WHERE ${list.id} = ANY (${sql.param(lists)}::text[])),
    items AS (
      SELECT unnest(string_to_array(tail, E'\n')) AS item FROM lists WHERE tail <> ''
      UNION SELECT unnest(string_to_array(${listPage.items}, E'\n')) FROM lists
        CROSS JOIN generate_series(0, least(length / ${sql.raw(String(ITEMS_A_PAGE))}, ${pages}) - 1) AS page
        JOIN ${listPage} ON ${listPage.id} = lists.id || '/' || page),
    wanted AS (SELECT item FROM items ORDER BY item::bigint LIMIT ${sql.raw(String(most + 1))})
    SELECT ${trip.id}, ${trip.signal}, ${trip.funder}, ${trip.dropped}, left(${trip.members}, ${named}) AS members,
      length(${trip.members}) AS length
    FROM wanted JOIN ${trip} ON ${trip.id} = wanted.item ORDER BY ${trip.id}::bigint`);
  return {
    isWhole: rows.length <= most,
    found: rows.slice(0, most).map(({ id, signal, funder, members, length, dropped }) => ({
      id,
      signal,
      funder,
      members: members.split(",").filter((it) => it.length === 42),
      memberCount: Math.round((Number(length) + 1) / NAME_BYTES),
      dropped,
    })),
  };
}
