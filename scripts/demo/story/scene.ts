import type { AgentRecords } from "../agentRecords.ts";
import type { DemoChain } from "../demoChain.ts";

/** What the acts of the story act with. */
export type Scene = {
  chain: DemoChain;
  records: AgentRecords;
  /** Waits until the contract holds at least this many entries of the ledger. */
  untilAnchored: (size: number) => Promise<void>;
};
