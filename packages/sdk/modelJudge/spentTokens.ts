import type { KeyValueStore } from "../store/keyValueStore.ts";

const DAY_MS = 86_400_000;

/** The tokens that models used on one UTC day. */
export type SpentTokens = {
  /** Reserves tokens before a model is asked. False: fewer are left on this day. */
  reserve: (tokens: number) => Promise<boolean>;
  /** Replaces a reservation by what was really used. */
  settle: (reserved: number, used: number) => Promise<void>;
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
  let turn: Promise<unknown> = Promise.resolve();
  /** Makes one change after the other, because two models may be asked at the same time. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const next = turn.then(work, work);
    turn = next.catch(() => {});
    return next;
  };
  const key = (): string => `spent/${Math.floor(now() / DAY_MS)}`;
  const spent = async (): Promise<number> => (await store.get<number>(key())) ?? 0;

  async function forgetOld(): Promise<void> {
    for (const old of await store.keys("spent")) if (old !== key()) await store.delete(old);
  }

  return {
    reserve: (tokens) =>
      inTurn(async () => {
        const before = await spent();
        if (before + tokens > perDay) return false;
        if (before === 0) await forgetOld();
        await store.put(key(), before + tokens);
        return true;
      }),
    settle: (reserved, used) =>
      inTurn(async () => store.put(key(), Math.max(0, (await spent()) - reserved + used))),
  };
}
