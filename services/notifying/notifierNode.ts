import type { Address } from "tallystick-protocol/address";
import type { Notice } from "tallystick-protocol/notices/notice";

/** A step of a breach, as the node reports it once it is final. */
export type BreachStep = Omit<Notice, "id" | "subscription" | "buyer">;

/**
 * An active subscription. `since`: unix seconds, from when its buyer wants notices. `isConfirmed`: settlement knows
 * that the receiver at `url` agreed to get notices.
 */
export type Subscription = {
  id: string;
  buyer: Address;
  url: string;
  agents: readonly Address[];
  since: number;
  isConfirmed?: boolean | undefined;
};

/**
 * What the sender of notices asks a node. Every call throws ServiceError when the node does not answer as it should.
 */
export type NotifierNode = {
  /**
   * The steps of final blocks from a block on, in order. `steps` has all steps up to block `finalBlock`, and may have
   * some of later blocks. `time` is the time of the last tick that the node has read, in unix seconds; null before the
   * first tick.
   */
  stepsFrom: (
    block: number,
    signal: AbortSignal,
  ) => Promise<{ steps: BreachStep[]; finalBlock: number; time: number | null }>;
  /** @param confirmed subscriptions whose receivers agreed to get notices. Settlement may not know this yet */
  subscriptions: (
    signal: AbortSignal,
    confirmed?: readonly Pick<Subscription, "id" | "since">[],
  ) => Promise<Subscription[]>;
};
