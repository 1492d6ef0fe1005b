import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { agentRow, updateAgent } from "./agentRow.ts";
import { base32 } from "./base32.ts";
import { mergeParties } from "./parties.ts";
import { STATE_ID, type Step } from "./step.ts";
import type { Row } from "./tables.ts";

export type ClusterSignal = "funding_origin";

/** The cluster an address is in now, as its root row, or null. */
export async function clusterOf(step: Step, address: string): Promise<Row<"cluster"> | null> {
  const agent = await step.store.get("agent", address);
  return agent === null || agent.cluster === null ? null : findRoot(step, agent.cluster);
}

/**
 * Puts agents into one cluster, with all that they were in before. The oldest id stays and the others resolve to it
 * (union–find with path compression); a new cluster is named after where it first tripped and with whom (SHP §4.5.2).
 */
export async function joinCluster(step: Step, members: string[], signal: ClusterSignal): Promise<void> {
  const roots = new Map<string, Row<"cluster">>();
  const singles: string[] = [];
  for (const member of new Set(members)) {
    await addSignal(step, member, signal);
    const root = await clusterOf(step, member);
    if (root === null) singles.push(member);
    else roots.set(root.id, root);
  }
  const [oldest, ...others] = [...roots.values()].sort((a, b) => a.ordinal - b.ordinal);
  if (oldest !== undefined && others.length === 0 && singles.length === 0) return;

  const root = oldest ?? (await createCluster(step, members));
  let { size, party } = root;
  for (const other of others) {
    await step.store.update("cluster", other.id, { parent: root.id, mergedInto: root.id });
    step.touchedClusters.add(other.id);
    size += other.size;
    party = await mergeParties(step, party, other.party);
  }
  for (const single of singles) {
    await updateAgent(step, single, { cluster: root.id });
    size += 1;
    party = await mergeParties(step, party, single);
  }
  await step.store.update("cluster", root.id, { size, party });
  step.touchedClusters.add(root.id);
}

async function createCluster(step: Step, members: string[]): Promise<Row<"cluster">> {
  const state = await step.store.get("state", STATE_ID);
  const ordinal = state?.clusters ?? 0;
  const id = clusterId(step, members);
  const cluster: Row<"cluster"> = {
    id,
    ordinal,
    parent: id,
    mergedInto: null,
    size: 0,
    party: id,
    block: step.at.block,
    time: step.at.time,
    touched: null,
  };
  await step.store.insert("cluster", cluster);
  await step.store.update("state", STATE_ID, { clusters: ordinal + 1 });
  return cluster;
}

/** `clst_` and 26 base32 characters of the SHA-256 of `[block, log, seq, members in order]` as JSON. */
function clusterId(step: Step, members: string[]): string {
  const { block, log, seq } = step.at;
  const name = JSON.stringify([block, log, seq, [...new Set(members)].sort()]);
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
