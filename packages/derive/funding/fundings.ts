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
  if (agent !== null) evaluateLegs(context, agent, [leg]);
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
  evaluateLegs(context, agentRow(context, agent), fundingsInto(context, agent));
}

/**
 * The most fundings of an agent that count at one event. Each wallet has few funders. But a path has three transfers,
 * so hundreds of paths could lead to an agent. Without a limit, each registration would store them all.
 */
const MAX_FUNDINGS = 64;

/** A funder of an agent, and the first of its shortest paths: its length and its first transfer. */
type Funding = { funder: string; time: number; length: number; first: Leg };

/**
 * F funded A if a chain of funding transfers, each later than the one before, leads from F to A. The time of
 * the funding is the time of the last transfer (SHP §4.5.1). If there are too many fundings, the nearest count: those
 * with the shortest paths, and of these the earliest.
 *
 * @param legs transfers into the agent, with which the paths end
 */
function evaluateLegs(context: ApplyContext, agent: Row<"agent">, legs: readonly Leg[]): void {
  const found = new Map<string, Funding>();
  for (const last of legs) collectFundings(context, { last, leg: last, length: 1 }, found);
  for (const [key, { funder }] of found) if (funder === agent.id) found.delete(key);
  const nearest = new Set(
    [...found.values()]
      .sort((a, b) => a.length - b.length || comparePlaces(a.first, b.first))
      .slice(0, MAX_FUNDINGS),
  );
  for (const it of found.values()) if (nearest.has(it)) recordFunding(context, it.funder, agent, it.time);
}

/** Adds the sender of `leg`, and of all funding transfers that led to it through wallets that were not agents then. */
function collectFundings(
  context: ApplyContext,
  { last, leg, length }: { last: Leg; leg: Leg; length: number },
  found: Map<string, Funding>,
): void {
  if (isRelevant(context) && hasSentTooMany(context, leg)) return;
  const key = `${leg.from} ${last.time}`;
  const known = found.get(key);
  const isNearer =
    known === undefined || length < known.length || (length === known.length && isBefore(leg, known.first));
  if (isNearer) found.set(key, { funder: leg.from, time: last.time, length, first: leg });
  if (length > context.params.maxIntermediaries || wasAgentAt(context, leg.from, leg)) return;
  if (isRelevant(context)) askInflow(context, leg.from, leg);
  for (const earlier of fundingsInto(context, leg.from)) {
    if (isBefore(earlier, leg)) collectFundings(context, { last, leg: earlier, length: length + 1 }, found);
  }
}

function comparePlaces(a: Leg, b: Leg): number {
  return a.block - b.block || a.log - b.log;
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
