import { AGENT, type AgentAnswer, explainedOf } from "../agent/agentQuery.ts";
import { FIGURES } from "../agent/figures.ts";
import { askGraphql } from "../node/askGraphql.ts";
import { type AsOf, asOfHeader } from "../node/asOf.ts";
import { NodeError } from "../node/nodeError.ts";
import { noteNodeState } from "../node/nodeStateStore.ts";
import { request } from "../node/request.ts";
import { MAX_MEMBERS } from "./maxMembers.ts";
import type { Claim } from "./verifyNode.ts";

/** How long to wait until a tick is final, and the interval for asking the node, in milliseconds. */
const [PATIENCE_MS, EVERY_MS] = [3_600_000, 3_000];

/** How long the end of a log may come from a cache, in milliseconds (docs/rest.md). */
const CACHED_MS = 5_000;

/** The most attempts to get all answers as of the same tick. */
const ATTEMPTS = 5;

/** Asks the node for an agent's figures and cluster, and for what the agent's page shows, all as of the same tick. */
export async function askClaim(address: string, signal: AbortSignal): Promise<Claim> {
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const [said, cluster, page] = await Promise.all([
      request(`/v1/agents/${address}/reputation`, { signal }),
      request(`/v1/agents/${address}/cluster?limit=${MAX_MEMBERS}`, { signal }),
      askShown(address, signal),
    ]);
    const [asOf, other] = [said, cluster].map(({ headers }) => asOfHeader(headers.get("tallystick-as-of")));
    if (asOf === null || asOf === undefined)
      throw new NodeError({ code: "no_tick", message: "The node has not come to a tick yet." });
    const { as_of, ...figures } = said.json as { [name: string]: unknown; as_of?: { block?: unknown } };
    // If a tick falls between the two answers, they belong to different states. Then both are asked for again.
    if (asOf.digest !== other?.digest || as_of?.block !== asOf.block) continue;
    const isSameTick = page.asOf?.digest === asOf.digest;
    if (!isSameTick && attempt < ATTEMPTS) continue;
    noteNodeState({ asOf, at: Date.now() });
    const { co_members, next_cursor } = cluster.json as { co_members?: unknown; next_cursor?: unknown };
    const members = Array.isArray(co_members) ? co_members.filter((it) => typeof it === "string") : [];
    const isWhole = next_cursor === null || next_cursor === undefined;
    const shown = isSameTick ? page.shown : null;
    return { address, figures, coMembers: isWhole ? members : null, asOf, shown };
  }
  throw new NodeError({
    code: "unsteady",
    message: "The node's answers are as of different ticks, again and again.",
    hint: "Try again in a moment.",
  });
}

/**
 * The figures that the agent's page shows, by their published names; null if the node does not give them. The query is
 * exactly that of the page, so that a node cannot see that it is being checked.
 */
async function askShown(
  address: string,
  signal: AbortSignal,
): Promise<{ shown: Claim["figures"] | null; asOf: AsOf | null }> {
  try {
    const { data, asOf } = await askGraphql<AgentAnswer>({ query: AGENT, variables: { address } }, signal);
    const { agent } = data;
    if (agent === null) return { shown: null, asOf };
    const values = FIGURES.map(({ field }) => [field.toLowerCase(), Object(explainedOf(agent, field)).value]);
    return { shown: { ...Object.fromEntries(values), trust_tier: agent.trustTier }, asOf };
  } catch (error) {
    if (!(error instanceof NodeError)) throw error;
    return { shown: null, asOf: null };
  }
}

/**
 * Waits until the node's final log has a tick from this block on, and no cache has an older end of the log. Before that,
 * nothing of this block can be verified.
 *
 * @throws NodeError `not_final` after an hour
 */
export async function untilFinal(block: number, signal: AbortSignal): Promise<void> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const { json } = await request(`/v1/digests?from=${block}&limit=1`, { signal });
    const { digests } = json as { digests?: unknown };
    if (Array.isArray(digests) && digests.length > 0) return await sleep(CACHED_MS, signal);
    if (Date.now() > end) {
      throw new NodeError({
        code: "not_final",
        message: `No tick from block ${block} on became final within an hour.`,
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
