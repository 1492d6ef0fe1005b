import { formatUsdc } from "tallystick-protocol/amount";
import type { BudgetToken } from "tallystick-protocol/hire/budgetToken";
import { BudgetError } from "../errors.ts";

/**
 * What a buyer may spend. An amount is reserved before anything is signed, under the id of its hire. It stays
 * reserved until the hire's money is known to be spent or back. One hire is reserved only once, even if it is asked
 * for several times. Amounts are atomic units.
 */
export type Budget = {
  /** @throws BudgetError `budget_exceeded`, `budget_token_refused`; nothing is reserved then */
  reserve: (hireId: string, amount: bigint) => Promise<void>;
  /** Counts the reserved amount as spent: the seller has the money, so it will not come back. */
  spend: (hireId: string) => Promise<void>;
  /**
   * Ends a reservation: no payment was signed, or the money is back in the wallet. Does nothing without a
   * reservation.
   */
  giveBack: (hireId: string) => Promise<void>;
  /**
   * Reserves the amount of a hire that an earlier process has not concluded. Only budgets that are kept in
   * memory need it. It ignores the limit, because the payment is signed already.
   */
  recall?: (hireId: string, amount: bigint) => Promise<void>;
  /** What is left of the limit after all spent and reserved amounts. */
  remaining: () => Promise<bigint>;
  /** The operator's budget token that this budget enforces. It is shown to sellers. */
  token?: BudgetToken;
};

/** A budget's books, as JSON: amounts are decimal strings of atomic units. */
export type BudgetBook = { spent: string; reserved: { [hireId: string]: string } };

export const EMPTY_BOOK: BudgetBook = { spent: "0", reserved: {} };

/** What is left of a limit. */
export function leftIn({ spent, reserved }: BudgetBook, limit: bigint): bigint {
  return Object.values(reserved).reduce((left, amount) => left - BigInt(amount), limit - BigInt(spent));
}

/** The changes of a budget's books. Each returns the next books and leaves the given books unchanged. */
export const bookings = {
  /** @throws BudgetError `budget_exceeded` */
  reserve: (book: BudgetBook, limit: bigint, hireId: string, amount: bigint): BudgetBook => {
    if (amount < 0n) throw new RangeError("an amount must not be negative");
    const { [hireId]: _, ...others } = book.reserved;
    const left = leftIn({ ...book, reserved: others }, limit);
    if (amount > left) throw budgetExceeded(amount, left);
    return { ...book, reserved: { ...others, [hireId]: String(amount) } };
  },
  spend: (book: BudgetBook, hireId: string): BudgetBook => {
    const { [hireId]: amount = "0", ...reserved } = book.reserved;
    return { spent: String(BigInt(book.spent) + BigInt(amount)), reserved };
  },
  giveBack: (book: BudgetBook, hireId: string): BudgetBook => {
    const { [hireId]: _, ...reserved } = book.reserved;
    return { ...book, reserved };
  },
};

export function budgetExceeded(amount: bigint, left: bigint): BudgetError {
  return new BudgetError({
    code: "budget_exceeded",
    message: `${formatUsdc(amount)} USDC is more than the ${formatUsdc(left)} USDC that are left of the budget.`,
    hint: "Raise the budget, or wait for money held in escrows to come back.",
    details: { amount: String(amount), left: String(left) },
  });
}

/** A budget in the memory of this process. It is exact, and it is lost when the process ends. */
export function memoryBudget(limit: bigint): Budget {
  let book = EMPTY_BOOK;
  return {
    reserve: async (hireId, amount) => {
      book = bookings.reserve(book, limit, hireId, amount);
    },
    spend: async (hireId) => {
      book = bookings.spend(book, hireId);
    },
    giveBack: async (hireId) => {
      book = bookings.giveBack(book, hireId);
    },
    recall: async (hireId, amount) => {
      book = { ...book, reserved: { ...book.reserved, [hireId]: String(amount) } };
    },
    remaining: async () => leftIn(book, limit),
  };
}

/** Several budgets together. If one of them refuses an amount, none of them reserves it. */
export function everyBudget(first: Budget, ...others: Budget[]): Budget {
  const all = [first, ...others];
  const token = all.find((budget) => budget.token)?.token;
  /** The amount that all budgets have reserved, by hire. After a refusal they all go back to this amount. */
  const reservedNow = new Map<string, bigint>();
  return {
    reserve: async (hireId, amount) => {
      const before = reservedNow.get(hireId);
      const changed: Budget[] = [];
      try {
        for (const budget of all) {
          await budget.reserve(hireId, amount);
          changed.push(budget);
        }
      } catch (error) {
        for (const budget of changed) {
          if (before === undefined) await budget.giveBack(hireId);
          else await budget.reserve(hireId, before);
        }
        throw error;
      }
      reservedNow.set(hireId, amount);
    },
    spend: async (hireId) => {
      for (const budget of all) await budget.spend(hireId);
      reservedNow.delete(hireId);
    },
    giveBack: async (hireId) => {
      for (const budget of all) await budget.giveBack(hireId);
      reservedNow.delete(hireId);
    },
    recall: async (hireId, amount) => {
      reservedNow.set(hireId, amount);
      for (const budget of all) await budget.recall?.(hireId, amount);
    },
    remaining: async () => {
      const left = await Promise.all(all.map((budget) => budget.remaining()));
      return left.reduce((least, it) => (it < least ? it : least));
    },
    ...(token && { token }),
  };
}
