import type { Budget } from "tallystick-sdk/budget/budget";
import { storeBudget } from "tallystick-sdk/budget/storeBudget";
import { BudgetError } from "tallystick-sdk/errors";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { unlessDamaged } from "tallystick-sdk/store/unlessDamaged";

/** The length of a period, in seconds. */
export const PERIOD_SECONDS = 30 * 86_400;

/** In how many equal steps a period gives its budget to parts of debts. */
const STEPS = 10n;

/** A budget that keeps something back for later debts of its period when a part of a debt is paid. */
export type PoolBudget = Budget & {
  /**
   * What a part of a debt may take now. It leaves nine tenths of the limit at the beginning of a period, and a tenth less
   * after each tenth of the period.
   */
  leftForParts: () => Promise<bigint>;
};

/**
 * A budget for every 30 days, exact across processes on one store. An amount belongs to the period in which it was
 * reserved, even if it is spent or given back during the next period.
 *
 * @param parameters.limit atomic units
 * @param parameters.now milliseconds since 1970
 */
export function periodBudget(parameters: {
  store: KeyValueStore;
  limit: bigint;
  now: () => number;
}): PoolBudget {
  const { store, limit, now } = parameters;
  const budgets = new Map<number, Budget>();
  const ofPeriod = (period: number): Budget => {
    const known = budgets.get(period) ?? storeBudget({ store, name: `pool-${period}`, limit });
    budgets.set(period, known);
    return known;
  };
  const current = (): number => Math.floor(now() / 1_000 / PERIOD_SECONDS);
  const remaining = (): Promise<bigint> => ofPeriod(current()).remaining();
  // A damaged note must not stop all payments. If it is of an earlier period, the amount stays reserved there, and that
  // period reserves nothing more.
  const reservedIn = async (hireId: string): Promise<Budget> =>
    ofPeriod((await unlessDamaged(store.get<number>(`reserved/${hireId}`))) ?? current());
  const giveBack = async (hireId: string): Promise<void> => {
    await (await reservedIn(hireId)).giveBack(hireId);
    await store.delete(`reserved/${hireId}`);
  };
  return {
    reserve: async (hireId, amount) => {
      // The period of a reservation is stored. So later calls use the same budget, even after a crash or in the next
      // period.
      await store.putNew(`reserved/${hireId}`, current());
      try {
        await (await reservedIn(hireId)).reserve(hireId, amount);
      } catch (error) {
        // The stored period is deleted. Otherwise later attempts would ask the budget of this period even in the next
        // one.
        if (error instanceof BudgetError) await giveBack(hireId);
        throw error;
      }
    },
    spend: async (hireId) => {
      await (await reservedIn(hireId)).spend(hireId);
      await store.delete(`reserved/${hireId}`);
    },
    giveBack,
    remaining,
    leftForParts: async () => {
      const passed = BigInt(Math.floor(now() / 1_000) % PERIOD_SECONDS);
      const step = (STEPS * passed) / BigInt(PERIOD_SECONDS);
      const left = (await remaining()) - (limit * (STEPS - 1n - step)) / STEPS;
      return left > 0n ? left : 0n;
    },
  };
}
