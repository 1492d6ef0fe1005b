import type { Claim } from "tallystick-protocol/records/claim";
import { findAgent, updateAgent } from "./agentRow.ts";
import type { Step } from "./step.ts";

/** An attestor's latest word on who owns an agent; it waits for an agent that is not registered yet (SHP §4.2). */
export async function claimSettled(step: Step, hash: string, body: Claim): Promise<void> {
  const claim = { xHandle: body.x_handle, status: body.state, hash };
  if ((await step.store.get("claim", body.agent_id)) === null) {
    await step.store.insert("claim", { id: body.agent_id, ...claim });
  } else {
    await step.store.update("claim", body.agent_id, claim);
  }
  if ((await findAgent(step, body.agent_id)) === null) return;
  await updateAgent(step, body.agent_id, { claimStatus: body.state });
}
