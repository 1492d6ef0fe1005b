import type { AgentRecords } from "../agentRecords.ts";
import type { DemoChain } from "../demoChain.ts";
import type { DemoNode } from "../startDemoNode.ts";

/** The things that each chapter of the story uses. */
export type Scene = {
  node: DemoNode;
  /** Ends the story. */
  signal: AbortSignal;
  chain: DemoChain;
  records: AgentRecords;
  /** Waits until the contract holds at least this many entries of the ledger. */
  untilAnchored: (size: number) => Promise<void>;
};
