import { agentRow, findAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { isBefore } from "../place.ts";
import { askInflow, inflowOf } from "../relevant/inflow.ts";
import { isRelevant } from "../relevant/isRelevant.ts";
import { hasSentTooMany } from "../relevant/senders.ts";
import type { Row } from "../tables.ts";
import { changeWallet, findWallet } from "../wallets.ts";
import { formatLeg, type Leg, type LegKind, parseFundings } from "./legs.ts";
import { recordFunding } from "./trips.ts";

const FUNDS: { [kind in LegKind]: boolean } = { plain: true, claimable: true, paid: false, presumed: false };

/**
 * Notes a funding transfer into `wallet` and, if that is an agent, evaluates the paths that end with it.
 *
 * @param claimable whether a receipt may still show that it paid for a hire: then it funds nobody any more
 */
export async function addFundingTransfer(
  context: ApplyContext,
  wallet: string,
  leg: Leg,
  claimable: boolean,
): Promise<void> {
  await addLine(context, wallet, formatLeg(leg, claimable ? "claimable" : "plain"));
  const agent = await findAgent(context, wallet);
  if (agent !== null) await evaluateLeg(context, agent, leg);
}

/**
 * Notes that a transfer, large enough to fund its receiver, is presumed to pay for a hire.
 *
 * @returns the words for {@link presumptionEnds}
 */
export async function presumePayment(context: ApplyContext, wallet: string, leg: Leg): Promise<string> {
  const line = formatLeg(leg, "presumed");
  await addLine(context, wallet, line);
  return `${wallet} ${line}`;
}

/** No receipt claimed a presumed hire payment in time. It is plain from here on, whatever comes later. */
export async function presumptionEnds(context: ApplyContext, wallet: string, line: string): Promise<void> {
  const [leg] = parseFundings(line);
  if (leg === undefined || !(await changeLine(context, wallet, line, null))) return;
  await addFundingTransfer(context, wallet, leg, false);
}

/** A receipt shows that a transfer paid for a hire. It funds nobody from here on. */
export async function paidForHire(context: ApplyContext, payment: Leg & { to: string }): Promise<void> {
  const { to } = payment;
  if (await changeLine(context, to, formatLeg(payment, "presumed"), null)) return;
  await changeLine(context, to, formatLeg(payment, "claimable"), formatLeg(payment, "paid"));
}

async function addLine(context: ApplyContext, wallet: string, line: string): Promise<void> {
  const known = (await findWallet(context, wallet))?.fundings ?? "";
  await changeWallet(context, wallet, { fundings: known === "" ? line : `${known}\n${line}` });
}

/** Replaces a line by `to`, or removes it; false when there is none. */
async function changeLine(
  context: ApplyContext,
  wallet: string,
  from: string,
  to: string | null,
): Promise<boolean> {
  const fundings = replaceLine((await findWallet(context, wallet))?.fundings, from, to);
  if (fundings !== null) {
    await changeWallet(context, wallet, { fundings });
    return true;
  }
  const told = isRelevant(context)
    ? replaceLine((await inflowOf(context, wallet))?.fundings, from, to)
    : null;
  if (told !== null) await context.store.update("inflow", wallet, { fundings: told });
  return told !== null;
}

function replaceLine(fundings: string | undefined, from: string, to: string | null): string | null {
  const lines = fundings?.split("\n") ?? [];
  const at = lines.indexOf(from);
  if (at < 0) return null;
  lines.splice(at, 1, ...(to === null ? [] : [to]));
  return lines.join("\n");
}

/** Evaluates every funding transfer that an agent received, on its registration. */
export async function evaluateFundings(context: ApplyContext, agent: string): Promise<void> {
  const row = await agentRow(context, agent);
  for (const leg of await fundingsInto(context, agent)) await evaluateLeg(context, row, leg);
}

/** F funded A when funding transfers in increasing order lead from F to A; the time is that of the last (SHP §4.5.1). */
async function evaluateLeg(context: ApplyContext, agent: Row<"agent">, last: Leg): Promise<void> {
  const funders = new Set<string>();
  await collectFunders(context, last, context.params.maxIntermediaries, funders);
  funders.delete(agent.id);
  for (const funder of funders) await recordFunding(context, funder, agent, last.time);
}

/** The sender of `leg`, and of all funding transfers that led to it through wallets that were not agents then. */
async function collectFunders(
  context: ApplyContext,
  leg: Leg,
  intermediaries: number,
  funders: Set<string>,
): Promise<void> {
  if (isRelevant(context) && (await hasSentTooMany(context, leg))) return;
  funders.add(leg.from);
  if (intermediaries === 0 || (await wasAgentAt(context, leg.from, leg))) return;
  if (isRelevant(context)) await askInflow(context, leg.from, leg);
  for (const earlier of await fundingsInto(context, leg.from)) {
    if (isBefore(earlier, leg)) await collectFunders(context, earlier, intermediaries - 1, funders);
  }
}

async function fundingsInto(context: ApplyContext, wallet: string): Promise<Leg[]> {
  const told = isRelevant(context) ? ((await inflowOf(context, wallet))?.fundings ?? "") : "";
  const live = (await findWallet(context, wallet))?.fundings ?? "";
  return [...parseFundings(told), ...parseFundings(live)].filter(({ kind }) => FUNDS[kind]);
}

async function wasAgentAt(context: ApplyContext, address: string, leg: Leg): Promise<boolean> {
  const agent = await findAgent(context, address);
  return agent !== null && isBefore({ block: agent.registeredBlock, log: agent.registeredLog }, leg);
}
