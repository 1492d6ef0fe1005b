import type { Verification } from "../../protocol/capabilities/verification.ts";
import type { RecordBody } from "../../protocol/json/recordBody.ts";
import { signBody, signRecord } from "../../protocol/records/record.ts";
import { requestService } from "../requestService.ts";
import type { BuyerContext } from "./buyerContext.ts";
import type { SellerClientRequest } from "./sellerClient.ts";

/**
 * Tells the ledger what the buyer measured and found (SHP §8.1, §9.2): what counts of a hire is its buyer's word before
 * its seller's. Never fails a hire: says whether it was told.
 */
export async function reportHire(
  context: Pick<BuyerContext, "account" | "baseUrl" | "fetch">,
  facts: { receiptHash: string; latencyMs: number; verification: Verification },
): Promise<boolean> {
  const { all_passed, checks } = facts.verification;
  const body: RecordBody = {
    receipt: facts.receiptHash,
    latency_ms: Math.max(0, Math.round(facts.latencyMs)),
    verification: { all_passed, checks },
  };
  try {
    const { signer, signature } = await signRecord({ type: "telemetry", body, account: context.account });
    const { baseUrl, fetch } = context;
    await requestService({ baseUrl, path: "/telemetry", body: { body, signer, signature }, fetch });
    return true;
  } catch {
    return false;
  }
}

/** Signs the receipt of a free hire, which counts for nothing without its buyer's signature (SHP §11). */
export async function countersign(
  context: Pick<BuyerContext, "account">,
  ask: SellerClientRequest,
  jobId: string,
  receiptBody: RecordBody,
): Promise<{ receiptHash: string | null; ratingToken: string | null }> {
  const signature = await signBody(receiptBody, { account: context.account });
  const nothing = { receiptHash: null, ratingToken: null };
  try {
    const { status, body } = await ask(`/jobs/${jobId}/countersignature`, 5_000, {
      body: { buyer_signature: signature },
    });
    if (status !== 200 || body === null || typeof body !== "object") return nothing;
    const { receipt_hash: hash, rating_token: token } = body as { [key: string]: unknown };
    return {
      receiptHash: typeof hash === "string" ? hash : null,
      ratingToken: typeof token === "string" ? token : null,
    };
  } catch {
    return nothing;
  }
}

/** Which rating to give: stars from 1 to 5, with the token that came with the hire (SHP §9.1). */
export type RateParameters = {
  receiptHash: string;
  ratingToken: string;
  stars: number;
  latencyMs?: number;
  /** Stays with the registry; the ledger keeps its hash. */
  comment?: string;
};

/** The body of a rating by a hire's buyer. */
export function ratingBody(parameters: RateParameters, commentHash: string | undefined): RecordBody {
  const { receiptHash, stars, latencyMs } = parameters;
  return {
    receipt: receiptHash,
    side: "buyer",
    stars,
    ...(latencyMs !== undefined && { latency_ms: Math.round(latencyMs) }),
    ...(commentHash !== undefined && { comment_hash: commentHash }),
  };
}
