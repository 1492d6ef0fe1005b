import type { BuyerContext } from "./buyerContext.ts";
import { askedOf } from "./hireByKey.ts";

/** How long the same call means the same hire, in milliseconds. */
export const SAME_CALL_MS = 3_600_000;

/**
 * The key of a call that names no key. It is made from the content of the call. So a caller that got no answer and
 * calls again does not pay again. The key stays the same for one hour after the first call. The clock's hour
 * is part of the key, so a call also looks for the key of the hour before.
 */
export async function contentKey(
  { address, kept, now }: Pick<BuyerContext, "address" | "kept" | "now">,
  asked: { [name: string]: unknown },
): Promise<string> {
  // Two wallets that share a journal have hires of their own.
  const content = askedOf({ ...asked, buyer: address }).slice(2, 34);
  const hour = Math.floor(now() / SAME_CALL_MS);
  const [earlier, current] = [`call-${content}-${hour - 1}`, `call-${content}-${hour}`];
  const before = await kept.get(earlier);
  return before && before.startedAt + SAME_CALL_MS > now() ? earlier : current;
}
