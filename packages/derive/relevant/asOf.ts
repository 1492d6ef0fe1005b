import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { type Params, paramsSchema } from "tallystick-protocol/records/params";
import type { ApplyContext } from "../applyContext.ts";
import type { Place } from "../place.ts";
import { findWallet } from "../wallets.ts";
import { formerParams, kindUntil, paramsUntil } from "./until.ts";

/** The parameters that were in force at an earlier position. */
export function paramsAt(context: ApplyContext, place: Place): Params {
  const text = paramsUntil(context, place);
  return text === null ? context.params : parseParams(text);
}

/**
 * The highest `hubTransfers` of all parameters until now. After this many transfers of its sender, or to its receiver,
 * a transfer funds nobody under any of these parameters.
 */
export function mostHubTransfers(context: ApplyContext): number {
  let most = context.params.hubTransfers;
  for (const text of formerParams(context)) most = Math.max(most, parseParams(text).hubTransfers);
  return most;
}

/**
 * Whether an earlier transfer is plain: it does not come from the zero address, and neither side was a hub or
 * an escrow at that time.
 */
export function isOrdinaryAt(
  context: ApplyContext,
  { from, to, ...place }: Place & { from: string; to: string },
): boolean {
  if (from === ZERO_ADDRESS) return false;
  return kindAt(context, to, place) === null && kindAt(context, from, place) === null;
}

/** What a wallet was at an earlier position: `hub`, `escrow`, or null for neither. */
export function kindAt(context: ApplyContext, wallet: string, place: Place): string | null {
  const kind = kindUntil(context, wallet, place);
  return kind === undefined ? (findWallet(context, wallet)?.kind ?? null) : kind;
}

/**
 * Each version of the parameters is parsed once, because there are few versions and thousands of transfers to judge.
 */
const parseParams = (() => {
  const known = new Map<string, Params>();
  return (text: string): Params => {
    const params = known.get(text) ?? paramsSchema.parse(JSON.parse(text));
    if (known.size > 100) known.clear();
    known.set(text, params);
    return params;
  };
})();
