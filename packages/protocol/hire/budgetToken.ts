import * as z from "zod";
import type { Address } from "../address.ts";
import { parseUsdc, priceUsdcSchema } from "../amount.ts";
import { anyCaseAddressSchema } from "../anyCaseAddress.ts";
import { invalidInputFromZod, TallystickError } from "../errors.ts";
import { bodyWithout, type RecordBody } from "../json/recordBody.ts";
import { signatureSchema } from "../records/nestedSignature.ts";
import { type RecordSigner, recoverBodySigner, signBody } from "../records/record.ts";

/**
 * An operator's permission to spend (SHP §4.4): `agent_id` may spend up to `max_amount_usdc` ("5.00") within
 * `max_duration_seconds` from `issued_at` (unix seconds). The operator signs it like a record: EIP-191 over the
 * keccak256 of the canonical body without `signature`. Unknown keys are signed with the rest.
 */
export const budgetTokenSchema = z.looseObject({
  agent_id: anyCaseAddressSchema,
  max_amount_usdc: priceUsdcSchema,
  max_duration_seconds: z.int().positive(),
  issued_at: z.int().nonnegative(),
  signature: signatureSchema,
});

export type BudgetToken = z.output<typeof budgetTokenSchema>;

/**
 * What a token allows: the wallet it is for, atomic units of USDC, and the unix seconds in which it is valid, `[from,
 * until)`.
 */
export type BudgetTerms = {
  operator: Address;
  agent: Address;
  maxAtomic: bigint;
  from: number;
  until: number;
};

/**
 * Reads a token and finds out who signed it. The caller must check that this operator may sign, and then call
 * {@link requireBudgetToken}.
 *
 * @throws InvalidInputError naming the field
 */
export function readBudgetToken(value: unknown): BudgetTerms {
  const result = budgetTokenSchema.safeParse(value);
  if (!result.success) throw invalidInputFromZod(result.error, "budget_token");
  const token = result.data;
  const body = bodyWithout(value as RecordBody, "signature");
  return {
    operator: recoverBodySigner(body, token.signature, "budget_token.signature"),
    agent: token.agent_id,
    maxAtomic: parseUsdc(token.max_amount_usdc),
    from: token.issued_at,
    until: token.issued_at + token.max_duration_seconds,
  };
}

/**
 * Makes the token that an operator gives to its agent.
 *
 * @example await signBudgetToken({ agent_id, max_amount_usdc: "5.00", max_duration_seconds: 3600, issued_at }, { account })
 */
export async function signBudgetToken(
  terms: Omit<BudgetToken, "signature">,
  by: RecordSigner,
): Promise<BudgetToken> {
  const body = { ...terms, agent_id: anyCaseAddressSchema.parse(terms.agent_id) } as RecordBody;
  return budgetTokenSchema.parse({ ...body, signature: await signBody(body, by) });
}

/**
 * Requires that a token is for this wallet and valid now.
 *
 * @param now unix seconds
 * @throws TallystickError `budget_token_refused` saying why
 */
export function requireBudgetToken(terms: BudgetTerms, agent: Address, now: number): void {
  const problem =
    terms.agent !== agent
      ? `is for ${terms.agent}, not for ${agent}`
      : now < terms.from
        ? "is not valid yet"
        : now >= terms.until
          ? "has expired"
          : undefined;
  if (problem === undefined) return;
  throw new TallystickError({
    code: "budget_token_refused",
    message: `budget_token: ${problem}`,
    field: "budget_token",
    hint: "Ask the operator for a new budget token.",
  });
}
