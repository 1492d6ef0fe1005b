import * as z from "zod";
import { addressSchema } from "../address.ts";
import { InvalidInputError, invalidInputFromZod } from "../errors.ts";
import { hash32Schema } from "../hash32Schema.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { proofBundleSchema } from "../proof/proofBundle.ts";
import { readProvenEntry } from "../proof/provenEntry.ts";
import { entryHashSchema } from "../records/entryHashSchema.ts";
import { ledgerNameSchema } from "../records/ledgerName.ts";
import { parseRating } from "../records/rating.ts";
import { checkReceipt, isFreeReceipt } from "../records/receipt.ts";
import { recordFromPayload } from "../records/record.ts";
import { type AccountId, accountIdSchema, formatAccountId } from "./accountId.ts";
import { chainIdOfNetwork } from "./chainIdOfNetwork.ts";

/** The name of our own part of a file. */
export const FEEDBACK_FORMAT = "tallystick/feedback/v1";

/** The tag that ERC-8004 gives to a rating of quality from 0 to 100. */
export const STARRED = "starred";

/** The value of one star in ERC-8004's `starred`. Five stars are 100. */
const PER_STAR = 20;

/** An entry with its proof. The checkpoint of the tree is in the file's other proof. */
const provenEntrySchema = z.strictObject({
  entry: z.string(),
  index: z.int().min(0),
  inclusion_proof: z.array(hash32Schema).max(64),
});

const text = z.string().max(256);

/**
 * A feedback file of ERC-8004 that proves that the feedback is for a paid hire. It contains the receipt of the seller
 * and the rating of the buyer, both with a proof under one checkpoint of the ledger. All other fields follow from
 * these two, the registry and the agent.
 */
export const feedbackFileSchema = z.strictObject({
  agentRegistry: accountIdSchema,
  agentId: z.int().min(0),
  clientAddress: accountIdSchema,
  createdAt: text,
  value: z.int(),
  valueDecimals: z.int().min(0).max(18),
  tag1: text,
  tag2: text,
  proofOfPayment: z.strictObject({
    fromAddress: addressSchema,
    toAddress: addressSchema,
    chainId: text,
    txHash: hash32Schema,
  }),
  tallystick: z.strictObject({
    format: z.literal(FEEDBACK_FORMAT),
    ledger: ledgerNameSchema,
    receipt: entryHashSchema,
    rating: entryHashSchema,
    seller: addressSchema,
    stars: z.int().min(1).max(5),
    amount_usdc_atomic: z.string().regex(/^\d{1,39}$/, "must be digits"),
    receipt_proof: proofBundleSchema,
    rating_proof: provenEntrySchema,
  }),
});

export type FeedbackFile = z.output<typeof feedbackFileSchema>;

export type ProvenRating = z.output<typeof provenEntrySchema>;

export type FeedbackSources = {
  /** The identity registry, and the agent's number in it. */
  agentRegistry: AccountId;
  agentId: number;
  receiptProof: z.input<typeof proofBundleSchema>;
  ratingProof: z.input<typeof provenEntrySchema>;
};

/**
 * Makes the content of a feedback file. The same sources always give the same file. It checks the form of
 * both entries and that they belong together; `checkFeedbackFile` checks signatures and proofs.
 *
 * @throws InvalidInputError naming the field that is wrong
 */
export function feedbackContent(sources: FeedbackSources): RecordBody {
  const { agentRegistry, agentId, receiptProof, ratingProof } = sources;
  const { receipt, rating, receiptHash, ratingHash, ratedAt } = readHire(sources);
  const chainId = chainIdOfNetwork(receipt.network);
  if (chainId === undefined)
    fail("tallystick.receipt_proof.entry", `names the network ${receipt.network}, which is no EVM chain`);
  return {
    agentRegistry: formatAccountId(agentRegistry),
    agentId,
    clientAddress: formatAccountId({ chainId: agentRegistry.chainId, address: receipt.buyer }),
    createdAt: ratedAt,
    value: PER_STAR * rating.stars,
    valueDecimals: 0,
    tag1: STARRED,
    tag2: receipt.capability,
    proofOfPayment: {
      fromAddress: receipt.buyer,
      toAddress: receipt.payee ?? receipt.agent_id,
      chainId: String(chainId),
      txHash: receipt.tx_hash,
    },
    tallystick: {
      format: FEEDBACK_FORMAT,
      ledger: receiptProof.ledger?.id ?? "local",
      receipt: receiptHash,
      rating: ratingHash,
      seller: receipt.agent_id,
      stars: rating.stars,
      amount_usdc_atomic: receipt.amount_usdc_atomic,
      receipt_proof: receiptProof,
      rating_proof: ratingProof,
    },
  };
}

/** Reads the receipt and the rating from two entries. @throws InvalidInputError when they do not belong together */
export function readHire({
  receiptProof,
  ratingProof,
}: Pick<FeedbackSources, "receiptProof" | "ratingProof">) {
  const receiptEntry = readProvenEntry(receiptProof.entry);
  const ratingEntry = readProvenEntry(ratingProof.entry);
  const receiptRecord = recordFromPayload(receiptEntry.payload);
  const ratingRecord = recordFromPayload(ratingEntry.payload);
  if (receiptRecord.type !== "receipt") fail("tallystick.receipt_proof.entry", "must be a receipt");
  if (ratingRecord.type !== "rating") fail("tallystick.rating_proof.entry", "must be a rating");
  const receipt = checkReceipt(receiptRecord);
  const rating = parseRating(ratingRecord.body);
  if (isFreeReceipt(receipt)) fail("tallystick.receipt_proof.entry", "is of a free call: nothing was paid");
  if (rating.receipt !== receiptEntry.currentHash)
    fail("tallystick.rating_proof.entry", "must be the rating of this receipt");
  if (rating.side !== "buyer" || ratingRecord.signer !== receipt.buyer)
    fail("tallystick.rating_proof.entry", "must be the rating by the receipt's buyer");
  return {
    receipt,
    rating,
    receiptRecord,
    ratingRecord,
    receiptHash: receiptEntry.currentHash,
    ratingHash: ratingEntry.currentHash,
    ratedAt: new Date(Math.floor(Number(ratingEntry.timestamp)) * 1000).toISOString().replace(".000Z", "Z"),
  };
}

/**
 * Reads the content of a feedback file.
 *
 * @throws InvalidInputError naming every wrong field
 */
export function parseFeedbackFile(content: unknown): FeedbackFile {
  const parsed = feedbackFileSchema.safeParse(content);
  if (!parsed.success) throw invalidInputFromZod(parsed.error);
  return parsed.data;
}

function fail(field: string, message: string): never {
  throw new InvalidInputError({ issues: [{ field, message }] });
}
