import type { Address } from "tallystick-protocol/address";
import { type Hex, isHex, ZERO_HASH } from "tallystick-protocol/hex";
import { type HireAnswer, hireAnswerSchema } from "tallystick-protocol/hire/hireAnswer";
import { PROTOCOL } from "tallystick-protocol/hire/protocolVersion";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { checkReceipt } from "tallystick-protocol/records/receipt";
import { isSignedBy } from "tallystick-protocol/records/record";
import { readSettled } from "../x402/paymentHeaders.ts";
import type { SellerResponse } from "./sellerClient.ts";

/** What the seller delivered, and what is wrong with the receipt it came with. */
export type Delivery = {
  result: unknown;
  answer: HireAnswer | undefined;
  tx: Hex | undefined;
  receiptIssues: string[];
};

/** What the receipt of a hire has to say. `amount` is atomic units. */
export type ExpectedReceipt = {
  seller: Address;
  buyer: Address;
  capability: string;
  hireId: Hex;
  amount: bigint;
};

/**
 * Reads a delivery. A seller that knows x402 but not SHP answers with the result alone; then there is no receipt, and
 * the settlement header says which transaction it was.
 *
 * @returns undefined when it is neither: the seller answered garbage
 */
export function readDelivery(response: SellerResponse, expected: ExpectedReceipt): Delivery | undefined {
  const { body, headers } = response;
  const settled = readSettled(headers)?.transaction;
  const tx = isHex(settled, 32) ? settled : undefined;
  if (body === null || typeof body !== "object") return undefined;
  if (!("protocol" in body)) return { result: body, answer: undefined, tx, receiptIssues: [] };
  const read = hireAnswerSchema.safeParse(body);
  if (!read.success || read.data.protocol.split(".")[0] !== PROTOCOL.split(".")[0]) return undefined;
  const answer = read.data;
  const claimed = answer.receipt.tx_hash;
  return {
    result: answer.result,
    answer,
    tx: isHex(claimed, 32) && claimed !== ZERO_HASH ? claimed : tx,
    receiptIssues: receiptIssues(answer, expected),
  };
}

/** What is wrong with a receipt: replayed from another hire, for another amount, not signed, … */
function receiptIssues({ signed_receipt: signed }: HireAnswer, expected: ExpectedReceipt): string[] {
  if (!signed) return ["the seller gave no signed receipt"];
  try {
    const body = signed.body as RecordBody;
    const receipt = checkReceipt({
      type: "receipt",
      body,
      signer: signed.signer,
      signature: signed.signature,
    });
    const issues: string[] = [];
    const want = {
      agent_id: expected.seller,
      buyer: expected.buyer,
      capability: expected.capability,
      hire_id: expected.hireId,
      amount_usdc_atomic: String(expected.amount),
    };
    for (const [field, value] of Object.entries(want)) {
      const actual = receipt[field as keyof typeof want];
      if (actual !== value) issues.push(`${field} is ${actual}, not ${value}`);
    }
    if (!isSignedBy(body, signed.signature, signed.signer)) issues.push("the signature is not the seller's");
    return issues;
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
