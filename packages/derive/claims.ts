import type { Claim } from "tallystick-protocol/records/claim";
import { findAgent, updateAgent } from "./agentRow.ts";
import type { ApplyContext } from "./applyContext.ts";

/**
 * An attestor's latest statement about who owns an agent. It waits if the agent is not registered yet (SHP §4.2).
 *
 * @param signed the id of the statement in `seenClaim`
 */
export function claimSettled(context: ApplyContext, hash: string, body: Claim, signed: string): void {
  context.store.insert("seenClaim", { id: signed });
  context.store.put("claim", { id: body.agent_id, xHandle: body.x_handle, status: body.state, hash });
  if (findAgent(context, body.agent_id) === null) return;
  updateAgent(context, body.agent_id, { claimStatus: body.state });
}
