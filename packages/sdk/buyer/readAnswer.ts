import type { Address } from "tallystick-protocol/address";
import { type Hex, isHex, ZERO_HASH } from "tallystick-protocol/hex";
import { type HireAnswer, hireAnswerSchema } from "tallystick-protocol/hire/hireAnswer";
import { needsBuyerSignature } from "tallystick-protocol/hire/needsBuyerSignature";
import { jsonHash, paramsHash } from "tallystick-protocol/hire/paramsHash";
import { PROTOCOL } from "tallystick-protocol/hire/protocolVersion";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { checkReceipt, receiptSchema } from "tallystick-protocol/records/receipt";
import { isSignedBy } from "tallystick-protocol/records/record";
import { readSettled } from "../x402/paymentHeaders.ts";
import type { SellerResponse } from "./sellerClient.ts";

/** What the seller delivered, and the faults of its receipt. */
export type Delivery = {
  result: unknown;
  answer: HireAnswer | undefined;
  tx: Hex | undefined;
  receiptIssues: string[];
  /** What is wrong if the receipt is for another hire, or for another capability; undefined otherwise. */
  otherHire?: string | undefined;
  /** What is wrong if the receipt is for other params, or for another result; undefined otherwise. */
  otherBytes?: string | undefined;
  /** Whether the seller signed the receipt for this buyer, whatever else is wrong with it. */
  isFromSeller: boolean;
};

/** What the receipt of a hire must say. `amount` is atomic units. */
export type ExpectedReceipt = {
  seller: Address;
  buyer: Address;
  capability: string;
  hireId: Hex;
  amount: bigint;
  /** What was asked for. */
  params: unknown;
};

/**
 * Reads a delivery. A seller that knows x402 but not SHP answers with the result alone. Then there is no receipt,
 * and the settlement header names the transaction.
 *
 * @returns undefined when the answer has neither form
 */
export function readDelivery(response: SellerResponse, expected: ExpectedReceipt): Delivery | undefined {
  const { body, headers } = response;
  const settled = readSettled(headers)?.transaction;
  const tx = isHex(settled, 32) ? settled : undefined;
  if (body === null || typeof body !== "object") return undefined;
  if (!("protocol" in body))
    return { result: body, answer: undefined, tx, receiptIssues: [], isFromSeller: false };
  const read = hireAnswerSchema.safeParse(body);
  if (!read.success || read.data.protocol.split(".")[0] !== PROTOCOL.split(".")[0]) return undefined;
  const answer = read.data;
  const claimed = answer.receipt.tx_hash;
  return {
    result: answer.result,
    answer,
    tx: isHex(claimed, 32) && claimed !== ZERO_HASH ? claimed : tx,
    ...readReceipt(answer, expected),
    otherBytes: hashIssue(answer, expected),
  };
}

/** If a seller signs other hashes than those of its delivery, an audit would judge something else (SHP §8.3). */
function hashIssue({ signed_receipt, result }: HireAnswer, { params }: ExpectedReceipt): string | undefined {
  const { params_hash, result_hash } = signed_receipt?.body ?? {};
  try {
    if (params_hash !== undefined && params_hash !== paramsHash(params))
      return `params_hash is ${params_hash}, which is not that of what was asked for`;
    if (result_hash !== undefined && result_hash !== jsonHash(result ?? null, "result"))
      return `result_hash is ${result_hash}, which is not that of the result`;
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

const FIELDS: ReadonlySet<string> = new Set(Object.keys(receiptSchema.shape));

/** The fields that say which hire a receipt is for. With other values it leads audits and reports to another hire. */
const FIELDS_OF_HIRE: ReadonlySet<string> = new Set(["capability", "hire_id"]);

/** The faults of a receipt: for example, it is from another hire, for another amount, or not signed. */
function readReceipt(
  { signed_receipt: signed }: HireAnswer,
  expected: ExpectedReceipt,
): Pick<Delivery, "receiptIssues" | "otherHire" | "isFromSeller"> {
  if (!signed) return { receiptIssues: ["the seller gave no signed receipt"], isFromSeller: false };
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
    let otherHire: string | undefined;
    for (const [field, value] of Object.entries(want)) {
      const actual = receipt[field as keyof typeof want];
      if (actual === value) continue;
      const issue = `${field} is ${actual}, not ${value}`;
      issues.push(issue);
      if (FIELDS_OF_HIRE.has(field)) otherHire ??= issue;
    }
    // Some receipts are signed by their buyer too. An unknown field in them could be a request in the buyer's name.
    const other = needsBuyerSignature(body) && Object.keys(body).find((key) => !FIELDS.has(key));
    if (other) issues.push(`${other} is no field of a receipt that its buyer signs`);
    const isValid = isSignedBy(body, signed.signature, signed.signer);
    if (!isValid) issues.push("the signature is not the seller's");
    const isOfBoth = receipt.agent_id === expected.seller && receipt.buyer === expected.buyer;
    return { receiptIssues: issues, otherHire, isFromSeller: isValid && isOfBoth };
  } catch (error) {
    return { receiptIssues: [error instanceof Error ? error.message : String(error)], isFromSeller: false };
  }
}
