import type { Hex } from "tallystick-protocol/hex";
import { ChainError } from "../errors.ts";
import { pause } from "../pause.ts";
import type { EscrowCalls, EscrowState } from "./escrowCalls.ts";

/** How often a call is attempted while its escrow is not known, and the milliseconds between two attempts. */
const MAX_TRIALS = 3;
const TRIAL_MS = 1_000;

/**
 * Attempts a call on an escrow: sends it, or tries it off the chain. Several nodes may answer at the address of one RPC, and
 * one that is behind refuses what it does not know yet. So a call that is refused for the escrow's status is attempted again
 * while the escrow may be in the right status, before its sender hears that it is refused.
 *
 * @param attempt throws a refusal as a ChainError
 * @param findEarlier called with the status after each refusal. Returns the result of the same call if it was made before
 */
export async function whenKnown<Result>(
  calls: Pick<EscrowCalls, "state">,
  id: Hex,
  attempt: () => Promise<Result>,
  findEarlier: (status: EscrowState["status"]) => Promise<Result | undefined> = async () => undefined,
): Promise<Result> {
  for (let trials = 1; ; trials++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ChainError) || error.reason !== "WrongStatus") throw error;
      const { status } = await calls.state(id);
      const earlier = await findEarlier(status);
      if (earlier !== undefined) return earlier;
      if (trials === MAX_TRIALS || (status !== "none" && status !== "held")) throw error;
      await pause(TRIAL_MS);
    }
  }
}
