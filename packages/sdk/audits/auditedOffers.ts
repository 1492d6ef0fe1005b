import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { toBareHex } from "tallystick-protocol/hex";
import { auditConsent, type Listing } from "tallystick-protocol/records/listing";
import type { KeyValueStore } from "../store/keyValueStore.ts";

/**
 * How long hires may still be audited after their listing withdrew its consent, in milliseconds. The rule
 * is one day, and two more days are a reserve.
 */
const TAIL_MS = 3 * 86_400_000;

/** `endedAt` in milliseconds since 1970: absent while the listing consents. */
type Consent = { endedAt?: number };

/**
 * Which of a seller's listings may be audited: those that consent now, and those that withdrew their consent
 * recently. The store remembers when.
 *
 * @param now milliseconds since 1970
 * @returns a function that answers this for one of the listings
 */
export async function auditedOffers(
  listings: readonly Listing[],
  store: KeyValueStore,
  now: () => number,
): Promise<(listing: Listing) => boolean> {
  const ends = new Map<string, number>();
  for (const listing of listings) {
    const key = keyOf(listing);
    if (auditConsent(listing) !== null) {
      await store.put(key, {} satisfies Consent);
      ends.set(key, Number.POSITIVE_INFINITY);
      continue;
    }
    const consent = await store.get<Consent>(key);
    if (consent === undefined) continue;
    const endedAt = consent.endedAt ?? now();
    if (consent.endedAt === undefined) await store.put(key, { endedAt } satisfies Consent);
    ends.set(key, endedAt + TAIL_MS);
  }
  return (listing) => (ends.get(keyOf(listing)) ?? Number.NEGATIVE_INFINITY) > now();
}

function keyOf({ capability, payment_mode: mode }: Listing): string {
  return `consent/${toBareHex(sha256(utf8ToBytes(`${capability} ${mode}`))).slice(0, 32)}`;
}
