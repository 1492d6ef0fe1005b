import type { ApplyContext } from "tallystick-derive/applyContext";
import { noteDeclaration, noteInflow, noteLargest, noteSpent } from "tallystick-derive/families/inflows";
import type { How } from "tallystick-derive/families/origin";
import { isRelevant } from "tallystick-derive/relevant/isRelevant";
import { countTold } from "tallystick-derive/relevant/senders";
import type { Address } from "tallystick-protocol/address";
import { START } from "../eventLog.ts";

type At = [block: number, log: number];

const placeOf = ([block, log]: At) => ({ block, log, time: START + block });

/** Tells an inflow of a wallet, in the form of the context's log. */
export function fund(
  context: ApplyContext,
  to: string,
  from: string,
  value: number,
  at: At,
  how: How = "plain",
): void {
  const inflow = { from, value: BigInt(value), how, ...placeOf(at) };
  (isRelevant(context) ? noteLargest : noteInflow)(context, to, inflow);
}

/** Tells where a wallet first spent, in the form of the context's log. */
export function spend(context: ApplyContext, wallet: string, at: At): void {
  const place = placeOf(at);
  if (!isRelevant(context)) noteSpent(context, wallet, place);
  else
    countTold(context, { kind: "count", wallet: wallet as Address, side: "spent", transfers: 1, ...place });
}

/** Tells that a wallet was registered at a place. */
export function declare(context: ApplyContext, wallet: string, [block, log]: At): void {
  const at = { ...context.at, ...placeOf([block, log]) };
  noteDeclaration({ ...context, at }, wallet);
}
