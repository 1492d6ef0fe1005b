import { type ProofBundle, parseProofBundle } from "tallystick-protocol/proof/proofBundle";
import { pause } from "../pause.ts";
import { requestService, ServiceError, type ServiceRequest } from "../requestService.ts";

/** How often a proof is asked for while the ledger's next checkpoint is not ready. */
const REQUESTS = 4;

/**
 * Gets the proof of a ledger's entry from a node. The proof is as the node tells it: the caller verifies it. The proof of a new
 * entry needs the next checkpoint. While that is not ready, the node is asked again, each second, three times at most.
 *
 * @param request.hash the entry's `current_hash`
 * @throws ServiceError `not_in_ledger`, or `checkpoint_pending` after the last request; ProofError for a malformed proof; the
 * signal's reason
 */
export async function requestBundle({
  hash,
  pauseMs = 1_000,
  ...service
}: Pick<ServiceRequest, "baseUrl" | "fetch" | "signal"> & {
  hash: string;
  /** The pause before the next request, in milliseconds. */
  pauseMs?: number;
}): Promise<ProofBundle> {
  for (let left = REQUESTS - 1; ; left--) {
    try {
      const path = `/v1/ledger/bundle?hash=${encodeURIComponent(hash)}`;
      return parseProofBundle((await requestService({ ...service, path })).text);
    } catch (error) {
      const isPending = error instanceof ServiceError && error.code === "checkpoint_pending";
      if (!isPending || left === 0) throw error;
    }
    await pause(pauseMs, { signal: service.signal });
  }
}
