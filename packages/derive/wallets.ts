import { changeAgent, findAgent } from "./agentRow.ts";
import type { ApplyContext } from "./applyContext.ts";
import { emptyRow } from "./emptyRow.ts";
import type { OpenWallet } from "./openRows.ts";
import { isRelevant } from "./relevant/isRelevant.ts";
import { noteKind } from "./relevant/until.ts";
import { type Answer, after } from "./store.ts";
import type { Row } from "./tables.ts";

/** The wallet, or null. An event reads each wallet once: a transfer looks at its receiver many times. */
export function findWallet(context: ApplyContext, address: string): Answer<Row<"wallet"> | null> {
  return after(openWallet(context, address), ({ row }) => row);
}

/** Changes a wallet, which is there from its first change on. */
export function changeWallet(
  context: ApplyContext,
  address: string,
  change: Partial<Omit<Row<"wallet">, "id">>,
): Answer<Row<"wallet">> {
  return after(openWallet(context, address), (open) => {
    const row = { ...(open.row ?? newWallet(address)), ...change };
    open.row = row;
    return row;
  });
}

function newWallet(id: string): Row<"wallet"> {
  return { ...emptyRow("wallet"), id, fundings: "", origin: "" };
}

/** Writes the wallets that this event changed, each once. */
export async function saveWallets(context: ApplyContext): Promise<void> {
  for (const [address, { row, stored }] of context.wallets) {
    if (row === stored || row === null) continue;
    const { id: _, ...columns } = row;
    if (stored === null) await context.store.insert("wallet", row);
    else await context.store.update("wallet", address, columns);
  }
}

/** Hubs (exchanges, bridges, faucets) and escrows are never agents, fund nobody and hire nobody. */
export function isHubOrEscrow(context: ApplyContext, address: string): Answer<boolean> {
  return after(openWallet(context, address), ({ row }) => (row?.kind ?? null) !== null);
}

/** Notes what a wallet is. An escrow is one for good, whatever is published of it. */
export async function markWallet(
  context: ApplyContext,
  address: string,
  kind: "hub" | "escrow",
): Promise<void> {
  const known = (await findWallet(context, address))?.kind ?? null;
  if (known !== "escrow" && known !== kind) await changeKind(context, address, known, kind);
}

export async function unmarkHub(context: ApplyContext, address: string): Promise<void> {
  const known = (await findWallet(context, address))?.kind ?? null;
  if (known === "hub") await changeKind(context, address, known, null);
}

async function changeKind(
  context: ApplyContext,
  address: string,
  from: string | null,
  to: string | null,
): Promise<void> {
  if (isRelevant(context) && !context.isFirst) await noteKind(context, address, from);
  await changeWallet(context, address, { kind: to });
  if ((await findAgent(context, address)) !== null)
    await changeAgent(context, address, { isHub: to !== null });
}

function openWallet(context: ApplyContext, address: string): Answer<OpenWallet> {
  const known = context.wallets.get(address);
  if (known !== undefined) return known;
  return after(context.store.get("wallet", address), (row) => {
    const open = { row, stored: row };
    context.wallets.set(address, open);
    return open;
  });
}
