import { agentRow, findAgent } from "../agentRow.ts";
import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";
import { changeWallet, findWallet } from "../wallets.ts";
import { recordFunding } from "./trips.ts";

/** One leg of a funding path: a funding transfer into some wallet. */
export type Leg = { from: string; block: number; time: number; log: number };

/**
 * Whether a transfer of `value`, the latest of all that make up `received`, is large enough to fund its receiver: at least
 * `minFundingAtomic`, and at least `fundingShare` of all it ever received. So dust binds nobody, and every wallet has few
 * funders, which bounds the search below.
 */
export function isFundingSize(step: Step, value: bigint, received: bigint): boolean {
  const { minFundingAtomic, fundingShare } = step.params;
  return (
    value >= BigInt(minFundingAtomic) &&
    value * BigInt(fundingShare.denominator) >= received * BigInt(fundingShare.numerator)
  );
}

/**
 * Notes a funding transfer into `wallet` and, if that is an agent, evaluates the paths that end with it.
 *
 * @param payment the payment it is, if a receipt may still claim it: then it funds nobody from there on
 */
export async function addFundingTransfer(
  step: Step,
  wallet: string,
  leg: Leg,
  payment: string | null,
): Promise<void> {
  const fundings = (await findWallet(step, wallet))?.fundings ?? 0;
  await step.store.insert("funding", { id: `${wallet}/${fundings}`, ...leg, payment });
  await changeWallet(step, wallet, { fundings: fundings + 1 });
  const agent = await findAgent(step, wallet);
  if (agent !== null) await evaluateLeg(step, agent, leg);
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
  funders.add(leg.from);
  if (intermediaries === 0 || (await wasAgentAt(step, leg.from, leg))) return;
  for (const earlier of await fundingsInto(step, leg.from)) {
    if (isBefore(earlier, leg)) await collectFunders(step, earlier, intermediaries - 1, funders);
  }
}

async function fundingsInto(step: Step, wallet: string): Promise<Leg[]> {
  const count = (await findWallet(step, wallet))?.fundings ?? 0;
  const legs: Leg[] = [];
  for (let n = 0; n < count; n++) {
    const row: Row<"funding"> | null = await step.store.get("funding", `${wallet}/${n}`);
    if (row !== null && !(await paidForHire(step, row.payment))) legs.push(row);
  }
  return legs;
}

async function paidForHire(step: Step, payment: string | null): Promise<boolean> {
  if (payment === null) return false;
  return ((await step.store.get("payment", payment))?.receipt ?? null) !== null;
}

async function wasAgentAt(step: Step, address: string, leg: Leg): Promise<boolean> {
  const agent = await findAgent(step, address);
  return agent !== null && isBefore({ block: agent.registeredBlock, log: agent.registeredLog }, leg);
}

function isBefore(a: { block: number; log: number }, b: { block: number; log: number }): boolean {
  return a.block < b.block || (a.block === b.block && a.log < b.log);
}
