import { agentRow, changeAgent } from "./agentRow.ts";
import type { ApplyContext, DigestLeaf } from "./applyContext.ts";
import { capabilityAt } from "./capabilities.ts";
import type { CapabilityPrice } from "./fieldValues.ts";
import { append, itemsOf } from "./lists.ts";
import { forEachRow } from "./loadedRows.ts";
import { type DigestTree, treeOf } from "./notingRows.ts";
import { leafText } from "./reputationOf.ts";
import { type RowLeaf, rowLeaf } from "./rowLeaf.ts";
import { STATE_ID } from "./stateId.ts";
import type { Row } from "./tables.ts";

/**
 * The digest is one hash over everything that is published. It is equal on every node. A leaf is the SHA-256 of the RFC
 * 8785 bytes of `[address, fields]` for an agent, of `[id, merged into, size]` for a cluster, or of another published
 * row. Leaves are in a 16-ary tree. The SHA-256 of a leaf's key (address, cluster id, or table and id) decides its
 * place: the shortest prefix that no other leaf shares. So the cost of a tick depends only on the rows that it touched,
 * and the proof of one row is short.
 * Trust scores and SLAs have a tree of their own. So anyone can see that they change nothing in the tree of
 * reputation.
 *
 *     hash(leaf)  = SHA-256(0x00 ‖ SHA-256(key) ‖ leaf)
 *     hash(inner) = SHA-256(0x01 ‖ sixteen child hashes, 32 zero bytes for none)
 */
const NO_CHILD = "0".repeat(64);

/** Notes that the next tick has to put a row into the digest. */
export function noteTouched(context: ApplyContext): void {
  for (const id of context.touchedAgents) noteAgent(context, id);
  for (const id of context.touchedClusters) noteCluster(context, id);
  for (const id of context.touchedRows) append(context.store, touchedIn(context.state.ticks), `row ${id}`);
}

function noteAgent(context: ApplyContext, id: string): void {
  const { ticks } = context.state;
  if (agentRow(context, id).touched === ticks) return;
  changeAgent(context, id, { touched: ticks });
  append(context.store, touchedIn(ticks), `agent ${id}`);
}

function noteCluster(context: ApplyContext, id: string): void {
  const { ticks } = context.state;
  const cluster = context.store.get("cluster", id);
  if (cluster?.touched === ticks) return;
  context.store.update("cluster", id, { touched: ticks });
  append(context.store, touchedIn(ticks), `cluster ${id}`);
}

/** Finds the leaves of all rows that were touched since the last tick. */
export function findLeaves(context: ApplyContext): void {
  // A row of audits is on the list once for every event that touched it.
  const seen = new Set<string>();
  const texts = new Map<string, FoundLeaf>();
  forEachRow(itemsOf(context.store, touchedIn(context.state.ticks)), (item) => {
    if (seen.has(item)) return;
    seen.add(item);
    const found = leafOf(context, item);
    if (found === null || (item.startsWith("row") && seen.has(found.key))) return;
    seen.add(found.key);
    texts.set(item, found);
  });
  // An attempt that lacks a row ends above, so each leaf is hashed only once.
  for (const { key: name, text, table } of texts.values()) {
    const key = context.sha256Hex(name, "utf8");
    const leaf = context.sha256Hex(text, "utf8");
    const tree = table === undefined ? "shp" : treeOf(table);
    context.leaves.add({ tree, key, hash: context.sha256Hex(`00${key}${leaf}`, "hex") });
  }
}

/** Closes a tick: puts the leaves into their trees, and keeps the digest of this position. */
export function digestTick(context: ApplyContext): void {
  const { ticks } = context.state;
  const { block, time } = context.at;
  const newRoots = new Map<DigestTree, string>();
  forEachRow(
    context.state.registries ? TREES : TREES.filter(([tree]) => tree !== "identities"),
    ([tree, prefix]) => {
      const leaves = [...context.leaves].filter((leaf) => leaf.tree === tree);
      newRoots.set(tree, putLeaves(context, prefix, "", leaves));
    },
  );
  const root = newRoots.get("shp") ?? "";
  const stewardRoot = newRoots.get("steward") ?? "";
  const identityRoot = newRoots.get("identities") ?? null;
  const roots = [root, stewardRoot, ...(identityRoot === null ? [] : [identityRoot])];
  const text = JSON.stringify([...roots, context.params.version, block, time]);
  const digest = `0x${context.sha256Hex(text, "utf8")}`;
  context.store.insert("digest", {
    id: String(block).padStart(12, "0"),
    block,
    time,
    root,
    stewardRoot,
    identityRoot,
    paramsVersion: context.params.version,
    digest,
  });
  context.store.update("state", STATE_ID, {
    block,
    time,
    ticks: ticks + 1,
    root,
    stewardRoot,
    identityRoot: identityRoot ?? "",
    digest,
  });
}

function leafOf(context: ApplyContext, item: string): FoundLeaf | null {
  const space = item.indexOf(" ");
  const [kind, id] = [item.slice(0, space), item.slice(space + 1)];
  if (kind === "row") return rowLeaf(context, id);
  return { key: id, text: kind === "agent" ? agentText(context, id) : clusterText(context, id) };
}

function agentText(context: ApplyContext, id: string): string {
  const agent = agentRow(context, id);
  return leafText(agent, pricesOf(context, agent));
}

function clusterText(context: ApplyContext, id: string): string {
  const cluster = context.store.get("cluster", id);
  return JSON.stringify([id, cluster?.mergedInto ?? null, cluster?.size ?? 0]);
}

function pricesOf(context: ApplyContext, { id, capabilities }: Row<"agent">): CapabilityPrice[] {
  const prices: CapabilityPrice[] = [];
  forEachRow(Array(capabilities).keys(), (place) => prices.push(capabilityAt(context, id, place)));
  return prices;
}

/** The text of a leaf and its key. If the leaf is a row, also the row's table. */
type FoundLeaf = Omit<RowLeaf, "table"> & Partial<Pick<RowLeaf, "table">>;

type Leaf = Pick<DigestLeaf, "key" | "hash">;

/** The trees, and the prefix of the ids of their nodes. */
const TREES: readonly (readonly [DigestTree, string])[] = [
  ["shp", ""],
  ["steward", "s"],
  ["identities", "i"],
];

/**
 * Puts leaves below the node at `prefix` of a tree, writes each node once, and returns that node's new hash. A child of
 * a node is `""` for none, `L<key hash><hash>` for a single leaf below it, `N<hash>` for an inner node.
 */
function putLeaves(context: ApplyContext, tree: string, prefix: string, leaves: Leaf[]): string {
  const id = tree + (prefix === "" ? "root" : prefix);
  const row = context.store.get("digestNode", id);
  const children = row === null ? new Array<string>(16).fill("") : row.children.split(",");
  forEachRow(
    Map.groupBy(leaves, ({ key }) => key.charAt(prefix.length)),
    ([digit, group]) => {
      const at = Number.parseInt(digit, 16);
      const child = children[at] ?? "";
      const all = child.startsWith("L") ? withAlone(group, child.slice(1, 65), child.slice(65)) : group;
      const [only] = all;
      if (child.startsWith("N") || all.length > 1 || only === undefined) {
        children[at] = `N${putLeaves(context, tree, prefix + digit, all)}`;
      } else {
        children[at] = `L${only.key}${only.hash}`;
      }
    },
  );
  const text = children.join(",");
  if (row === null) context.store.insert("digestNode", { id, children: text });
  else context.store.update("digestNode", id, { children: text });
  return context.sha256Hex(`01${children.map((child) => child.slice(-64) || NO_CHILD).join("")}`, "hex");
}

/** The leaf that was alone below a child moves down with the others, unless one of them replaces it. */
function withAlone(group: Leaf[], key: string, hash: string): Leaf[] {
  return group.some((it) => it.key === key) ? group : [{ key, hash }, ...group];
}

function touchedIn(tick: number): string {
  return `touched/${tick}`;
}
