import { COUNTER_PAUSE_SECONDS } from "tallystick-protocol/clarification/clarifyAnswer";
import { HireRefusedError } from "../seller/sellerErrors.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";

const DAY_SECONDS = 86_400;

/**
 * One stored round. `at` is unix seconds. `accepted` means that it does not count: it led to a hire, or the seller
 * declined.
 */
type Round = {
  round: string;
  nonce: string;
  capability: string;
  at: number;
  accepted: boolean;
  countered: boolean;
};

/**
 * How often a buyer may ask (SHP §7.5.3, §7.5.6). After `maxUnaccepted` rounds in 24 hours without a hire it must not
 * ask again. It must not ask about a listing within 30 seconds after the seller offered alternatives. Declined
 * rounds do not count: the buyer could not accept them.
 */
export function clarifyLimits({ store, maxUnaccepted }: { store: KeyValueStore; maxUnaccepted: number }) {
  let last: Promise<unknown> = Promise.resolve();
  /** Requests run one after the other, so that two requests at the same time do not both take the last round. */
  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const next = last.then(work, work);
    last = next.catch(() => {});
    return next;
  };
  const keyOf = (who: string): string => `clarify/${who}`;
  const read = async (who: string): Promise<Round[]> => (await store.get<Round[]>(keyOf(who))) ?? [];

  return {
    /** @throws HireRefusedError 429 `too_many_clarifications`, `countered_just_now`; 409 `duplicate_nonce` */
    begin: (asked: { who: string; round: string; nonce: string; capability: string; now: number }) =>
      inTurn(async () => {
        const { who, round, nonce, capability, now } = asked;
        const rounds = (await read(who)).filter(({ at }) => now - at < DAY_SECONDS);
        if (rounds.some((known) => known.nonce === nonce)) {
          throw refused(409, "duplicate_nonce", "This nonce was used before.");
        }
        const countered = rounds.some(
          (known) =>
            known.countered && known.capability === capability && now - known.at < COUNTER_PAUSE_SECONDS,
        );
        if (countered) {
          const message = `This seller has just offered alternatives. It takes the next question ${COUNTER_PAUSE_SECONDS} seconds after them.`;
          throw refused(429, "countered_just_now", message);
        }
        if (rounds.filter(({ accepted }) => !accepted).length >= maxUnaccepted) {
          const message = `${maxUnaccepted} rounds of the last 24 hours led to no hire.`;
          throw refused(429, "too_many_clarifications", message);
        }
        rounds.push({ round, nonce, capability, at: now, accepted: false, countered: false });
        await store.put(keyOf(who), rounds);
      }),

    /** Stores how the seller answered. */
    end: ({
      who,
      round,
      isCounter,
      isDecline,
    }: {
      who: string;
      round: string;
      isCounter: boolean;
      isDecline: boolean;
    }) =>
      inTurn(async () => {
        if (!isCounter && !isDecline) return;
        const rounds = await read(who);
        const mark = (known: Round): Round =>
          known.round === round
            ? { ...known, countered: isCounter, accepted: known.accepted || isDecline }
            : known;
        await store.put(keyOf(who), rounds.map(mark));
      }),

    /** Stores that the round led to a hire. */
    accept: (buyer: string, round: string) =>
      inTurn(async () => {
        for (const who of [buyer, `unsigned-${buyer}`]) {
          const rounds = await read(who);
          if (!rounds.some((known) => known.round === round && !known.accepted)) continue;
          const marked = rounds.map((known) =>
            known.round === round ? { ...known, accepted: true } : known,
          );
          await store.put(keyOf(who), marked);
        }
      }),
  };
}

function refused(status: number, code: string, message: string): HireRefusedError {
  return new HireRefusedError({ status, code, message });
}
