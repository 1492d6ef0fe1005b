import { createPublicClient, http } from "viem";
import { config } from "../environment.ts";
import { fetchWithin } from "../fetchWithin.ts";

/** The longest time of one answer of the chain, to its last byte. */
const ANSWER_MS = 10_000;

/** A client that asks the chain each time. Ponder's own client answers from what it has kept. */
export function freshChain() {
  const limits = { retryCount: 0, timeout: ANSWER_MS, fetchFn: fetchWithin(ANSWER_MS) };
  return createPublicClient({ transport: http(config.rpcUrl, limits) });
}
