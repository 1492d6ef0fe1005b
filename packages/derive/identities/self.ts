import type { ApplyContext } from "../applyContext.ts";
import { buyerGroupOf } from "../buyerGroups.ts";
import { sharedClusterSize } from "../clusters.ts";
import { DEEP } from "../families/familyOf.ts";
import type { Row } from "../tables.ts";
import { wasParty } from "./identities.ts";

/** Why a feedback is an identity's word for itself. */
export type SelfReason = "agent" | "owner" | "former" | "cluster" | "buyers" | "family";

/**
 * Whether a client speaks for an identity itself, where it gives its feedback: as its wallet, its owner, or who was one of these before (an
 * owner may hand the token to a wallet of its own, and praise it from the first); or as who belongs to the agent that it praises.
 */
export async function selfReason(
  context: ApplyContext,
  identity: Row<"identity">,
  client: string,
): Promise<SelfReason | null> {
  if (client === identity.wallet) return "agent";
  if (client === identity.owner) return "owner";
  if (await wasParty(context, identity.id, client)) return "former";
  return identity.wallet === null ? null : belongsTo(context, identity.wallet, client);
}

/** Whether a client belongs to an agent, as far as is known now: by a cluster, as one buyer, or by whose money both began with. */
export async function belongsTo(
  context: ApplyContext,
  agent: string,
  client: string,
): Promise<SelfReason | null> {
  if ((await sharedClusterSize(context, agent, client)) > 1) return "cluster";
  if ((await buyerGroupOf(context, agent)) === (await buyerGroupOf(context, client))) return "buyers";
  return (await shareFamily(context, agent, client)) ? "family" : null;
}

/** Families are only looked up: asking for one would fix it, and what is said of identities must change nothing. */
async function shareFamily({ store }: ApplyContext, a: string, b: string): Promise<boolean> {
  const family = (await store.get("kin", a))?.family;
  return family !== undefined && family !== DEEP && family === (await store.get("kin", b))?.family;
}
