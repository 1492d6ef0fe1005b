import { networkId } from "../chain/paymentNetwork.ts";
import type { BuyerContext } from "./buyerContext.ts";
import { askedOf } from "./hireByKey.ts";

/** How long the same call means the same hire, in milliseconds. */
export const SAME_CALL_MS = 3_600_000;

/**
 * The key of a call that names no key. It is made from the content of the call. So a caller that got no answer and
 * calls again does not pay again. The key stays the same for one hour after the first call. The clock's hour is part of
 * the key, so a call also looks for the key of the hour before. A clock may go back, so the call looks for the key of
 * the hour after too.
 */
export async function contentKey(
  {
    address,
    network,
    kept,
    keyed,
    now,
  }: Pick<BuyerContext, "address" | "network" | "kept" | "keyed" | "now">,
  asked: { [name: string]: unknown },
): Promise<string> {
  // Each wallet has its own hires on each chain, even if two wallets share a journal.
  const content = askedOf({ ...asked, buyer: address, network: networkId(network) }).slice(2, 34);
  const hour = Math.floor(now() / SAME_CALL_MS);
  for (const near of [hour - 1, hour + 1]) {
    const key = `call-${content}-${near}`;
    const known = await kept.get(key);
    if (keyed.has(key) || (known && Math.abs(now() - known.startedAt) < SAME_CALL_MS)) return key;
  }
  return `call-${content}-${hour}`;
}
