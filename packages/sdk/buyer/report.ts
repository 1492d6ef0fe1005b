import type { Verification } from "tallystick-capabilities/verification";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signBody, signRecord } from "tallystick-protocol/records/record";
import type { LocalAccount } from "viem";
import { expectSettled } from "../expectSettled.ts";
import { type Fetch, requestService } from "../requestService.ts";
import type { RateErc8004 } from "./rateOnChain.ts";
import type { SellerClientRequest } from "./sellerClient.ts";

/**
 * The reporting account, the service that takes the report, and the ledger for which the report is signed.
 */
export type Reporter = {
  account: LocalAccount;
  baseUrl: string;
  fetch: Fetch;
  ledger: () => Promise<LedgerName>;
};

/**
 * Reports to the ledger what the buyer measured and found (SHP §8.1, §9.2). The buyer's figures for a hire
 * have priority over the seller's.
 *
 * @throws ServiceError
 */
export async function reportHire(
  context: Reporter,
  facts: {
    receiptHash: string;
    /** Absent when nobody measured it, for example after a crash. */
    latencyMs?: number | undefined;
    verification: Pick<Verification, "all_passed" | "checks">;
  },
): Promise<void> {
  const { latencyMs } = facts;
  const { all_passed, checks } = facts.verification;
  const body: RecordBody = {
    receipt: facts.receiptHash,
    ...(latencyMs !== undefined && { latency_ms: Math.max(0, Math.round(latencyMs)) }),
    verification: { all_passed, checks },
  };
  const { account, baseUrl, fetch } = context;
  const record = await signRecord({ type: "telemetry", ledger: await context.ledger(), body, account });
  const { text } = await requestService({ baseUrl, path: "/telemetry", body: record, fetch });
  expectSettled(text);
}

/**
 * Signs a receipt and sends the signature to the seller: see `needsBuyerSignature`.
 *
 * @returns the receipt's entry hash; null while the ledger does not have it
 */
export async function countersign(
  context: Pick<Reporter, "account">,
  ask: SellerClientRequest,
  jobId: string,
  receiptBody: RecordBody,
): Promise<string | null> {
  const signature = await signBody(receiptBody, { account: context.account });
  const { body } = await ask(`/jobs/${jobId}/countersignature`, COUNTERSIGN_MS, {
    body: { buyer_signature: signature },
  });
  return receiptHashIn(body);
}

/** How long a seller may take for one question about a receipt, in milliseconds. */
const COUNTERSIGN_MS = 5_000;

/** The entry hash of a job's receipt, as its seller says; null while the ledger does not have it. */
export async function findReceiptHash(ask: SellerClientRequest, jobId: string): Promise<string | null> {
  return receiptHashIn((await ask(`/jobs/${jobId}`, COUNTERSIGN_MS)).body);
}

function receiptHashIn(body: unknown): string | null {
  const hash = Reflect.get(Object(body), "receipt_hash");
  return typeof hash === "string" && /^[0-9a-f]{64}$/.test(hash) ? hash : null;
}

/** Which rating to give: stars from 1 to 5, with the token that came with the hire (SHP §9.1). */
export type RateParameters = {
  receiptHash: string;
  ratingToken: string;
  stars: number;
  latencyMs?: number;
  /** The node keeps the text. The ledger has only its hash. */
  comment?: string;
  /** Also posts the rating to ERC-8004's reputation registry, once the ledger has the rating. */
  erc8004?: RateErc8004;
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
