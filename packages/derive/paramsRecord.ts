import type { Params } from "tallystick-protocol/records/params";
import type { ApplyContext } from "./applyContext.ts";
import { dropTrips } from "./clusters.ts";
import { forgetTrips, noteTakenBack, noteWidened, rememberTrips } from "./funding/trips.ts";
import { undampen } from "./hires.ts";
import { isRelevant } from "./relevant/isRelevant.ts";
import { noteParams } from "./relevant/until.ts";
import { STATE_ID } from "./stateId.ts";
import { markWallet, unmarkHub } from "./wallets.ts";

/**
 * Puts new parameters in force. What was fixed before stays, with one exception. If a wallet is published as a hub,
 * the signals that its money tripped are dropped. Hires that weighed less only because of these signals then weigh 1.
 */
export function paramsSettled(context: ApplyContext, params: Params): void {
  if (isRelevant(context)) noteParams(context);
  context.store.update("state", STATE_ID, {
    params: JSON.stringify(params),
    paramsVersion: params.version,
  });
  noteWidened(context, params);
  markRoots(context, params);
  const [before, hubs] = [hubsOf(context.params), hubsOf(params)];
  for (const hub of before) {
    if (hubs.includes(hub)) continue;
    unmarkHub(context, hub);
    noteTakenBack(context, hub);
  }
  const apart = new Set<string>();
  for (const hub of hubs) {
    if (before.includes(hub)) continue;
    const { left, members } = dropTrips(context, hub);
    for (const member of members) apart.add(member);
    rememberTrips(context, left);
    forgetTrips(context, hub);
  }
  undampen(context, apart);
}

/** Notes which wallets the parameters name as hubs and escrows. */
export function markRoots(context: ApplyContext, params: Params): void {
  for (const hub of hubsOf(params)) markWallet(context, hub, "hub");
  for (const escrow of Object.keys(params.escrows)) markWallet(context, escrow, "escrow");
}

/** The published hubs, and the pools that pay auditors: a pool funds nobody and buys nothing. */
function hubsOf({ hubs, audit }: Params): string[] {
  const pools = Object.values(audit.operators).map(({ pool }) => pool);
  return [...new Set<string>([...hubs, ...pools])];
}
