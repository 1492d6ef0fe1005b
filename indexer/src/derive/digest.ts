import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";
import canonicalize from "canonicalize";
import { agentRow, changeAgent } from "./agentRow.ts";
import { capabilitiesOf } from "./hires.ts";
import { append, itemsOf } from "./lists.ts";
import { type CapabilityPrice, digestFields } from "./reputation.ts";
import { STATE_ID } from "./stateId.ts";
import type { Step } from "./step.ts";
import type { Store } from "./store.ts";

/**
 * One hash over all agents and clusters, equal on every node. A leaf is the SHA-256 of the RFC 8785 bytes of
 * `[address, fields]`, or of `[id, merged into, size]` for a cluster. Leaves sit in a 16-ary tree by the SHA-256 of their key
 * (address or cluster id), each at the shortest prefix that it has to itself, so that a tick costs as much as the rows it
 * touched and one row's place has a short proof.
 *
 *     hash(leaf)  = SHA-256(0x00 ‖ SHA-256(key) ‖ leaf)
 *     hash(inner) = SHA-256(0x01 ‖ sixteen child hashes, 32 zero bytes for none)
 */
const NOTHING = "";
const EMPTY = "0".repeat(64);

/** Notes that a row has to be digested at the next tick. */
export async function noteTouched(step: Step): Promise<void> {
  const { ticks } = step.state;
  for (const id of step.touchedAgents) {
    const { touched } = await agentRow(step, id);
    if (touched === ticks) continue;
    await changeAgent(step, id, { touched: ticks });
    await append(step.store, touchedIn(ticks), `agent ${id}`);
  }
  for (const id of step.touchedClusters) {
    const cluster = await step.store.get("cluster", id);
    if (cluster?.touched === ticks) continue;
    await step.store.update("cluster", id, { touched: ticks });
    await append(step.store, touchedIn(ticks), `cluster ${id}`);
  }
}

/** Closes a tick: puts the rows touched since the last one into the tree and keeps the digest of this position. */
export async function digestTick(step: Step): Promise<void> {
  const { ticks } = step.state;
  const { block, time } = step.at;
  const leaves: Leaf[] = [];
  for await (const item of itemsOf(step.store, touchedIn(ticks))) {
    const [kind, id] = item.split(" ") as ["agent" | "cluster", string];
    leaves.push({ key: bytesToHex(sha256(utf8ToBytes(id))), leaf: await leafHash(step, kind, id) });
  }
  const root = await putLeaves(step.store, "", leaves);
  const digest = `0x${hashJson([root, step.params.version, block, time])}`;
  await step.store.insert("digest", {
    id: String(block).padStart(12, "0"),
    block,
    time,
    root,
    paramsVersion: step.params.version,
    digest,
  });
  await step.store.update("state", STATE_ID, { block, time, ticks: ticks + 1, root, digest });
}

async function leafHash(step: Step, kind: "agent" | "cluster", id: string): Promise<string> {
  if (kind === "agent")
    return hashJson([id, digestFields(await agentRow(step, id), await pricesOf(step, id))]);
  const cluster = await step.store.get("cluster", id);
  return hashJson([id, cluster?.mergedInto ?? null, cluster?.size ?? 0]);
}

async function pricesOf(step: Step, agent: string): Promise<CapabilityPrice[]> {
  const prices: CapabilityPrice[] = [];
  for await (const capability of itemsOf(step.store, capabilitiesOf(agent))) {
    const row = await step.store.get("capability", `${agent}/${capability}`);
    if (row !== null) prices.push(row);
  }
  return prices;
}

/** A leaf and the hash of its key, which says where it sits. */
type Leaf = { key: string; leaf: string };

/**
 * Puts leaves below the node at `prefix`, each node written once, and returns that node's new hash. A child of a node is
 * `""` for none, `L<key hash><leaf>` for a leaf alone below it, `N<hash>` for another inner node.
 */
async function putLeaves(store: Store, prefix: string, leaves: Leaf[]): Promise<string> {
  const children = await childrenAt(store, prefix);
  for (const [digit, group] of Map.groupBy(leaves, ({ key }) => key.charAt(prefix.length))) {
    const at = Number.parseInt(digit, 16);
    const child = children[at] ?? NOTHING;
    const alone = child.startsWith("L") ? [{ key: child.slice(1, 65), leaf: child.slice(65) }] : [];
    const all = [...alone.filter((it) => group.every(({ key }) => key !== it.key)), ...group];
    const [only] = all;
    if (child.startsWith("N") || all.length > 1 || only === undefined) {
      children[at] = `N${await putLeaves(store, prefix + digit, all)}`;
    } else {
      children[at] = `L${only.key}${only.leaf}`;
    }
  }
  await saveChildren(store, prefix, children);
  return hashOfChildren(children);
}

async function childrenAt(store: Store, prefix: string): Promise<string[]> {
  const row = await store.get("digestNode", nodeId(prefix));
  return row === null ? new Array<string>(16).fill(NOTHING) : row.children.split(",");
}

async function saveChildren(store: Store, prefix: string, children: string[]): Promise<void> {
  const id = nodeId(prefix);
  const text = children.join(",");
  if ((await store.get("digestNode", id)) === null) await store.insert("digestNode", { id, children: text });
  else await store.update("digestNode", id, { children: text });
}

function nodeId(prefix: string): string {
  return prefix === "" ? "root" : prefix;
}

function hashOfChildren(children: string[]): string {
  const hashes = children.map((child) => {
    if (child === NOTHING) return EMPTY;
    if (child.startsWith("N")) return child.slice(1);
    return bytesToHex(sha256(concatBytes(Uint8Array.of(0), hexToBytes(child.slice(1)))));
  });
  return bytesToHex(sha256(concatBytes(Uint8Array.of(1), hexToBytes(hashes.join("")))));
}

function hashJson(value: unknown): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalize(value) ?? "")));
}

function touchedIn(tick: number): string {
  return `touched/${tick}`;
}
