import type { SettleResponse } from "@x402/core/types";

/** What is remembered of a payment whose settlement began. */
export type KeptPayment = {
  /** The name of the request that it pays for. */
  request: string;
  /**
   * The chain showed that the authorization was not used before. Otherwise a later look at the chain proves nothing.
   */
  wasUnused: boolean;
  /** How often a process began to settle it. */
  attempts: number;
  /** The number of answers that it got. */
  answers: number;
  /** How it was settled, as soon as somebody knows. */
  settled?: SettleResponse;
};

/**
 * Remembers payments for an hour, for all processes that sell the same insights. So a client that sends a payment again is
 * answered by any of them, also if the process that settled the payment is gone.
 */
export type PaymentStore = {
  read: (key: string) => Promise<KeptPayment | undefined>;
  /** Remembers a payment before it is settled, and counts the attempt. If it is known, its request stays. */
  begin: (key: string, payment: Pick<KeptPayment, "request" | "wasUnused">) => Promise<KeptPayment>;
  /** Remembers how a payment was settled. The first answer stays. */
  settle: (key: string, payment: KeptPayment, settled: SettleResponse) => Promise<void>;
  /** Counts an answer; false if the payment has got `most`. */
  countAnswer: (key: string, most: number) => Promise<boolean>;
  /** Forgets a payment that is not settled; with `attempts`, only if nobody else began to settle it. */
  forget: (key: string, attempts?: number) => Promise<void>;
};
