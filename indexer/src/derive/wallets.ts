import type { Step } from "./step.ts";
import type { Row } from "./tables.ts";

export async function ensureWallet(step: Step, address: string): Promise<Row<"wallet">> {
  const found = await step.store.get("wallet", address);
  if (found !== null) return found;
  const wallet: Row<"wallet"> = { id: address, kind: null, received: 0n, fundings: 0 };
  await step.store.insert("wallet", wallet);
  return wallet;
}

/** Hubs (exchanges, bridges, faucets) and escrows are never agents, fund nobody and hire nobody. */
export async function isHubOrEscrow(step: Step, address: string): Promise<boolean> {
  return ((await step.store.get("wallet", address))?.kind ?? null) !== null;
}

export async function markWallet(step: Step, address: string, kind: "hub" | "escrow"): Promise<void> {
  const wallet = await ensureWallet(step, address);
  if (wallet.kind === null) await step.store.update("wallet", address, { kind });
}

export async function unmarkHub(step: Step, address: string): Promise<void> {
  const wallet = await step.store.get("wallet", address);
  if (wallet?.kind === "hub") await step.store.update("wallet", address, { kind: null });
}
