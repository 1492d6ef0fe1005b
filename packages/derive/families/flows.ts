import { schedule } from "../agenda.ts";
import { append, itemOf, itemsOf, listLength } from "../lists.ts";
import { watch } from "../relevant/inflow.ts";
import { isRelevant } from "../relevant/isRelevant.ts";
import { hasSentTooMany } from "../relevant/senders.ts";
import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";
import { changeWallet, findWallet } from "../wallets.ts";
import { accountOf, DEEP, familyOf } from "./familyOf.ts";
import { isOfSomebody, keepFlow, reached } from "./keptFlows.ts";
import { type Inflow, parseInflow } from "./origin.ts";

/**
 * A transfer of the size of a funding, into a wallet that bought something or into one before it: money that came back, if it is from
 * a seller's side. What reaches other wallets is kept until they are looked at so.
 */
export async function noteFlow(step: Step, wallet: string, inflow: Inflow): Promise<void> {
  if (inflow.value < BigInt(step.params.minFundingAtomic)) return;
  if ((await findWallet(step, wallet))?.traced === true) await addFlow(step, wallet, inflow);
  else await keepFlow(step, wallet, inflow);
}

/** From here on what reaches a buyer and all before it is looked at; what reached them in the window is now. */
export async function traceBuyer(step: Step, buyer: Row<"kin">): Promise<void> {
  if (buyer.family === DEEP) return;
  let kin: Row<"kin"> | null = buyer;
  while (kin !== null) {
    // Whatever is before a traced wallet is traced, too.
    if ((await findWallet(step, kin.id))?.traced === true) return;
    await changeWallet(step, kin.id, { traced: true });
    await watch(step, kin.id);
    await addReached(step, kin.id);
    kin = kin.parent === null ? null : await step.store.get("kin", kin.parent);
  }
}

/** A transfer leaves the window. */
export async function leaveFlow(step: Step, id: string, value: bigint): Promise<void> {
  await changeFlow(step, id, -value);
}

/** What came back from an account to a family, in the window. */
export async function flowOf({ store }: Step, account: string, family: string): Promise<bigint> {
  return (await store.get("flow", flowId(account, family)))?.value ?? 0n;
}

/** Tells of every pair of which more or less came back since the last tick. */
export async function eachChangedFlow(
  step: Step,
  tell: (account: string, family: string) => Promise<void>,
): Promise<void> {
  for await (const id of itemsOf(step.store, changedIn(step.state.ticks))) {
    const [account = "", family = ""] = id.split("/");
    await tell(account, family);
  }
}

async function addReached(step: Step, wallet: string): Promise<void> {
  const since = step.state.time - step.params.windowSeconds;
  for (let n = (await listLength(step.store, reached(wallet))) - 1; n >= 0; n--) {
    const inflow = parseInflow((await itemOf(step.store, reached(wallet), n)) ?? "");
    if (inflow.time <= since) return;
    await addFlow(step, wallet, inflow);
  }
}

async function addFlow(step: Step, wallet: string, inflow: Inflow): Promise<void> {
  const due = inflow.time + step.params.windowSeconds;
  if (!isOfSomebody(inflow) || due <= step.state.time) return;
  if (inflow.how === "plain" && isRelevant(step) && (await hasSentTooMany(step, inflow))) return;
  const receiver = await step.store.get("kin", wallet);
  if (receiver === null) throw new Error(`${wallet} is traced without a family.`);
  const account = accountOf(await familyOf(step, inflow.from, inflow));
  if (account === receiver.family) return;
  const id = flowId(account, receiver.family);
  await changeFlow(step, id, inflow.value);
  await schedule(step, due, "flow", `${id} ${inflow.value}`);
}

async function changeFlow(step: Step, id: string, by: bigint): Promise<void> {
  const { ticks } = step.state;
  const row = await step.store.get("flow", id);
  const change = { value: (row?.value ?? 0n) + by, touched: ticks };
  if (row === null) await step.store.insert("flow", { id, ...change });
  else await step.store.update("flow", id, change);
  if (row?.touched !== ticks) await append(step.store, changedIn(ticks), id);
}

function flowId(account: string, family: string): string {
  return `${account}/${family}`;
}

function changedIn(tick: number): string {
  return `flows/${tick}`;
}
