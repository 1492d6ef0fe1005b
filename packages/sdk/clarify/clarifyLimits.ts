import { COUNTER_PAUSE_SECONDS } from "tallystick-protocol/clarification/clarifyAnswer";
import { HireRefusedError } from "../seller/sellerErrors.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { turnsByKey } from "../store/turnsByKey.ts";

const DAY_SECONDS = 86_400;

/**
 * The most rounds of a buyer in 24 hours that led to no hire, declined rounds included. Each round reads and writes
 * all of them.
 */
const MAX_ROUNDS = 200;

/** The names of buyers in requests without a signature begin with this. */
const UNSIGNED = "unsigned-";

/** How often the rounds of buyers that no longer ask are deleted. */
const SWEEP_SECONDS = 3_600;

/** One stored round. `at` is unix seconds. `accepted` means that it led to a hire. */
type Round = {
  round: string;
  nonce: string;
  capability: string;
  at: number;
  accepted: boolean;
  countered: boolean;
  declined?: boolean;
};

type Asked = { round: string; nonce: string; capability: string; now: number };

/**
 * How often a buyer may ask (SHP §7.5.3, §7.5.6). After `maxUnaccepted` rounds in 24 hours without a hire it must not
 * ask again. It must not ask about a listing within 30 seconds after the seller offered alternatives. Rounds that the
 * seller declined do not count here, because the buyer could not accept them. They have their own, higher limit
 * (`MAX_ROUNDS`).
 *
 * @param parameters.maxPerDay the rounds in a UTC day that all buyers without a hire in the last 24 hours share. Unsigned
 * requests have a limit of the same size for themselves, so that they do not use up the rounds of buyers that sign
 */
export function clarifyLimits({
  store,
  maxUnaccepted = 10,
  maxPerDay = 1_000,
}: {
  store: KeyValueStore;
  maxUnaccepted?: number;
  maxPerDay?: number;
}) {
  /**
   * The requests of one buyer run one after the other, so that two at the same time do not both take the last round.
   */
  const inTurn = turnsByKey();
  const keyOf = (who: string): string => `clarify/${who}`;
  const nameOf = (buyer: string, isSigned: boolean): string => (isSigned ? buyer : `${UNSIGNED}${buyer}`);
  const read = async (who: string): Promise<Round[]> => (await store.get<Round[]>(keyOf(who))) ?? [];

  /** Changes one round, if it is stored and is not accepted. */
  const change = inTurn(async (who: string, round: string, changes: Partial<Round>) => {
    const rounds = await read(who);
    if (!rounds.some((known) => known.round === round && !known.accepted)) return;
    const changed = rounds.map((known) => (known.round === round ? { ...known, ...changes } : known));
    await store.put(keyOf(who), changed);
  });

  /** The number of rounds of a day by buyers without a hire. Signed and unsigned requests are counted separately. */
  const strangers = { signed: { day: 0, rounds: 0 }, unsigned: { day: 0, rounds: 0 } };
  /** @throws HireRefusedError when no round of this day is left for such a buyer */
  function countStranger(who: string, now: number): void {
    const day = Math.floor(now / DAY_SECONDS);
    const pool = who.startsWith(UNSIGNED) ? "unsigned" : "signed";
    const rounds = strangers[pool].day === day ? strangers[pool].rounds : 0;
    if (rounds >= maxPerDay) {
      throw new HireRefusedError({
        status: 429,
        code: "too_many_clarifications",
        message: "Buyers without a hire have used up the rounds of this day.",
        hint: "Hire by the listing as it is, or ask again later.",
        secondsToWait: (day + 1) * DAY_SECONDS - now,
      });
    }
    strangers[pool] = { day, rounds: rounds + 1 };
  }

  const begin = inTurn(async (who: string, { round, nonce, capability, now }: Asked) => {
    const rounds = (await read(who)).filter(({ at }) => now - at < DAY_SECONDS);
    checkRounds(rounds, { round, nonce, capability, now }, maxUnaccepted);
    if (!rounds.some(({ accepted }) => accepted)) countStranger(who, now);
    const asked = { round, nonce, capability, at: now, accepted: false, countered: false };
    await store.put(keyOf(who), [...withoutOldHires(rounds), asked]);
  });

  const forgetOld = inTurn(async (who: string, now: number) => {
    if ((await read(who)).every(({ at }) => now - at >= DAY_SECONDS)) await store.delete(keyOf(who));
  });

  let sweepAt = 0;
  /** Deletes what is stored of buyers that asked nothing for a day. Anybody can invent names. */
  async function sweep(now: number): Promise<void> {
    if (now < sweepAt) return;
    sweepAt = now + SWEEP_SECONDS;
    for (const key of await store.keys("clarify")) {
      // One file that cannot be read must not stop the others.
      await forgetOld(key.slice(keyOf("").length), now).catch(() => {});
    }
  }

  return {
    /**
     * The name under which the requests of a buyer are counted. Anybody can send unsigned requests in its name, so these have
     * another name.
     */
    nameOf,

    /** @throws HireRefusedError 429 `too_many_clarifications`, `countered_just_now`; 409 `duplicate_nonce` */
    begin: async ({ who, ...asked }: Asked & { who: string }): Promise<void> => {
      void sweep(asked.now).catch(() => {});
      await begin(who, asked);
    },

    /** Stores how the seller answered. */
    end: async (ended: {
      who: string;
      round: string;
      isCounter: boolean;
      isDecline: boolean;
    }): Promise<void> => {
      const { who, round, isCounter, isDecline } = ended;
      if (isCounter) await change(who, round, { countered: true });
      else if (isDecline) await change(who, round, { declined: true });
    },

    /** Stores that the round led to a hire. */
    accept: async (buyer: string, round: string): Promise<void> => {
      const isSigned = (await read(buyer)).some((known) => known.round === round);
      // Strangers can ask in the buyer's name without a signature. A signed round does not wait for them.
      await change(nameOf(buyer, isSigned), round, { accepted: true });
    },
  };
}

/** @throws HireRefusedError if a buyer with these rounds of the last 24 hours may not ask now */
function checkRounds(rounds: readonly Round[], asked: Asked, maxUnaccepted: number): void {
  const { nonce, capability, now } = asked;
  if (rounds.some((known) => known.nonce === nonce)) {
    const message = "This nonce was used before.";
    throw new HireRefusedError({ status: 409, code: "duplicate_nonce", message });
  }
  const countered = rounds.findLast((known) => known.countered && known.capability === capability);
  if (countered && now - countered.at < COUNTER_PAUSE_SECONDS) {
    throw new HireRefusedError({
      status: 429,
      code: "countered_just_now",
      message: `This seller has just offered alternatives. It takes the next question ${COUNTER_PAUSE_SECONDS} seconds after them.`,
      secondsToWait: countered.at + COUNTER_PAUSE_SECONDS - now,
    });
  }
  const withoutHire = rounds.filter(({ accepted }) => !accepted);
  const open = withoutHire.filter(({ declined }) => declined !== true);
  for (const [counted, most] of [
    [open, maxUnaccepted],
    [withoutHire, Math.max(MAX_ROUNDS, maxUnaccepted)],
  ] as const) {
    if (counted.length < most) continue;
    const last = counted.at(-most);
    throw new HireRefusedError({
      status: 429,
      code: "too_many_clarifications",
      message: `${most} rounds of the last 24 hours led to no hire.`,
      secondsToWait: (last?.at ?? now) + DAY_SECONDS - now,
    });
  }
}

/** Leaves out the oldest rounds that led to a hire, so that the list stays short. */
function withoutOldHires(rounds: readonly Round[]): Round[] {
  const hires = rounds.filter(({ accepted }) => accepted);
  const old = new Set(hires.slice(0, Math.max(0, hires.length - MAX_ROUNDS)));
  return rounds.filter((round) => !old.has(round));
}
