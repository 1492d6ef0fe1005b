import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { type Params, paramsSchema } from "tallystick-protocol/records/params";
import type { Place } from "../place.ts";
import type { Step } from "../step.ts";
import { isHubOrEscrow } from "../wallets.ts";
import { formerParams, paramsUntil, wasKindUntil } from "./until.ts";

/** The parameters that held at a place before now. */
export async function paramsAt(step: Step, place: Place): Promise<Params> {
  const text = await paramsUntil(step, place);
  return text === null ? step.params : parseParams(text);
}

/** The most that `hubTransfers` ever was: a transfer with so many before it funds nobody, wherever it stands. */
export async function mostHubTransfers(step: Step): Promise<number> {
  let most = step.params.hubTransfers;
  for await (const text of formerParams(step)) most = Math.max(most, parseParams(text).hubTransfers);
  return most;
}

/** Whether a transfer of the past was neither from the zero address, nor from or to what was a hub or an escrow then. */
export async function isOrdinaryAt(
  step: Step,
  { from, to, ...place }: Place & { from: string; to: string },
): Promise<boolean> {
  if (from === ZERO_ADDRESS) return false;
  return !(await wasHubOrEscrow(step, to, place)) && !(await wasHubOrEscrow(step, from, place));
}

async function wasHubOrEscrow(step: Step, wallet: string, place: Place): Promise<boolean> {
  return (await wasKindUntil(step, wallet, place)) ?? isHubOrEscrow(step, wallet);
}

/** Few parameters ever hold, and thousands of transfers are judged by them. */
const parseParams = (() => {
  const known = new Map<string, Params>();
  return (text: string): Params => {
    const params = known.get(text) ?? paramsSchema.parse(JSON.parse(text));
    if (known.size > 100) known.clear();
    known.set(text, params);
    return params;
  };
})();
