import * as z from "zod";
import { addressSchema } from "../address.ts";
import { hash32Schema } from "../hash32Schema.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForm } from "./boundForm.ts";
import { breachIdSchema } from "./breachId.ts";

/**
 * The body of an `sla_payment`: the agent owes a buyer money for a breach, and names the transfer that paid it
 * (STEWARD).
 */
const slaPaymentFields = {
  breach: breachIdSchema,
  buyer: addressSchema,
  tx_hash: hash32Schema,
  log_index: z.int().min(0, "must not be negative"),
};

const read = boundForm(slaPaymentFields);

export type SlaPayment = ReturnType<typeof read>;

/**
 * Reads the body of a payment for a breach.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseSlaPayment(body: RecordBody): SlaPayment {
  return read(body);
}
