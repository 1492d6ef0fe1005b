import { bucketOf } from "./buckets.ts";
import type { CapabilityPrice } from "./fieldValues.ts";
import type { FieldSources } from "./publishedField.ts";
import { type FieldName, fieldNames, publishedFieldOf } from "./publishedFields.ts";
import type { Reputation } from "./reputation.ts";
import type { Row } from "./tables.ts";

/** Fields that depend on other rows than the agent's own and its prices. */
const OF_CLUSTER = ["cluster_id", "cluster_size"] as const;

/** Fields for which the agent's own row and its prices are enough. */
export type OwnField = Exclude<FieldName, (typeof OF_CLUSTER)[number]>;

/**
 * The fields of one agent, coarse when one of its live listings asks for private metrics.
 *
 * @param cluster the agent's cluster of shared ownership now, else its cluster of similar listings, else null
 * @param prices the agent's rows of `capability`; rows without hires in the window do not matter
 */
export function reputationOf(
  agent: Row<"agent">,
  cluster: FieldSources["cluster"],
  prices: CapabilityPrice[],
): Reputation {
  const from = { agent, cluster, prices };
  return Object.fromEntries(fieldNames.map((name) => [name, shown(name, from)])) as Reputation;
}

/** One field as {@link reputationOf} gives it, without computing the others. */
export function publishedField<F extends OwnField>(
  agent: Row<"agent">,
  field: F,
  prices: CapabilityPrice[] = [],
): Reputation[F] {
  return shown(field, { agent, prices, cluster: null }) as Reputation[F];
}

function shown(name: FieldName, from: FieldSources): Reputation[FieldName] {
  const { value, bucket } = publishedFieldOf(name);
  const exact = value(from);
  return bucket !== undefined && from.agent.privateListings > 0 ? bucketOf(bucket, exact) : exact;
}

type Leaf = (from: FieldSources) => unknown;

/** Each name as JSON, in the order of RFC 8785. */
const leaves: [name: string, value: Leaf][] = fieldNames
  .filter((name) => !OF_CLUSTER.some((it) => it === name))
  .map((name): [string, Leaf] => [name, publishedFieldOf(name).value])
  .concat([["first_clusters", ({ agent }) => [agent.ownershipCluster, agent.fingerprintCluster]]])
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([name, value]) => [JSON.stringify(name), value]);

/**
 * The RFC 8785 text of an agent's leaf in the digest, `[address, fields]`: its exact values, private or not. It does
 * not have the id and the size of the current cluster, but the ids of the clusters that the agent joined first. So a
 * merge does not touch every member. Clusters have leaves of their own.
 */
export function leafText(agent: Row<"agent">, prices: CapabilityPrice[]): string {
  const from = { agent, prices, cluster: null };
  let fields = "";
  for (const [name, value] of leaves) fields += `${fields === "" ? "" : ","}${name}:${json(value(from))}`;
  return `[${JSON.stringify(agent.id)},{${fields}}]`;
}

/** Most values are numbers, and every tick writes those of each agent that changed. */
function json(value: unknown): string {
  return Number.isSafeInteger(value) ? String(value) : JSON.stringify(value);
}
