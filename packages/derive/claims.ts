import type { Claim } from "tallystick-protocol/records/claim";
import { findAgent, updateAgent } from "./agentRow.ts";
import type { ApplyContext } from "./applyContext.ts";

/** An attestor's latest statement about who owns an agent. It waits if the agent is not registered yet (SHP §4.2). */
export function claimSettled(context: ApplyContext, hash: string, body: Claim): void {
  const claim = { xHandle: body.x_handle, status: body.state, hash };
  if (context.store.get("claim", body.agent_id) === null) {
    context.store.insert("claim", { id: body.agent_id, ...claim });
  } else {
    context.store.update("claim", body.agent_id, claim);
  }
  if (findAgent(context, body.agent_id) === null) return;
  updateAgent(context, body.agent_id, { claimStatus: body.state });
}
