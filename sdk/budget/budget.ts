import { formatUsdc } from "../../protocol/amount.ts";
import { BudgetError } from "../errors.ts";

/**
 * What a buyer may spend. An amount is reserved before anything is signed, under the id of its hire, and stays spent
 * unless it is given back; one hire is reserved once, however often it is asked for. Amounts are atomic units.
 */
export type Budget = {
  /** @throws BudgetError `budget_exceeded`, and nothing is reserved */
  reserve: (hireId: string, amount: bigint) => Promise<void>;
  /** Gives an amount back: it was never signed for, or came back to the wallet. Nothing happens when there is none. */
  giveBack: (hireId: string) => Promise<void>;
  /** What is left. */
  remaining: () => Promise<bigint>;
};

/** What a budget has promised: amounts by hire, as decimal strings. */
export type Reservations = { [hireId: string]: string };

/** What is reserved in all. */
export function reservedIn(reservations: Reservations): bigint {
  return Object.values(reservations).reduce((sum, amount) => sum + BigInt(amount), 0n);
}

/**
 * The reservations with one more.
 *
 * @throws BudgetError `budget_exceeded`
 */
export function reserveIn(
  reservations: Reservations,
  limit: bigint,
  hireId: string,
  amount: bigint,
): Reservations {
  if (amount < 0n) throw new RangeError("an amount is not negative");
  const { [hireId]: _, ...others } = reservations;
  const left = limit - reservedIn(others);
  if (amount > left) throw budgetExceeded(amount, left);
  return { ...others, [hireId]: String(amount) };
}

export function budgetExceeded(amount: bigint, left: bigint): BudgetError {
  return new BudgetError({
    code: "budget_exceeded",
    message: `${formatUsdc(amount)} USDC is more than the ${formatUsdc(left)} USDC that are left of the budget.`,
    hint: "Raise the budget, or wait for money held in escrows to come back.",
    details: { amount: String(amount), left: String(left) },
  });
}

/** A budget of this process. Exact, and gone when the process ends. */
export function memoryBudget(limit: bigint): Budget {
  let reservations: Reservations = {};
  return {
    reserve: async (hireId, amount) => {
      reservations = reserveIn(reservations, limit, hireId, amount);
    },
    giveBack: async (hireId) => {
      const { [hireId]: _, ...others } = reservations;
      reservations = others;
    },
    remaining: async () => limit - reservedIn(reservations),
  };
}
