import { createHash } from "node:crypto";
import type { Cluster, Facts, Trip } from "./facts.ts";

/** Gives a trip its id, stores it after all earlier trips, and joins its members into one cluster. */
export function addTrip(facts: Facts, trip: Omit<Trip, "id" | "kind">): void {
  const kind = trip.funder === null ? "fingerprint" : "ownership";
  const named = { ...trip, kind, id: nameOf(facts, kind, trip.members) } as const;
  facts.trips.push(named);
  join(facts.clusters, named);
}

/**
 * Removes the trips of a funder that is now published as a hub, and the groups of agents that its money joined. The
 * other trips then form the clusters again.
 */
export function dropTrips(facts: Facts, isNewHub: (funder: string | null) => boolean): void {
  facts.groups = facts.groups.filter(({ funder }) => !isNewHub(funder));
  facts.trips = facts.trips.filter(({ funder }) => !isNewHub(funder));
  const before = facts.clusters;
  facts.clusters = [];
  for (const trip of facts.trips) join(facts.clusters, trip);
  // An id stays known, also if the cluster has no members any more.
  for (const { id, kind } of before) {
    if (facts.clusters.some((it) => it.id === id)) continue;
    facts.clusters.push({ id, kind, mergedInto: null, size: 0, members: new Set() });
  }
}

/** Follows the merges of a cluster to the last one. Returns the cluster itself if it was merged into no other. */
export function rootOf(cluster: Cluster): Cluster {
  return cluster.mergedInto === null ? cluster : rootOf(cluster.mergedInto);
}

/** The first cluster of one kind that an agent joined. */
export function firstCluster(facts: Facts, address: string, kind: Trip["kind"]): Cluster | null {
  return facts.clusters.find((it) => it.kind === kind && it.members.has(address)) ?? null;
}

/**
 * Joins the members of a trip into one cluster. When clusters merge, the oldest stays. The `members` of a cluster are
 * the agents that joined the cluster itself. Agents that joined a cluster which merged into it are not among them.
 */
function join(clusters: Cluster[], { id, kind, members }: Trip): void {
  const known = clusters.filter((it) => it.kind === kind && [...it.members].some((one) => members.has(one)));
  const roots = clusters.filter((it) => known.some((one) => rootOf(one) === it));
  const [oldest, ...others] = roots;
  const root = oldest ?? { id, kind, mergedInto: null, size: 0, members: new Set() };
  if (oldest === undefined) clusters.push(root);
  for (const other of others) {
    other.mergedInto = root;
    root.size += other.size;
  }
  for (const member of members) {
    if (known.some((it) => it.members.has(member))) continue;
    root.members.add(member);
    root.size += 1;
  }
}

/**
 * SHA-256 over a trip's kind, position and members, as 26 characters of Crockford's base 32: five bits each, from the
 * first bit on.
 */
function nameOf({ at }: Facts, kind: string, members: Set<string>): string {
  const text = JSON.stringify([kind, at.block, at.log, at.seq, [...members].sort()]);
  const bits = [...createHash("sha256").update(text).digest()]
    .map((byte) => byte.toString(2).padStart(8, "0"))
    .join("");
  const letters = Array.from({ length: 26 }, (_, n) => Number.parseInt(bits.slice(5 * n, 5 * n + 5), 2));
  return `clst_${letters.map((it) => "0123456789ABCDEFGHJKMNPQRSTVWXYZ"[it]).join("")}`;
}
