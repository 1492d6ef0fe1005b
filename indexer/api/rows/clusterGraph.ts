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

/** A transfer that funds its receiver, or that has the size of a funding transfer. */
export type GraphEdge = {
  from: string;
  to: string;
  block: number;
  time: number;
  log: number;
  kind: Exclude<LegKind, "presumed">;
  /** Atomic units; null if the node does not keep the transfer at that position. */
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

/** Agents that one funder's money put into one cluster. If they are many, `members` has only the first ones. */
export type GraphSignal = {
  id: string;
  signal: string;
  funder: string;
  members: string[];
  memberCount: number;
  /** Whether the signal was dropped, because its funder was published as a hub later. */
  dropped: boolean;
};

export type ClusterGraph = {
  nodes: GraphNode[];
  edges: GraphEdge[];
  signals: GraphSignal[];
  /** False when a limit left something out. */
  isWhole: boolean;
};

/**
 * The limits of a graph. A larger picture is not readable, and strangers decide how many transfers reach a
 * wallet.
 */
export const GRAPH_LIMITS = {
  members: 5_000,
  /** Wallets other than the members. */
  wallets: 5_000,
  edges: 20_000,
  /** Transfers into one wallet. */
  inbound: 100,
  signals: 5_000,
  /** Members that one signal names. */
  named: 100,
  /** Transfers in one path. No signal uses longer paths (SHP §4.5.1). */
  depth: 3,
} as const;

/** The longest line of `wallet.fundings`, with its line break. */
const LEG_BYTES = 96;
/** The bytes of an address and a comma. */
const NAME_BYTES = 43;

/**
 * A cluster with the evidence for its signals. It has the members, and the wallets whose money reached them in at
 * most three transfers. It also has these transfers, and the tripped signals. A cluster of similar listings has only
 * its members. The number of SQL statements does not grow with the members.
 *
 * @param most how many members are read at most. A number above the limit in {@link GRAPH_LIMITS} counts as this limit
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

/** The transfers that lead to wallets, level by level. The search stops at hubs and escrows, which fund nobody. */
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
      // The last level is read only to learn the kind of its wallets.
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
 * Wallets with the first transfers that funded them. Transfers from before a wallet was watched come first. Not all
 * are read if there are more than `GRAPH_LIMITS.inbound`, but always more than this number.
 */
async function walletsAt(db: Database, ids: readonly string[]): Promise<Wallet[]> {
  const { wallet, inflow } = schema;
  const most = (GRAPH_LIMITS.inbound + 1) * LEG_BYTES;
  const bytes = sql.raw(String(most));
  // A text of this length is probably cut inside its last line.
  const wholeLines = (text: string) => (text.length < most ? text : text.slice(0, text.lastIndexOf("\n")));
  type Found = { id: string } & Record<"kind" | "told" | "live", string | null>;
  const { rows } = await db.execute<Found>(
    sql`SELECT asked.id, ${wallet.kind} AS kind, left(${inflow.fundings}, ${bytes}) AS told, left(${wallet.fundings}, ${bytes}) AS live
      FROM unnest(${sql.param([...ids])}::text[]) AS asked (id)
      LEFT JOIN ${wallet} ON ${wallet.id} = asked.id LEFT JOIN ${inflow} ON ${inflow.id} = asked.id`,
  );
  return rows.map(({ id, kind, told, live }) => ({
    id,
    kind,
    fundings: [told ?? "", live ?? ""]
      .filter((text) => text !== "")
      .map(wholeLines)
      .join("\n"),
  }));
}

/**
 * The signals that made a cluster and all clusters that were merged into it, in the order in which they were
 * tripped.
 */
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
