import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { toBareHex } from "tallystick-protocol/hex";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { isLedgerHash } from "tallystick-protocol/ledger/entry";
import * as z from "zod";
import { readServiceAnswer } from "./readServiceAnswer.ts";
import { type Fetch, requestService } from "./requestService.ts";

/** What an agent may know for one task. */
export type ContextSlice = {
  slice: { [key: string]: unknown };
  /**
   * The hash of the ledger's last entry at that time. A proposal that is made from the slice names it as its
   * parent.
   */
  parentHash: string;
  /** SHA-256 of the slice's text, 64 hex digits. In the ledger it says what the agent worked with. */
  contextHash: string;
};

/**
 * The part of a state that a task needs: the named keys, and `core_logic` (swarm.at §6.2).
 *
 * @example contextSlice({ core_logic: "be kind", budget: 3, secret: 1 }, ["budget"]) // { core_logic, budget }
 */
export function contextSlice<State extends { [key: string]: unknown }>(
  state: State,
  keywords: readonly string[],
): Partial<State> {
  const wanted = new Set([...keywords, "core_logic"]);
  return Object.fromEntries(Object.entries(state).filter(([key]) => wanted.has(key))) as Partial<State>;
}

export type FetchContextSliceParameters = {
  /** The URL of the settlement service, or of the node in front of it. */
  baseUrl: string;
  /** The keys that the task needs, at most 64. */
  keywords?: readonly string[];
  fetch?: Fetch;
  /** Ends the wait. */
  signal?: AbortSignal;
};

const answerForm = z.object({
  slice: z.record(z.string(), z.unknown()),
  /** In a header of the answer. */
  parentHash: z.string().refine(isLedgerHash),
});

/**
 * Asks the service for a slice of its institutional rules and of the shared state, with the ledger's head at that
 * time.
 *
 * @throws ServiceError when the service refuses or cannot be reached, and `unreadable_answer`
 */
export async function fetchContextSlice(parameters: FetchContextSliceParameters): Promise<ContextSlice> {
  const { baseUrl, keywords = [], fetch, signal } = parameters;
  const query = new URLSearchParams({ keywords: keywords.join(",") });
  const { text, headers } = await requestService({ baseUrl, path: `/v1/context?${query}`, fetch, signal });
  const answer = { slice: tryForeignJson(text), parentHash: headers.get("x-parent-hash") };
  return { ...readServiceAnswer(answerForm, answer), contextHash: toBareHex(sha256(utf8ToBytes(text))) };
}
