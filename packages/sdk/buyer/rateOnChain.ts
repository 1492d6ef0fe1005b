import { TallystickError } from "tallystick-protocol/errors";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import type { LocalAccount } from "viem";
import type { PostedOrNot } from "../erc8004/postFeedback.ts";
import type { ChainReader, ChainRegistries } from "../erc8004/registries.ts";
import type { Fetch } from "../requestService.ts";

/** How a rating is posted to ERC-8004's reputation registry too. */
export type RateErc8004 = {
  /** The seller's number in the identity registry. */
  agentId: number;
  registries: ChainRegistries;
  /** Reads the registries' chain and sends the transaction. Default: the buyer's `client`. */
  client?: ChainReader;
  /** The most that the transaction may cost, in wei. The buyer's account pays it. */
  maxCostWei: bigint;
  /** The address at which others reach the node that keeps the file. Default: the buyer's `baseUrl`. */
  publicUrl?: string;
  /** Also posts entries that are not anchored yet. */
  allowUnanchored?: boolean;
  /** Milliseconds between two looks for the transaction. Default 1,000. */
  pollingMs?: number;
};

/** The outcome of the feedback. After `failed` the rating is still valid, and the same call tries again. */
export type RatedOnChain = PostedOrNot | { status: "failed"; error: TallystickError };

/**
 * Posts a rating that is in the ledger. It never throws, because the rating is valid even if posting fails.
 */
export async function rateOnChain(
  wanted: RateErc8004,
  rating: { receiptHash: string; ledger: LedgerName },
  buyer: {
    account: LocalAccount;
    baseUrl: string;
    fetch: Fetch;
    client: ChainReader | undefined;
    now: () => number;
    devMode: boolean;
  },
): Promise<RatedOnChain> {
  try {
    const client = wanted.client ?? buyer.client;
    if (client === undefined) {
      throw new TallystickError({
        code: "no_chain_client",
        message: "No client reads the registries' chain.",
        hint: "Give `client` in erc8004, or to createBuyer.",
      });
    }
    // Loaded only here, because buyers that do not post there do not need it.
    const { postFeedback } = await import("../erc8004/postFeedback.ts");
    const { maxCostWei, ...rest } = wanted;
    const agree = ({ total }: { total: bigint }) => total <= maxCostWei;
    return await postFeedback({ ...buyer, ...rest, ...rating, client, agree, now: () => buyer.now() / 1000 });
  } catch (cause) {
    if (cause instanceof TallystickError) return { status: "failed", error: cause };
    const message = cause instanceof Error ? cause.message : String(cause);
    return { status: "failed", error: new TallystickError({ code: "not_posted", message, cause }) };
  }
}
