import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { toBareHex } from "tallystick-protocol/hex";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import { signRecord } from "tallystick-protocol/records/record";
import type { PublicClient } from "viem";
import { expectSettled } from "../expectSettled.ts";
import { requestService } from "../requestService.ts";
import type { BuyerContext } from "./buyerContext.ts";
import { type RatedOnChain, rateOnChain } from "./rateOnChain.ts";
import { type RateParameters, ratingBody } from "./report.ts";

/** Signs a rating, gives it to the node, and posts it to ERC-8004 on request: see `Buyer.rate`. */
export async function rateHire(
  context: BuyerContext,
  rating: RateParameters,
  client: PublicClient | undefined,
): Promise<{ ledger: LedgerName; erc8004?: RatedOnChain }> {
  const { account, baseUrl, fetch, now, devMode } = context;
  const { comment, ratingToken, receiptHash } = rating;
  const hash = comment === undefined ? undefined : toBareHex(sha256(utf8ToBytes(comment)));
  const ledger = await context.ledger();
  const record = await signRecord({ type: "rating", ledger, body: ratingBody(rating, hash), account });
  const { body, signer, signature } = record;
  const sent = {
    body,
    signer,
    signature,
    rating_token: ratingToken,
    ...(comment !== undefined && { comment }),
  };
  const { text } = await requestService({ baseUrl, path: "/v1/rate", body: sent, fetch });
  expectSettled(text);
  if (rating.erc8004 === undefined) return { ledger };
  const by = { account, baseUrl, fetch, client, now, devMode };
  return { ledger, erc8004: await rateOnChain(rating.erc8004, { receiptHash, ledger }, by) };
}
