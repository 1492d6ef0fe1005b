/** Derive a node's log again, and compare nodes: what a node says is believed only as far as its log gives it. */
export { compareNodes, type NodeComparison } from "./openLog/compareNodes.ts";
export { type DeriveInWorkerOptions, deriveInWorker } from "./openLog/deriveInWorker.ts";
export { type DeriveNodeOptions, deriveNode, type NodeDerivation } from "./openLog/deriveNode.ts";
export type { DerivedNode } from "./openLog/logWorker.ts";
export type { LogKeep, LogProgress } from "./openLog/nodeLog.ts";
