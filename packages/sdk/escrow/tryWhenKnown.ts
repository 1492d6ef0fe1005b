import type { Hex } from "tallystick-protocol/hex";
import { pause } from "../pause.ts";
import type { EscrowCalls } from "./escrowCalls.ts";
import type { TriedCall } from "./tryCall.ts";

/** How often an instruction is tried while its escrow is not known, and the milliseconds between two trials. */
export const MAX_TRIALS = 3;
export const TRIAL_MS = 1_000;

/**
 * Tries a call on an escrow off the chain. Several nodes may answer at the address of one RPC, and one that is behind does
 * not know the newest deposits. So a call on an escrow that is not settled is tried again, before its sender hears that it
 * is refused.
 */
export async function tryWhenKnown<Tried extends TriedCall>(
  calls: EscrowCalls,
  id: Hex,
  attempt: () => Promise<Tried>,
): Promise<Tried> {
  for (let trials = 1; ; trials++) {
    const tried = await attempt();
    if (tried.error !== "WrongStatus" || trials === MAX_TRIALS) return tried;
    const { status } = await calls.state(id);
    if (status !== "none" && status !== "held") return tried;
    await pause(TRIAL_MS);
  }
}
