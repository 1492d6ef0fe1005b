/** Derive a node's log again, and compare nodes. A node's answers are believed only if its log gives the same. */
export { compareNodes, type NodeComparison } from "./openLog/compareNodes.ts";
export { type DeriveInWorkerOptions, deriveInWorker } from "./openLog/deriveInWorker.ts";
export { type DeriveNodeOptions, deriveNode, type NodeDerivation } from "./openLog/deriveNode.ts";
export type { DerivedNode } from "./openLog/logWorker.ts";
export type { LogKeep, LogProgress } from "./openLog/nodeLog.ts";
