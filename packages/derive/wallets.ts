import { changeAgent, findAgent } from "./agentRow.ts";
import { emptyRow } from "./emptyRow.ts";
import type { OpenWallet } from "./openRows.ts";
import { isRelevant } from "./relevant/isRelevant.ts";
import { noteKind } from "./relevant/until.ts";
import type { Step } from "./step.ts";
import { type Answer, after } from "./store.ts";
import type { Row } from "./tables.ts";

/** The wallet, or null. A step reads each wallet once: a transfer looks at its receiver over and over. */
export function findWallet(step: Step, address: string): Answer<Row<"wallet"> | null> {
  return after(openWallet(step, address), ({ row }) => row);
}

/** Changes a wallet, which is there from its first change on. */
export function changeWallet(
  step: Step,
  address: string,
  change: Partial<Omit<Row<"wallet">, "id">>,
): Answer<Row<"wallet">> {
  return after(openWallet(step, address), (open) => {
    const row = { ...(open.row ?? newWallet(address)), ...change };
    open.row = row;
    return row;
  });
}

function newWallet(id: string): Row<"wallet"> {
  return { ...emptyRow("wallet"), id, fundings: "", origin: "" };
}

/** Writes the wallets that this step changed, each once. */
export async function saveWallets(step: Step): Promise<void> {
  for (const [address, { row, stored }] of step.wallets) {
    if (row === stored || row === null) continue;
    const { id: _, ...columns } = row;
    if (stored === null) await step.store.insert("wallet", row);
    else await step.store.update("wallet", address, columns);
  }
}

/** Hubs (exchanges, bridges, faucets) and escrows are never agents, fund nobody and hire nobody. */
export function isHubOrEscrow(step: Step, address: string): Answer<boolean> {
  return after(openWallet(step, address), ({ row }) => (row?.kind ?? null) !== null);
}

/** Notes what a wallet is. An escrow is one for good, whatever is published of it. */
export async function markWallet(step: Step, address: string, kind: "hub" | "escrow"): Promise<void> {
  const known = (await findWallet(step, address))?.kind ?? null;
  if (known !== "escrow" && known !== kind) await changeKind(step, address, known, kind);
}

export async function unmarkHub(step: Step, address: string): Promise<void> {
  const known = (await findWallet(step, address))?.kind ?? null;
  if (known === "hub") await changeKind(step, address, known, null);
}

async function changeKind(
  step: Step,
  address: string,
  from: string | null,
  to: string | null,
): Promise<void> {
  if (isRelevant(step) && !step.isFirst) await noteKind(step, address, from);
  await changeWallet(step, address, { kind: to });
  if ((await findAgent(step, address)) !== null) await changeAgent(step, address, { isHub: to !== null });
}

function openWallet(step: Step, address: string): Answer<OpenWallet> {
  const known = step.wallets.get(address);
  if (known !== undefined) return known;
  return after(step.store.get("wallet", address), (row) => {
    const open = { row, stored: row };
    step.wallets.set(address, open);
    return open;
  });
}
