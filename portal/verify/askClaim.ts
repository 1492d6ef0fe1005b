import { asOfHeader } from "../node/asOf.ts";
import { NodeError } from "../node/nodeError.ts";
import { noteNodeState } from "../node/nodeStateStore.ts";
import { request } from "../node/request.ts";
import type { Claim } from "./verifyNode.ts";

/** How long to wait until a tick is final, and the interval for asking the node, in milliseconds. */
const [PATIENCE_MS, EVERY_MS] = [600_000, 3_000];

/** The most members that are asked for. Only the largest clusters have more. */
const MAX_MEMBERS = 100;

/** Asks the node for an agent's figures and cluster, both as of the same tick. */
export async function askClaim(address: string, signal: AbortSignal): Promise<Claim> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const [said, cluster] = await Promise.all([
      request(`/v1/agents/${address}/reputation`, { signal }),
      request(`/v1/agents/${address}/cluster?limit=${MAX_MEMBERS}`, { signal }),
    ]);
    const [asOf, other] = [said, cluster].map(({ headers }) => asOfHeader(headers.get("tallystick-as-of")));
    if (asOf === null || asOf === undefined)
      throw new NodeError({ code: "no_tick", message: "The node has not come to a tick yet." });
    const { as_of, ...figures } = said.json as { [name: string]: unknown; as_of?: { block?: unknown } };
    // With a tick between the two answers they belong to different states. Then both are asked for again.
    if (asOf.digest !== other?.digest || as_of?.block !== asOf.block) continue;
    noteNodeState({ asOf, at: Date.now() });
    const { co_members, next_cursor } = cluster.json as { co_members?: unknown; next_cursor?: unknown };
    const members = Array.isArray(co_members) ? co_members.filter((it) => typeof it === "string") : [];
    const isWhole = next_cursor === null || next_cursor === undefined;
    return { address, figures, coMembers: isWhole ? members : null, asOf };
  }
  throw new NodeError({
    code: "unsteady",
    message: "The node's answers are as of different ticks, time after time.",
    hint: "Try again in a moment.",
  });
}

/** Waits until the node's final log covers a block. Before that nothing of it can be verified. */
export async function untilFinal(block: number, signal: AbortSignal): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const { json } = await request(`/v1/digests?from=${block}&to=${block}&limit=1`, { signal });
    const { digests } = json as { digests?: unknown };
    if (Array.isArray(digests) && digests.length > 0) return;
    if (Date.now() > end) {
      throw new NodeError({
        code: "not_final",
        message: `Block ${block} did not become final within ten minutes.`,
        hint: "The node's chain may stand still.",
      });
    }
    await sleep(EVERY_MS, signal);
  }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", end);
      resolve();
    }, ms);
    signal.addEventListener("abort", end, { once: true });
  });
}
