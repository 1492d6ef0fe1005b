import { formatUsdc } from "tallystick-protocol/amount";
import { type Hex, ZERO_HASH } from "tallystick-protocol/hex";
import type { ReceiptSummary } from "tallystick-protocol/hire/hireAnswer";
import { receiptId } from "tallystick-protocol/hire/hireIds";
import { PROTOCOL } from "tallystick-protocol/hire/protocolVersion";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { type Listing, listingPayee } from "tallystick-protocol/records/listing";
import { escrowProviderOf } from "tallystick-protocol/records/paymentMode";
import { recordDigest } from "tallystick-protocol/records/record";
import { networkId, type PaymentNetwork } from "../chain/paymentNetwork.ts";
import type { Job } from "./job.ts";

/**
 * The receipt of a job whose money was collected, as its seller signs it. The receipt of a free job has no
 * payment (SHP §11).
 */
export function receiptBody(job: Job, listing: Listing, network: PaymentNetwork): RecordBody {
  const provider = escrowProviderOf(job.mode);
  const completedAt = job.completedAt as number;
  const payee = listingPayee(listing);
  return {
    agent_id: listing.agent_id,
    buyer: job.buyer,
    capability: job.capability,
    hire_id: job.hireId,
    tx_hash: job.free ? ZERO_HASH : (job.tx as Hex),
    amount_usdc_atomic: job.free ? "0" : job.price,
    network: networkId(network),
    completed_at: Math.floor(completedAt / 1000),
    protocol_version: PROTOCOL,
    verification: {
      all_passed: job.verification?.all_passed ?? false,
      checks: { ...job.verification?.checks },
    },
    payment_mode: job.mode,
    // An audit compares the work with these hashes. Every receipt has them, because a hire can be audited for
    // some time after the consent was withdrawn (SHP §8.3).
    ...(job.hashes && { params_hash: job.hashes.params, result_hash: job.hashes.result }),
    latency_ms: Math.max(0, Math.round(completedAt - job.acceptedAt)),
    ...(provider !== undefined && { escrow_provider: provider }),
    ...(job.escrowId !== undefined && { escrow_id: job.escrowId }),
    ...(payee !== listing.agent_id && { payee }),
    ...(listing.verification_version !== undefined && {
      verification_version: listing.verification_version,
    }),
  };
}

/** The summary of a receipt that the answer to a hire shows (SHP §7.1). */
export function receiptSummary(body: RecordBody, job: Job): ReceiptSummary {
  return {
    receipt_id: receiptId(recordDigest(body)),
    buyer_id: job.buyer,
    seller_id: body.agent_id as Hex,
    capability: job.capability,
    tx_hash: body.tx_hash as string,
    price_paid_usdc: formatUsdc(job.free ? 0n : BigInt(job.price)),
    payment_mode: job.mode,
    escrow_provider: escrowProviderOf(job.mode) ?? null,
    completed_at: body.completed_at as number,
  };
}
