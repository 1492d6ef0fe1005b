import type { AgentRecords } from "../agentRecords.ts";
import type { DemoChain } from "../demoChain.ts";
import type { DemoNode } from "../startDemoNode.ts";

/** What the acts of the story act with. */
export type Scene = {
  node: DemoNode;
  /** Ends the story. */
  signal: AbortSignal;
  chain: DemoChain;
  records: AgentRecords;
  /** Waits until the contract holds at least this many entries of the ledger. */
  untilAnchored: (size: number) => Promise<void>;
};
