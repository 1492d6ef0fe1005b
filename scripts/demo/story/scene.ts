import type { AgentRecords } from "../agentRecords.ts";
import type { DemoChain } from "../demoChain.ts";
import type { DemoNode } from "../startDemoNode.ts";

/** What each chapter of the story works with. */
export type Scene = {
  node: DemoNode;
  /** Ends the story. */
  signal: AbortSignal;
  chain: DemoChain;
  records: AgentRecords;
  /** Waits until the contract holds at least this many entries of the ledger. */
  untilAnchored: (size: number) => Promise<void>;
};
