import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import { type EscrowTerms, idOf } from "./termsOf.ts";

const KEY = "tallystick-escrow-terms";
const MAX_KEPT = 20;

type Kept = { id: Hex; chainId: number; escrow: Hex; hire: { [field: string]: string } };

/**
 * Stores terms that the reader signed in this browser, so that the page can show the escrow before the node
 * knows it.
 */
export function keepTerms({ id, hire, deployment }: EscrowTerms): void {
  const texts = Object.fromEntries(Object.entries(hire).map(([name, value]) => [name, String(value)]));
  const kept: Kept = { id, chainId: deployment.chainId, escrow: deployment.escrow, hire: texts };
  try {
    localStorage.setItem(
      KEY,
      JSON.stringify([...read().filter((it) => it.id !== id), kept].slice(-MAX_KEPT)),
    );
  } catch {
    // A browser may refuse storage. Then the page shows the terms as soon as the node has read the deposit.
  }
}

/** The stored terms of an escrow; null if there are none, or if they give another id. */
export function keptTerms(id: Hex): EscrowTerms | null {
  const kept = read().find((it) => it.id === id);
  if (kept === undefined) return null;
  try {
    const { amount = "", fee = "", deadline = "", ...texts } = kept.hire;
    const numbers = { amount: BigInt(amount), fee: BigInt(fee), deadline: BigInt(deadline) };
    const hire = { ...texts, ...numbers } as unknown as Hire;
    const deployment = { chainId: kept.chainId, escrow: kept.escrow };
    return idOf(hire, deployment) === id ? { id, hire, deployment } : null;
  } catch {
    return null;
  }
}

function read(): Kept[] {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? "[]");
    return Array.isArray(kept) ? kept.filter((it): it is Kept => typeof Object(it).hire === "object") : [];
  } catch {
    return [];
  }
}
