import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { agentRow, updateAgent } from "./agentRow.ts";
import { base32 } from "./base32.ts";
import { joinParties } from "./parties.ts";
import { STATE_ID, type Step } from "./step.ts";
import type { Row } from "./tables.ts";

export type ClusterSignal = "funding_origin" | "deploy_batch" | "listing_fingerprint";

/**
 * Shared ownership and look-alike listings make clusters of their own, which never merge: a stranger's listing can be
 * copied by anybody, and that must not drag the stranger into a ring.
 */
export type ClusterKind = "ownership" | "fingerprint";

const columns = { ownership: "ownershipCluster", fingerprint: "fingerprintCluster" } as const;

/** The cluster of one kind that an address is in now, as its root row, or null. */
export async function clusterOf(
  step: Step,
  address: string,
  kind: ClusterKind,
): Promise<Row<"cluster"> | null> {
  const first = (await step.store.get("agent", address))?.[columns[kind]] ?? null;
  return first === null ? null : findRoot(step, first);
}

/** The size of the cluster that two addresses share, the larger if they share both kinds; 1 when they share none. */
export async function sharedClusterSize(step: Step, a: string, b: string): Promise<number> {
  let size = 1;
  for (const kind of ["ownership", "fingerprint"] as const) {
    const cluster = await clusterOf(step, a, kind);
    if (cluster === null || cluster.id !== (await clusterOf(step, b, kind))?.id) continue;
    size = Math.max(size, cluster.size);
  }
  return size;
}

/**
 * Puts agents into one cluster, with all that they were in before. The oldest id stays and the others resolve to it
 * (union–find with path compression); a new cluster is named after where it first tripped and with whom (SHP §4.5.2).
 */
export async function joinCluster(step: Step, members: string[], signal: ClusterSignal): Promise<void> {
  const kind: ClusterKind = signal === "listing_fingerprint" ? "fingerprint" : "ownership";
  const roots = new Map<string, Row<"cluster">>();
  const singles: string[] = [];
  for (const member of new Set(members)) {
    await addSignal(step, member, signal);
    const root = await clusterOf(step, member, kind);
    if (root === null) singles.push(member);
    else roots.set(root.id, root);
  }
  const [oldest, ...others] = [...roots.values()].sort((a, b) => a.ordinal - b.ordinal);
  if (oldest !== undefined && others.length === 0 && singles.length === 0) return;

  const root = oldest ?? (await createCluster(step, members, kind));
  let { size } = root;
  for (const other of others) {
    await step.store.update("cluster", other.id, { parent: root.id, mergedInto: root.id });
    step.touchedClusters.add(other.id);
    size += other.size;
  }
  for (const single of singles) await updateAgent(step, single, { [columns[kind]]: root.id });
  await step.store.update("cluster", root.id, { size: size + singles.length });
  step.touchedClusters.add(root.id);
  for (const member of members.slice(1)) await joinParties(step, members[0] ?? member, member);
}

async function createCluster(step: Step, members: string[], kind: ClusterKind): Promise<Row<"cluster">> {
  const ordinal = (await step.store.get("state", STATE_ID))?.clusters ?? 0;
  const id = clusterId(step, members, kind);
  const cluster: Row<"cluster"> = {
    id,
    kind,
    ordinal,
    parent: id,
    mergedInto: null,
    size: 0,
    block: step.at.block,
    time: step.at.time,
    touched: null,
  };
  await step.store.insert("cluster", cluster);
  await step.store.update("state", STATE_ID, { clusters: ordinal + 1 });
  return cluster;
}

/** `clst_` and 26 base32 characters of the SHA-256 of `[kind, block, log, seq, members in order]` as JSON. */
function clusterId(step: Step, members: string[], kind: ClusterKind): string {
  const { block, log, seq } = step.at;
  const name = JSON.stringify([kind, block, log, seq, [...new Set(members)].sort()]);
  return `clst_${base32(sha256(utf8ToBytes(name))).slice(0, 26)}`;
}

async function findRoot(step: Step, id: string): Promise<Row<"cluster">> {
  const path: string[] = [];
  let cluster = await clusterRow(step, id);
  while (cluster.parent !== cluster.id) {
    path.push(cluster.id);
    cluster = await clusterRow(step, cluster.parent);
  }
  // Shortened behind us, so that following it again takes one look-up; the last one points at the root already.
  for (const passed of path.slice(0, -1)) {
    await step.store.update("cluster", passed, { parent: cluster.id });
  }
  return cluster;
}

async function clusterRow(step: Step, id: string): Promise<Row<"cluster">> {
  const cluster = await step.store.get("cluster", id);
  if (cluster === null) throw new Error(`There is no cluster ${id}.`);
  return cluster;
}

async function addSignal(step: Step, address: string, signal: ClusterSignal): Promise<void> {
  const { signalsTripped } = await agentRow(step, address);
  const signals = new Set(signalsTripped === "" ? [] : signalsTripped.split(","));
  if (signals.has(signal)) return;
  await updateAgent(step, address, { signalsTripped: [...signals.add(signal)].sort().join(",") });
}
