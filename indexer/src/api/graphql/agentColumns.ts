import type { PgColumn } from "drizzle-orm/pg-core";
import type { FieldNode, GraphQLResolveInfo, SelectionSetNode } from "graphql";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../../ponder.schema.ts";

type Column = keyof Row<"agent">;

const cluster: Column[] = ["ownershipCluster", "fingerprintCluster"];

/** What the fields that lists are asked for most are told from. Any other may need the whole row. */
const COLUMNS: { [field: string]: Column[] } = {
  __typename: [],
  id: [],
  address: [],
  privateMetrics: [],
  registeredBlock: ["registeredBlock"],
  registeredTime: ["registeredTime"],
  trustTier: ["trustTier"],
  successRate: ["successWeight", "ratedWeight"],
  last30dHireCount: ["windowWeight"],
  last30dHireCountRaw: ["windowHires"],
  last24hVolumeUsdc: ["dayVolume"],
  avgLatencyMs: ["latencySum", "latencies"],
  avgLatencyMsP50: ["latencyP50"],
  avgLatencyMsP95: ["latencyP95"],
  avgLatencyMsP99: ["latencyP99"],
  totalRatings: ["totalRatings"],
  avgStars: ["avgStars"],
  claimStatus: ["claimStatus"],
  claimed: ["claimStatus"],
  distinctBuyers: ["distinctBuyers"],
  hiresBought: ["bought"],
  clusterId: cluster,
  clusterSize: cluster,
  cluster,
};

/**
 * The columns that a list of agents has to read for what is asked of its nodes; undefined: all. An agent has some fifty, and
 * reading them is most of what a long page costs.
 */
export function agentColumns(info: GraphQLResolveInfo): PgColumn[] | undefined {
  const wanted = new Set<Column>(["id", "privateListings"]);
  for (const field of nodeFields(info)) {
    const columns = Object.hasOwn(COLUMNS, field) ? COLUMNS[field] : undefined;
    if (columns === undefined) return undefined;
    for (const column of columns) wanted.add(column);
  }
  // In one order, so that queries for the same are one statement.
  return [...wanted].sort().map((column) => schema.agent[column]);
}

/** The names of all fields of a connection's nodes, be they under `nodes` or `edges`, and in fragments or not. */
function nodeFields(info: GraphQLResolveInfo): Set<string> {
  const of = (parents: FieldNode[], name?: string) => {
    const found: FieldNode[] = [];
    const seen = new Set<string>();
    const visit = ({ selections }: SelectionSetNode) => {
      for (const selection of selections) {
        if (selection.kind === "Field") {
          if (name === undefined || selection.name.value === name) found.push(selection);
        } else if (selection.kind === "InlineFragment") {
          visit(selection.selectionSet);
        } else if (!seen.has(selection.name.value)) {
          seen.add(selection.name.value);
          const fragment = info.fragments[selection.name.value];
          if (fragment !== undefined) visit(fragment.selectionSet);
        }
      }
    };
    for (const { selectionSet } of parents) if (selectionSet !== undefined) visit(selectionSet);
    return found;
  };
  const connection = [...info.fieldNodes];
  const nodes = [...of(connection, "nodes"), ...of(of(connection, "edges"), "node")];
  return new Set(of(nodes).map((field) => field.name.value));
}
