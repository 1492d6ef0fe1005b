import type { Address } from "tallystick-protocol/address";
import type { Notice } from "tallystick-protocol/notices/notice";

/** A step of a breach, as the node tells it once no reorganization takes it back. */
export type BreachStep = Omit<Notice, "id" | "subscription" | "buyer">;

/** A subscription that holds. `since`: unix seconds, from when on its buyer wants to know. */
export type Subscription = {
  id: string;
  buyer: Address;
  url: string;
  agents: readonly Address[];
  since: number;
};

/** What a sender of notices asks of a node. Every call throws ServiceError when the node does not answer as it should. */
export type NotifierNode = {
  /** The steps of final blocks from one on, in order, and the last block that is final. */
  stepsFrom: (block: number, signal: AbortSignal) => Promise<{ steps: BreachStep[]; finalBlock: number }>;
  subscriptions: (signal: AbortSignal) => Promise<Subscription[]>;
};
