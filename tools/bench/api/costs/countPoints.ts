import type { ClientBudgets } from "tallystick-runtime/http/clientBudgets";

/** Counts the points that all clients are charged from now on. Returns the sum so far. */
export function countPoints(budgets: ClientBudgets): () => number {
  let sum = 0;
  const of = budgets.of.bind(budgets);
  budgets.of = (client) => {
    const budget = of(client);
    const charge = (points: number) => {
      sum += points;
      budget.charge(points);
    };
    return Object.create(budget, { charge: { value: charge } }) as typeof budget;
  };
  return () => sum;
}
