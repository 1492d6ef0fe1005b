import type { ApplyContext } from "../applyContext.ts";
import { familyOf } from "./familyOf.ts";
import { cameThrough, memberAsSeller } from "./memberAsSeller.ts";

/**
 * The family of a wallet as a seller or an auditor, at this place. Null if it neither spent nor was registered,
 * because its largest inflow can still change.
 */
export function knownFamily(context: ApplyContext, wallet: string): string | null {
  const known = context.store.get("registeredMember", wallet);
  if (known !== null) return known.family;
  // An act at this same place counts too. A tick comes after all logs of its block.
  const log = context.at.log === null ? Number.MAX_SAFE_INTEGER : context.at.log + 1;
  return memberAsSeller(context, wallet, { block: context.at.block, log })?.family ?? null;
}

/**
 * Whether two wallets belong to the same family. All wallets in `deep`, whose founder is unknown, count as
 * one family.
 */
export function areSameFamily(context: ApplyContext, a: string, b: string): boolean {
  const family = knownFamily(context, a);
  return family !== null && family === knownFamily(context, b);
}

/**
 * Whether a buyer pays with money of a wallet's family, or with money that came through the wallet. A buyer
 * may have been registered before its money reached it, so this says more than `areSameFamily`.
 *
 * @param buyer a wallet that paid or deposited before this place
 */
export function isBehindBuyer(context: ApplyContext, buyer: string, who: string): boolean {
  const { block, log, time } = context.at;
  const member = familyOf(context, buyer, { block, log: log ?? Number.MAX_SAFE_INTEGER, time });
  return member.family === knownFamily(context, who) || cameThrough(context, member, who);
}

/** The families of some agents, as they are published with an assignment. */
export function familiesOf(context: ApplyContext, agents: readonly string[]): { [agent: string]: string } {
  const families: { [agent: string]: string } = {};
  for (const agent of agents) {
    const family = knownFamily(context, agent);
    if (family !== null) families[agent] = family;
  }
  return families;
}
