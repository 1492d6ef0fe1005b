import { agentRow, findAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { flat } from "../flat.ts";
import { isBefore } from "../place.ts";
import { askInflow, inflowOf } from "../relevant/inflow.ts";
import { isRelevant } from "../relevant/isRelevant.ts";
import { hasSentTooMany } from "../relevant/senders.ts";
import type { Row } from "../tables.ts";
import { findWallet, walletToChange } from "../wallets.ts";
import { formatLeg, type Leg, type LegKind, parseFundings } from "./legs.ts";
import { recordFunding } from "./trips.ts";

const FUNDS: { [kind in LegKind]: boolean } = { plain: true, claimable: true, paid: false, presumed: false };

/**
 * Notes a funding transfer into `wallet`. If that wallet is an agent, evaluates the paths that end with the transfer.
 *
 * @param claimable whether a receipt may still show that the transfer paid for a hire. Such a transfer then stops
 * counting as funding
 */
export function addFundingTransfer(
  context: ApplyContext,
  wallet: string,
  leg: Leg,
  claimable: boolean,
): void {
  addLine(context, wallet, formatLeg(leg, claimable ? "claimable" : "plain"));
  const agent = findAgent(context, wallet);
  if (agent !== null) evaluateLeg(context, agent, leg);
}

/**
 * Notes that a transfer, large enough to fund its receiver, is presumed to pay for a hire.
 *
 * @returns the argument for {@link presumptionEnds}
 */
export function presumePayment(context: ApplyContext, wallet: string, leg: Leg): string {
  const line = formatLeg(leg, "presumed");
  addLine(context, wallet, line);
  return `${wallet} ${line}`;
}

/**
 * Called when no receipt claimed a presumed hire payment in time. From now on it counts as an ordinary
 * transfer, even if a receipt comes later.
 */
export function presumptionEnds(context: ApplyContext, wallet: string, line: string): void {
  const [leg] = parseFundings(line);
  if (leg === undefined || !changeLine(context, wallet, line, null)) return;
  addFundingTransfer(context, wallet, leg, false);
}

/** Called when a receipt shows that a transfer paid for a hire. From here on the transfer is no funding. */
export function paidForHire(context: ApplyContext, payment: Leg & { to: string }): void {
  const { to } = payment;
  if (changeLine(context, to, formatLeg(payment, "presumed"), null)) return;
  changeLine(context, to, formatLeg(payment, "claimable"), formatLeg(payment, "paid"));
}

function addLine(context: ApplyContext, wallet: string, line: string): void {
  const row = walletToChange(context, wallet);
  row.fundings = flat(row.fundings === "" ? line : `${row.fundings}\n${line}`);
}

/** Replaces a line by `to`, or removes it if `to` is null. False when there is no such line. */
function changeLine(context: ApplyContext, wallet: string, from: string, to: string | null): boolean {
  const fundings = replaceLine(findWallet(context, wallet)?.fundings, from, to);
  if (fundings !== null) {
    walletToChange(context, wallet).fundings = fundings;
    return true;
  }
  const told = isRelevant(context) ? replaceLine(inflowOf(context, wallet)?.fundings, from, to) : null;
  if (told !== null) context.store.update("inflow", wallet, { fundings: told });
  return told !== null;
}

function replaceLine(fundings: string | undefined, from: string, to: string | null): string | null {
  // The text of an agent's fundings is long, so it is searched and not taken apart.
  const text = `\n${fundings ?? ""}\n`;
  const at = text.indexOf(`\n${from}\n`);
  if (at < 0) return null;
  const parts = [text.slice(1, at), to ?? "", text.slice(at + from.length + 2, -1)];
  return parts.filter((it) => it !== "").join("\n");
}

/** Evaluates every funding transfer that an agent received, on its registration. */
export function evaluateFundings(context: ApplyContext, agent: string): void {
  const row = agentRow(context, agent);
  for (const leg of fundingsInto(context, agent)) evaluateLeg(context, row, leg);
}

/**
 * F funded A if a chain of funding transfers, each later than the one before, leads from F to A. The time of
 * the funding is the time of the last transfer (SHP §4.5.1).
 */
function evaluateLeg(context: ApplyContext, agent: Row<"agent">, last: Leg): void {
  const funders = new Set<string>();
  collectFunders(context, last, context.params.maxIntermediaries, funders);
  funders.delete(agent.id);
  for (const funder of funders) recordFunding(context, funder, agent, last.time);
}

/** The sender of `leg`, and of all funding transfers that led to it through wallets that were not agents then. */
function collectFunders(context: ApplyContext, leg: Leg, intermediaries: number, funders: Set<string>): void {
  if (isRelevant(context) && hasSentTooMany(context, leg)) return;
  funders.add(leg.from);
  if (intermediaries === 0 || wasAgentAt(context, leg.from, leg)) return;
  if (isRelevant(context)) askInflow(context, leg.from, leg);
  for (const earlier of fundingsInto(context, leg.from)) {
    if (isBefore(earlier, leg)) collectFunders(context, earlier, intermediaries - 1, funders);
  }
}

function fundingsInto(context: ApplyContext, wallet: string): Leg[] {
  const told = isRelevant(context) ? (inflowOf(context, wallet)?.fundings ?? "") : "";
  const live = findWallet(context, wallet)?.fundings ?? "";
  return [...parseFundings(told), ...parseFundings(live)].filter(({ kind }) => FUNDS[kind]);
}

function wasAgentAt(context: ApplyContext, address: string, leg: Leg): boolean {
  const agent = findAgent(context, address);
  return agent !== null && isBefore({ block: agent.registeredBlock, log: agent.registeredLog }, leg);
}
