import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { base32 } from "tallystick-protocol/base32";
import { agentRow, findAgent, updateAgent } from "./agentRow.ts";
import type { ApplyContext } from "./applyContext.ts";
import { clearElevations, elevateWith } from "./audits/elevations.ts";
import { joinBuyerGroups, splitBuyerGroups } from "./buyerGroups.ts";
import { existingRow } from "./existingRow.ts";
import { append, itemsOf } from "./lists.ts";
import { forEachRow } from "./loadedRows.ts";
import { STATE_ID } from "./stateId.ts";
import type { Row } from "./tables.ts";

export type ClusterSignal = "funding_origin" | "deploy_batch" | "listing_fingerprint";

/**
 * Shared ownership and similar listings make separate clusters, which never merge. Anybody can copy a
 * stranger's listing, and that must not make the stranger look like an agent of the same owner.
 */
export type ClusterKind = "ownership" | "fingerprint";

const columns = { ownership: "ownershipCluster", fingerprint: "fingerprintCluster" } as const;

/** The cluster of one kind that an address is in now, as its root row, or null. */
export function clusterOf(context: ApplyContext, address: string, kind: ClusterKind): Row<"cluster"> | null {
  const first = findAgent(context, address)?.[columns[kind]] ?? null;
  return first === null ? null : findRoot(context, first);
}

/** The size of the cluster that two addresses share, the larger if they share both kinds; 1 when they share none. */
export function sharedClusterSize(context: ApplyContext, a: string, b: string): number {
  let size = 1;
  for (const kind of ["ownership", "fingerprint"] as const) {
    const cluster = clusterOf(context, a, kind);
    if (cluster === null || cluster.id !== clusterOf(context, b, kind)?.id) continue;
    size = Math.max(size, cluster.size);
  }
  return size;
}

/**
 * A signal that tripped, and the agents that it puts into one cluster. `funder` is the wallet whose money tripped the
 * signal. It is null if similar listings tripped it.
 */
export type Trip = { members: string[]; signal: ClusterSignal; funder: string | null };

/**
 * Puts agents into one cluster, with all members of their clusters. The oldest id stays and the others
 * resolve to it (union–find with path compression). The name of a new cluster comes from the position and the
 * members of the signal that tripped first (SHP §4.5.2).
 */
export function joinCluster(context: ApplyContext, trip: Trip): void {
  const members = [...new Set(trip.members)];
  const ordinal = existingRow(context.store, "state", STATE_ID).trips;
  context.store.update("state", STATE_ID, { trips: ordinal + 1 });
  const name = () => clusterId(context, members, kindOf(trip.signal));
  if (trip.funder !== null) keepTrip(context, ordinal, name(), { ...trip, members, funder: trip.funder });
  unite(context, members, trip.signal, { id: name, ordinal });
  const first = members[0] as string;
  forEachRow(members, (member) => joinBuyerGroups(context, first, member));
}

/** The id of the cluster that a group would start, and its place in the order of groups. */
type Birth = { id: () => string; ordinal: number };

function unite(context: ApplyContext, members: string[], signal: ClusterSignal, birth: Birth): void {
  const kind = kindOf(signal);
  const roots = new Map<string, Row<"cluster">>();
  const singles: string[] = [];
  forEachRow(members, (member) => {
    addSignal(context, member, signal);
    const root = clusterOf(context, member, kind);
    if (root === null) singles.push(member);
    else roots.set(root.id, root);
  });
  const [oldest, ...others] = [...roots.values()].sort((a, b) => a.ordinal - b.ordinal);
  const root = oldest ?? createCluster(context, kind, birth);
  let { size } = root;
  for (const other of others) {
    context.store.update("cluster", other.id, { parent: root.id, mergedInto: root.id });
    append(context.store, mergedInto(root.id), other.id);
    context.touchedClusters.add(other.id);
    elevateWith(context, root.id, other.id);
    size += other.size;
  }
  for (const single of singles) {
    updateAgent(context, single, { [columns[kind]]: root.id });
    elevateWith(context, root.id, single);
  }
  if (size + singles.length !== root.size) context.touchedClusters.add(root.id);
  context.store.update("cluster", root.id, { size: size + singles.length });
  if (kind === "ownership") append(context.store, tripsIn(root.id), String(birth.ordinal));
}

function createCluster(context: ApplyContext, kind: ClusterKind, birth: Birth): Row<"cluster"> {
  const { ordinal } = birth;
  const id = birth.id();
  const known = context.store.get("cluster", id);
  if (known !== null) return known;
  const { block, time } = context.at;
  const cluster = { id, kind, ordinal, parent: id, mergedInto: null, size: 0, block, time, touched: null };
  context.store.insert("cluster", cluster);
  return cluster;
}

function kindOf(signal: ClusterSignal): ClusterKind {
  return signal === "listing_fingerprint" ? "fingerprint" : "ownership";
}

/** `clst_` and 26 base32 characters of the SHA-256 of `[kind, block, log, seq, members in order]` as JSON. */
function clusterId(context: ApplyContext, members: string[], kind: ClusterKind): string {
  const { block, log, seq } = context.at;
  const name = JSON.stringify([kind, block, log, seq, [...members].sort()]);
  return `clst_${base32(sha256(utf8ToBytes(name))).slice(0, 26)}`;
}

function keepTrip(
  context: ApplyContext,
  ordinal: number,
  cluster: string,
  { members, signal, funder }: { members: string[]; signal: ClusterSignal; funder: string },
): void {
  const id = String(ordinal);
  context.store.insert("trip", {
    id,
    funder,
    signal,
    members: members.join(","),
    cluster,
    dropped: false,
  });
  append(context.store, tripsBy(funder), id);
}

/**
 * Called when a funder turned out to be a hub. Drops the signals that its money tripped. The clusters that
 * they helped to make are built again from the signals that remain.
 *
 * @returns the signals that remain in those clusters, in order, and all former members
 */
export function dropTrips(
  context: ApplyContext,
  funder: string,
): { left: Trip[]; members: ReadonlySet<string> } {
  const clusters = new Set<string>();
  forEachRow(itemsOf(context.store, tripsBy(funder)), (id) => {
    const trip = tripRow(context, id);
    if (trip.dropped) return;
    context.store.update("trip", id, { dropped: true });
    forEachRow(membersOf(trip), (member) => {
      const root = clusterOf(context, member, "ownership");
      if (root !== null) collectMerged(context, root.id, clusters);
    });
  });
  const { trips, members } = contentsOf(context, clusters);
  for (const cluster of clusters) {
    context.store.update("cluster", cluster, { parent: cluster, mergedInto: null, size: 0 });
    clearElevations(context, cluster);
    context.touchedClusters.add(cluster);
  }
  forEachRow(members, (member) => release(context, member));
  const joined = new Set<string>();
  for (const trip of trips) {
    const ordinal = Number(trip.id);
    const group = membersOf(trip);
    if (group.includes(trip.funder) && !joined.has(trip.funder)) {
      joined.add(trip.funder);
      // One by one: a call takes some 120,000 arguments at most, and a funder may have tripped more signals.
      for (const member of trippedBefore(context, trip.funder, ordinal)) group.push(member);
    }
    unite(context, group, trip.signal as ClusterSignal, { id: () => trip.cluster, ordinal });
  }
  splitBuyerGroups(context, members, (address) => clusterIdsOf(context, address));
  const left = trips.map((it) => ({
    members: membersOf(it),
    signal: it.signal as ClusterSignal,
    funder: it.funder,
  }));
  return { left, members };
}

/**
 * The tripped signals that made these clusters, in order, and all their members. The list of a cluster also
 * holds signals that were dropped before, or that are in another cluster now. Members in another cluster stay
 * there.
 */
function contentsOf(
  context: ApplyContext,
  clusters: ReadonlySet<string>,
): { trips: Row<"trip">[]; members: Set<string> } {
  const trips = new Map<number, Row<"trip">>();
  const members = new Set<string>();
  forEachRow(clusters, (cluster) =>
    forEachRow(itemsOf(context.store, tripsIn(cluster)), (id) => {
      if (trips.has(Number(id))) return;
      const trip = tripRow(context, id);
      forEachRow(membersOf(trip), (member) => {
        const root = clusterOf(context, member, "ownership");
        if (root === null || !clusters.has(root.id)) return;
        members.add(member);
        if (!trip.dropped) trips.set(Number(id), trip);
      });
    }),
  );
  return { trips: [...trips].sort(([a], [b]) => a - b).map(([, trip]) => trip), members };
}

/**
 * One member of each signal that a funder's money tripped before the funder itself joined a cluster. The signal by
 * which the funder joined names only one member of each cluster, so this function finds the members of the other
 * signals.
 */
function trippedBefore(context: ApplyContext, funder: string, ordinal: number): string[] {
  const members: string[] = [];
  const before = [...itemsOf(context.store, tripsBy(funder))].filter((id) => Number(id) < ordinal);
  forEachRow(before, (id) => {
    const trip = tripRow(context, id);
    if (!trip.dropped && trip.signal === "funding_origin") members.push(...membersOf(trip).slice(0, 1));
  });
  return members;
}

/**
 * Collects a cluster and all clusters that are merged into it now. A cluster that was merged once and is separate again
 * is not collected.
 */
function collectMerged(context: ApplyContext, root: string, into: Set<string>): void {
  for (let found = [root]; found.length > 0; ) {
    const level = new Set(found.filter((it) => !into.has(it)));
    for (const it of level) into.add(it);
    found = [];
    forEachRow(level, (it) =>
      forEachRow(itemsOf(context.store, mergedInto(it)), (merged) => {
        if (clusterRow(context, merged).mergedInto === it) found.push(merged);
      }),
    );
  }
}

function membersOf(trip: Row<"trip">): string[] {
  return trip.members.split(",");
}

/** Takes an agent out of its ownership cluster, with the signals that put it there. */
function release(context: ApplyContext, member: string): void {
  const { signalsTripped } = agentRow(context, member);
  const left = signalsTripped
    .split(",")
    .filter((it) => it !== "" && kindOf(it as ClusterSignal) === "fingerprint");
  updateAgent(context, member, { ownershipCluster: null, signalsTripped: left.join(",") });
}

function clusterIdsOf(context: ApplyContext, address: string): string[] {
  const clusters = [clusterOf(context, address, "ownership"), clusterOf(context, address, "fingerprint")];
  return clusters.flatMap((it) => (it === null ? [] : [it.id]));
}

function tripRow(context: ApplyContext, id: string): Row<"trip"> {
  return existingRow(context.store, "trip", id);
}

/** The list of all signals that a funder's money tripped. */
export function tripsBy(funder: string): string {
  return `tripsBy/${funder}`;
}

/** The list of all tripped signals that helped to make a cluster. */
export function tripsIn(cluster: string): string {
  return `tripsIn/${cluster}`;
}

function mergedInto(cluster: string): string {
  return `merged/${cluster}`;
}

function findRoot(context: ApplyContext, id: string): Row<"cluster"> {
  const path: string[] = [];
  let cluster = clusterRow(context, id);
  while (cluster.parent !== cluster.id) {
    path.push(cluster.id);
    cluster = clusterRow(context, cluster.parent);
  }
  // Makes every row of the path point at the root, so the next search takes one look-up. The last row points
  // at the root already.
  for (const passed of path.slice(0, -1)) {
    context.store.update("cluster", passed, { parent: cluster.id });
  }
  return cluster;
}

function clusterRow(context: ApplyContext, id: string): Row<"cluster"> {
  return existingRow(context.store, "cluster", id);
}

function addSignal(context: ApplyContext, address: string, signal: ClusterSignal): void {
  const { signalsTripped } = agentRow(context, address);
  const signals = new Set(signalsTripped === "" ? [] : signalsTripped.split(","));
  if (signals.has(signal)) return;
  updateAgent(context, address, { signalsTripped: [...signals.add(signal)].sort().join(",") });
}
