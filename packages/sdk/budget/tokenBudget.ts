import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import { type BudgetToken, readBudgetToken, requireBudgetToken } from "tallystick-protocol/hire/budgetToken";
import { jsonHash } from "tallystick-protocol/hire/paramsHash";
import { BudgetError } from "../errors.ts";
import { inLowerCase } from "../inLowerCase.ts";
import { type Budget, memoryBudget } from "./budget.ts";

export type TokenBudgetParameters = {
  /** The operator's budget token (SHP §4.4). */
  token: BudgetToken;
  /** The operators whose tokens are accepted. */
  operators: readonly Address[];
  /** The wallet that spends. */
  agent: Address;
  /**
   * Opens the budget for a limit in atomic units. `name` follows from the token, so that two processes with one
   * token use one budget. Default: a budget in this process's memory.
   *
   * @example (name, limit) => storeBudget({ store: fileStore("./budgets"), name, limit })
   */
  open?: (name: string, limit: bigint) => Budget | Promise<Budget>;
  /** Milliseconds since 1970. */
  now?: () => number;
};

/**
 * The budget that an operator's token allows: its amount, for this wallet, from its issue until it expires.
 *
 * @throws BudgetError `budget_token_refused` when the token is not this wallet's, or its signer is not allowed to
 * issue tokens
 */
export async function openTokenBudget(parameters: TokenBudgetParameters): Promise<Budget> {
  const { token, now = Date.now } = parameters;
  const { agent, operators } = inLowerCase(parameters, "agent", "operators");
  const { open = (_, limit) => memoryBudget(limit) } = parameters;
  const terms = readBudgetToken(token);
  if (!operators.includes(terms.operator)) {
    throw refused(`is signed by ${terms.operator}, who is none of the operators`);
  }
  if (terms.agent !== agent) throw refused(`is for ${terms.agent}, not for ${agent}`);
  const name = `token-${jsonHash(token).slice(2)}`;
  const budget = await open(name, terms.maxAtomic);
  return {
    ...budget,
    token,
    reserve: async (hireId, amount) => {
      try {
        requireBudgetToken(terms, agent, Math.floor(now() / 1000));
      } catch (error) {
        if (!(error instanceof TallystickError)) throw error;
        const { code, message, hint, field } = error;
        throw new BudgetError({ code, message, hint, field, cause: error });
      }
      await budget.reserve(hireId, amount);
    },
  };
}

function refused(problem: string): BudgetError {
  return new BudgetError({
    code: "budget_token_refused",
    message: `budget_token: ${problem}`,
    field: "budget_token",
    hint: "Ask the operator for a budget token for this wallet.",
  });
}
