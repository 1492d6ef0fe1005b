import { agentRow, findAgent } from "../agentRow.ts";
import { isBefore } from "../place.ts";
import { askInflow, inflowOf } from "../relevant/inflow.ts";
import { isRelevant } from "../relevant/isRelevant.ts";
import { hasSentTooMany } from "../relevant/senders.ts";
import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";
import { changeWallet, findWallet } from "../wallets.ts";
import { formatLeg, type Leg, type LegKind, parseFundings } from "./legs.ts";
import { recordFunding } from "./trips.ts";

const FUNDS: { [kind in LegKind]: boolean } = { plain: true, claimable: true, paid: false, presumed: false };

/**
 * Notes a funding transfer into `wallet` and, if that is an agent, evaluates the paths that end with it.
 *
 * @param claimable whether a receipt may still show that it paid for a hire: then it funds nobody from there on
 */
export async function addFundingTransfer(
  step: Step,
  wallet: string,
  leg: Leg,
  claimable: boolean,
): Promise<void> {
  await addLine(step, wallet, formatLeg(leg, claimable ? "claimable" : "plain"));
  const agent = await findAgent(step, wallet);
  if (agent !== null) await evaluateLeg(step, agent, leg);
}

/**
 * Notes that a transfer, large enough to fund its receiver, is presumed to pay for a hire.
 *
 * @returns what {@link presumptionEnds} is to be told
 */
export async function presumePayment(step: Step, wallet: string, leg: Leg): Promise<string> {
  const line = formatLeg(leg, "presumed");
  await addLine(step, wallet, line);
  return `${wallet} ${line}`;
}

/** No receipt claimed a presumed hire payment in time: it is plain from here on, whatever comes later. */
export async function presumptionEnds(step: Step, wallet: string, line: string): Promise<void> {
  const [leg] = parseFundings(line);
  if (leg === undefined || !(await changeLine(step, wallet, line, null))) return;
  await addFundingTransfer(step, wallet, leg, false);
}

/** A receipt shows that a transfer paid for a hire: it funds nobody from here on. */
export async function paidForHire(step: Step, payment: Leg & { to: string }): Promise<void> {
  const { to } = payment;
  if (await changeLine(step, to, formatLeg(payment, "presumed"), null)) return;
  await changeLine(step, to, formatLeg(payment, "claimable"), formatLeg(payment, "paid"));
}

async function addLine(step: Step, wallet: string, line: string): Promise<void> {
  const known = (await findWallet(step, wallet))?.fundings ?? "";
  await changeWallet(step, wallet, { fundings: known === "" ? line : `${known}\n${line}` });
}

/** Puts `to` in the place of a line, or takes it out; false when there is none. */
async function changeLine(step: Step, wallet: string, from: string, to: string | null): Promise<boolean> {
  const fundings = replaceLine((await findWallet(step, wallet))?.fundings, from, to);
  if (fundings !== null) {
    await changeWallet(step, wallet, { fundings });
    return true;
  }
  const told = isRelevant(step) ? replaceLine((await inflowOf(step, wallet))?.fundings, from, to) : null;
  if (told !== null) await step.store.update("inflow", wallet, { fundings: told });
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
export async function evaluateFundings(step: Step, agent: string): Promise<void> {
  const row = await agentRow(step, agent);
  for (const leg of await fundingsInto(step, agent)) await evaluateLeg(step, row, leg);
}

/** F funded A when funding transfers in increasing order lead from F to A; the time is that of the last (SHP §4.5.1). */
async function evaluateLeg(step: Step, agent: Row<"agent">, last: Leg): Promise<void> {
  const funders = new Set<string>();
  await collectFunders(step, last, step.params.maxIntermediaries, funders);
  funders.delete(agent.id);
  for (const funder of funders) await recordFunding(step, funder, agent, last.time);
}

/** The sender of `leg`, and of all funding transfers that led to it through wallets that were not agents then. */
async function collectFunders(
  step: Step,
  leg: Leg,
  intermediaries: number,
  funders: Set<string>,
): Promise<void> {
  if (isRelevant(step) && (await hasSentTooMany(step, leg))) return;
  funders.add(leg.from);
  if (intermediaries === 0 || (await wasAgentAt(step, leg.from, leg))) return;
  if (isRelevant(step)) await askInflow(step, leg.from, leg);
  for (const earlier of await fundingsInto(step, leg.from)) {
    if (isBefore(earlier, leg)) await collectFunders(step, earlier, intermediaries - 1, funders);
  }
}

async function fundingsInto(step: Step, wallet: string): Promise<Leg[]> {
  const told = isRelevant(step) ? ((await inflowOf(step, wallet))?.fundings ?? "") : "";
  const live = (await findWallet(step, wallet))?.fundings ?? "";
  return [...parseFundings(told), ...parseFundings(live)].filter(({ kind }) => FUNDS[kind]);
}

async function wasAgentAt(step: Step, address: string, leg: Leg): Promise<boolean> {
  const agent = await findAgent(step, address);
  return agent !== null && isBefore({ block: agent.registeredBlock, log: agent.registeredLog }, leg);
}
