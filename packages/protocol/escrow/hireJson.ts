import * as z from "zod";
import { addressSchema, ZERO_ADDRESS } from "../address.ts";
import { atomicSchema } from "../amount.ts";
import { invalidInputFromZod } from "../errors.ts";
import type { Hex } from "../hex.ts";
import type { Hire } from "./hire.ts";

const UINT128 = 1n << 128n;
const amountSchema = atomicSchema.refine((text) => BigInt(text) < UINT128, "must be less than 2^128");

/** The terms of an escrowed hire as JSON: amounts are decimal strings of atomic units, `deadline` unix seconds. */
export const hireJsonSchema = z.strictObject({
  hire_id: z
    .string()
    .regex(/^0x[0-9a-f]{64}$/, "must be 0x and 64 lower-case hex digits")
    .transform((text) => text as Hex),
  buyer: addressSchema,
  seller: addressSchema,
  payee: addressSchema.default(ZERO_ADDRESS),
  amount: amountSchema,
  fee: amountSchema.default("0"),
  fee_recipient: addressSchema.default(ZERO_ADDRESS),
  deadline: z.int().positive(),
  arbiter: addressSchema.default(ZERO_ADDRESS),
});

export type HireJson = z.input<typeof hireJsonSchema>;

/**
 * Reads the terms of an escrowed hire.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `field`
 */
export function readHireJson(value: unknown, field = "hire"): Hire {
  const result = hireJsonSchema.safeParse(value);
  if (!result.success) throw invalidInputFromZod(result.error, field);
  const { hire_id, fee_recipient, amount, fee, deadline, ...parties } = result.data;
  return {
    ...parties,
    hireId: hire_id,
    feeRecipient: fee_recipient,
    amount: BigInt(amount),
    fee: BigInt(fee),
    deadline: BigInt(deadline),
  };
}

/** The terms as JSON. */
export function toHireJson(hire: Hire): HireJson {
  return {
    hire_id: hire.hireId,
    buyer: hire.buyer,
    seller: hire.seller,
    payee: hire.payee,
    amount: String(hire.amount),
    fee: String(hire.fee),
    fee_recipient: hire.feeRecipient,
    deadline: Number(hire.deadline),
    arbiter: hire.arbiter,
  };
}
