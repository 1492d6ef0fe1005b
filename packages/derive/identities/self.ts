import type { ApplyContext } from "../applyContext.ts";
import { buyerGroupOf } from "../buyerGroups.ts";
import { sharedClusterSize } from "../clusters.ts";
import { DEEP } from "../families/familyOf.ts";
import type { Row } from "../tables.ts";
import { wasParty } from "./identities.ts";

/** Why a feedback counts as an identity's feedback on itself. */
export type SelfReason = "agent" | "owner" | "former" | "cluster" | "buyers" | "family";

/**
 * Whether a client gives feedback on itself: it is or was the identity's wallet or owner, or it belongs to
 * the agent. Former owners count too, because an owner may move the token to another of its wallets and
 * praise it from the first one.
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

/** Whether a client is known to belong to an agent: by a cluster, a buyer group, or a funding family. */
export async function belongsTo(
  context: ApplyContext,
  agent: string,
  client: string,
): Promise<SelfReason | null> {
  if ((await sharedClusterSize(context, agent, client)) > 1) return "cluster";
  if ((await buyerGroupOf(context, agent)) === (await buyerGroupOf(context, client))) return "buyers";
  return (await shareFamily(context, agent, client)) ? "family" : null;
}

/**
 * This only looks families up. Asking for a family fixes it, and feedback on identities must not change other
 * rows.
 */
async function shareFamily({ store }: ApplyContext, a: string, b: string): Promise<boolean> {
  const family = (await store.get("kin", a))?.family;
  return family !== undefined && family !== DEEP && family === (await store.get("kin", b))?.family;
}
