import type { KeyValueStore } from "../store/keyValueStore.ts";
import { turnsByKey } from "../store/turnsByKey.ts";

const DAY_MS = 86_400_000;

/** The tokens that models used on one UTC day. */
export type SpentTokens = {
  /** Reserves tokens of the present day before a model is asked. Undefined: the day has fewer than `tokens` left. */
  reserve: (tokens: number) => Promise<Reservation | undefined>;
};

export type Reservation = {
  /** Replaces the reserved tokens by those that were really used, also when the day of the reservation is over. */
  settle: (used: number) => Promise<void>;
};

/**
 * Counts the tokens of a day, for all judgements together. If a process is killed between `reserve` and
 * `settle`, the reserved tokens count as used.
 *
 * @param parameters.now milliseconds since 1970
 */
export function spentTokens(parameters: {
  store: KeyValueStore;
  perDay: number;
  now: () => number;
}): SpentTokens {
  const { store, perDay, now } = parameters;
  /** Makes one change after the other, because two models may be asked at the same time. */
  const inTurn = turnsByKey();
  const today = (): string => `spent/${Math.floor(now() / DAY_MS)}`;
  const spent = async (day: string): Promise<number> => (await store.get<number>(day)) ?? 0;

  const reserve = inTurn(async (day: string, tokens: number) => {
    const before = await spent(day);
    if (before + tokens > perDay) return false;
    if (before === 0) for (const old of await store.keys("spent")) if (old !== day) await store.delete(old);
    await store.put(day, before + tokens);
    return true;
  });

  const settle = inTurn(async (day: string, reserved: number, used: number) =>
    store.put(day, Math.max(0, (await spent(day)) - reserved + used)),
  );

  return {
    reserve: async (tokens) => {
      const day = today();
      if (!(await reserve(day, tokens))) return undefined;
      return { settle: (used) => settle(day, tokens, used) };
    },
  };
}
