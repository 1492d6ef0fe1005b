import type { ApplyContext } from "../applyContext.ts";
import { buyerGroupOf } from "../buyerGroups.ts";
import { sharedClusterSize } from "../clusters.ts";
import { DEEP } from "../families/familyOf.ts";
import { cameThrough } from "../families/memberAsSeller.ts";
import type { Row } from "../tables.ts";
import { wasParty } from "./identities.ts";

/** Why a feedback counts as an identity's feedback on itself. */
export type SelfReason = "agent" | "owner" | "former" | "cluster" | "buyers" | "family";

/**
 * The reason why a client's feedback is an identity's feedback on itself, or null. The client is or was the identity's
 * wallet or owner, or it belongs to the agent. Former owners count too: an owner may move the token to a second wallet,
 * and then praise it from the first wallet.
 */
export function selfReason(
  context: ApplyContext,
  identity: Row<"identity">,
  client: string,
): SelfReason | null {
  if (client === identity.wallet) return "agent";
  if (client === identity.owner) return "owner";
  if (wasParty(context, identity.id, client)) return "former";
  return identity.wallet === null ? null : belongsTo(context, identity.wallet, client);
}

/**
 * The reason why a client belongs to an agent, or null: a shared cluster, a buyer group, or a funding family.
 */
export function belongsTo(context: ApplyContext, agent: string, client: string): SelfReason | null {
  if (sharedClusterSize(context, agent, client) > 1) return "cluster";
  if (buyerGroupOf(context, agent) === buyerGroupOf(context, client)) return "buyers";
  return shareFamily(context, agent, client) ? "family" : null;
}

/**
 * Whether a client is of the agent's own family, or pays with money of that family, or with money that came through
 * the agent. It only reads families that counted hires noted. To compute a family would also store it, and feedback on
 * identities must not change other rows. A family that another rule stored does not count: otherwise feedback would
 * depend on what audits asked before.
 */
function shareFamily(context: ApplyContext, agent: string, client: string): boolean {
  const family = ownMember(context, agent)?.family;
  if (family === undefined || family === DEEP) return false;
  const member = payingMember(context, client);
  if (member !== null && (member.family === family || cameThrough(context, member, agent))) return true;
  return family === ownMember(context, client)?.family;
}

/** The family of a wallet as a seller. If it sold nothing, the family whose money it pays with. */
function ownMember(
  context: ApplyContext,
  wallet: string,
): Row<"familyMember"> | Row<"registeredMember"> | null {
  const own = context.store.get("registeredMember", wallet);
  return own?.ofHire ? own : payingMember(context, wallet);
}

function payingMember({ store }: ApplyContext, wallet: string): Row<"familyMember"> | null {
  const member = store.get("familyMember", wallet);
  return member?.ofHire ? member : null;
}
