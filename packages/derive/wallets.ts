import { changeAgent, findAgent } from "./agentRow.ts";
import type { ApplyContext } from "./applyContext.ts";
import { emptyRow } from "./emptyRow.ts";
import type { OpenWallet } from "./openRows.ts";
import { isRelevant } from "./relevant/isRelevant.ts";
import { noteKind } from "./relevant/until.ts";
import type { Row } from "./tables.ts";

/** The wallet, or null. An event may use a wallet many times. Its row is read from the store only once. */
export function findWallet(context: ApplyContext, address: string): Row<"wallet"> | null {
  return openWallet(context, address).row;
}

/** The row of a wallet, for this event to change. A wallet without a row gets one. */
export function walletToChange(context: ApplyContext, address: string): Row<"wallet"> {
  const open = openWallet(context, address);
  // An event copies a row of the store once, before its first change. Its other changes go into the same copy.
  if (open.row === null) open.row = { ...EMPTY, id: address };
  else if (open.row === open.stored) open.row = { ...open.row };
  return open.row;
}

const EMPTY = { ...emptyRow("wallet"), fundings: "", origin: "", begun: "", reachedTail: "" };

/** Writes the rows of all wallets that this event changed. Each row is written once. */
export function saveWallets(context: ApplyContext): void {
  for (const { row, stored } of context.wallets.values()) {
    if (row !== stored && row !== null) context.store.put("wallet", row);
  }
}

/** Hubs (exchanges, bridges, faucets) and escrows never count as agents, as funders or as buyers. */
export function isHubOrEscrow(context: ApplyContext, address: string): boolean {
  return (openWallet(context, address).row?.kind ?? null) !== null;
}

/** Notes the kind of a wallet. An escrow always stays an escrow, even if somebody publishes it as a hub. */
export function markWallet(context: ApplyContext, address: string, kind: "hub" | "escrow"): void {
  const known = findWallet(context, address)?.kind ?? null;
  if (known !== "escrow" && known !== kind) changeKind(context, address, known, kind);
}

export function unmarkHub(context: ApplyContext, address: string): void {
  const known = findWallet(context, address)?.kind ?? null;
  if (known === "hub") changeKind(context, address, known, null);
}

function changeKind(context: ApplyContext, address: string, from: string | null, to: string | null): void {
  if (isRelevant(context) && !context.isFirst) noteKind(context, address, from);
  walletToChange(context, address).kind = to;
  if (findAgent(context, address) !== null) changeAgent(context, address, { isHub: to !== null });
}

function openWallet(context: ApplyContext, address: string): OpenWallet {
  const known = context.wallets.get(address);
  if (known !== undefined) return known;
  const row = context.store.get("wallet", address);
  const open = { row, stored: row };
  context.wallets.set(address, open);
  return open;
}
