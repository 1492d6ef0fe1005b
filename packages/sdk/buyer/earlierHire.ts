import { parseUsdc } from "tallystick-protocol/amount";
import { type Hex, isHex } from "tallystick-protocol/hex";
import { hireId as hireIdOf, jobId as jobIdOf } from "tallystick-protocol/hire/hireIds";
import { within } from "../deadline.ts";
import { requirePublicUrl } from "../publicUrl.ts";
import type { BuyerContext } from "./buyerContext.ts";
import { SAME_CALL_MS } from "./contentKey.ts";
import type { Candidate } from "./findSellers.ts";
import type { EarlierHire } from "./hiredBefore.ts";
import { KEPT_MS } from "./keptHires.ts";
import { createSellerClient } from "./sellerClient.ts";

/** The most sellers that are asked whether they know an earlier hire. */
export const MOST_ASKED = 8;

/** The number of calls under the key for which each seller is asked. Each call has its own nonce. */
const CALLS = 2;

/**
 * The time limit for the answers of all these sellers, in milliseconds. They are asked while the first seller writes
 * its terms.
 */
const LOOK_MS = 1_000;

/** The keys that are made of what is asked for: see `contentKey`. */
const CONTENT_KEY = /^call-[0-9a-f]{32}-\d+$/;

/**
 * Whether records about a key may be lost. A key means the same hire for some time. A journal that is younger than
 * this time may lack records. A journal on disk soon becomes older, and then no seller is asked.
 */
export async function mayBeLost({ journalBegan, now }: BuyerContext, key: string): Promise<boolean> {
  const sameMs = CONTENT_KEY.test(key) ? 2 * SAME_CALL_MS : KEPT_MS;
  return now() - (await journalBegan()) < sameMs;
}

/**
 * Looks for a hire under this key with any of these sellers. The chain shows a direct payment, because its nonce
 * follows from the wallet, the key and the seller. Before the payment is on the chain, only the seller knows the
 * hire. A seller is believed only if it names the hire's id. Nobody can compute this id from the question.
 *
 * @param candidates the sellers that this call would ask, with listings that are proved
 * @returns undefined when no hire is found in time; a seller that does not answer may still know a hire
 */
export async function findEarlierHire(
  context: BuyerContext,
  key: string,
  candidates: readonly Promise<Candidate>[],
): Promise<EarlierHire | undefined> {
  const found = Promise.withResolvers<EarlierHire | undefined>();
  const look = async (candidate: Promise<Candidate>, at: number): Promise<void> => {
    const { listing } = await candidate;
    const { agent_id: seller, payment_mode: mode, endpoint } = listing;
    if (!context.devMode) requirePublicUrl(endpoint, "listing.endpoint");
    const nonces: string[] = [];
    for (let call = 0; call < CALLS; call++)
      nonces.push(await context.kept.nonce(key, { seller, mode, call }));
    // The first seller's nonce may have been the key itself.
    if (at === 0 && isHex(key, 32)) nonces.push(key);
    const ask = createSellerClient(listing, context.sellerFetch);
    const { address, isPaid } = context;
    await Promise.all(
      nonces.map(async (nonce) => {
        const [hireId, jobId] = [hireIdOf(address, nonce), jobIdOf(address, nonce)];
        const answers = [
          async () => mode === "direct" && (await isPaid?.(hireId)) === true && ("paid" as const),
          async () =>
            isOfHire((await ask(`/jobs/${jobId}`, LOOK_MS)).body, hireId) && ("authorized" as const),
        ];
        const settled = answers.map(async (answer) => {
          const money = await answer().catch(() => false as const);
          if (money) found.resolve({ seller, hireId, jobId, money });
        });
        await Promise.all(settled);
      }),
    );
  };
  const looks = candidates.slice(0, MOST_ASKED).map((it, at) => look(it, at).catch(() => {}));
  void Promise.all(looks).then(() => found.resolve(undefined));
  return await within(found.promise, LOOK_MS);
}

/** Whether a seller's answer about a job is about this hire, and the hire was not free. */
function isOfHire(body: unknown, hireId: Hex): boolean {
  const { hire_id: named, receipt } = Object(body) as { hire_id?: unknown; receipt?: unknown };
  if (named !== hireId) return false;
  const { price_paid_usdc: price } = Object(receipt) as { price_paid_usdc?: unknown };
  try {
    return typeof price !== "string" || parseUsdc(price) > 0n;
  } catch {
    return true;
  }
}
