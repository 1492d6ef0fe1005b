import type { McpServer } from "@modelcontextprotocol/server";
import { formatUsdc } from "tallystick-protocol/amount";
import { ratingToken } from "tallystick-protocol/records/ratingToken";
import { z } from "zod";
import { type McpContext, requireSpendCap, requireWallet } from "../mcpContext.ts";
import { plainName } from "../strangersText.ts";
import { answering } from "../toolResult.ts";

/** Tools of a buyer after a hire: rate it, and see what is left to spend. */
export function registerBuyerTools(server: McpServer, context: McpContext): void {
  server.registerTool(
    "rate_agent",
    {
      title: "Rate an agent",
      description:
        "Give 1 to 5 stars for a hire. Name the hire by the receipt_hash that hire_agent gave. A hire can be rated once; the rating is public and final.",
      inputSchema: z.object({
        receipt_hash: z.string().regex(/^[0-9a-f]{64}$/),
        stars: z.int().min(1).max(5),
        comment: z.string().max(2000).optional().describe("The ledger keeps only its hash."),
        latency_ms: z.int().nonnegative().optional(),
      }),
      outputSchema: z.object({
        rated: z.boolean(),
        rating_token: z.string(),
        ledger: z.string().describe("The ledger for which the rating is signed."),
      }),
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    ({ receipt_hash: receiptHash, stars, comment, latency_ms: latencyMs }) =>
      answering(async () => {
        const { buyer } = requireSpendCap(context);
        const token = ratingToken(receiptHash, "buyer");
        const { ledger } = await buyer.rate({
          receiptHash,
          ratingToken: token,
          stars,
          ...(comment !== undefined && { comment }),
          ...(latencyMs !== undefined && { latencyMs }),
        });
        return { rated: true, rating_token: token, ledger: plainName(ledger) };
      }),
  );

  server.registerTool(
    "get_remaining_budget",
    {
      title: "Get the remaining budget",
      description:
        "How much this server may still spend. A payment that was signed counts as spent. If the money comes back, it can be spent again.",
      inputSchema: z.object({}),
      outputSchema: z.object({
        spend_cap_usdc: z.string(),
        remaining_usdc: z.string(),
        max_per_hire_usdc: z.string(),
        payment_modes: z
          .array(z.string())
          .describe("The ways in which hire_agent may pay: direct, and the allowed escrows."),
        wallet: z.string(),
      }),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    () =>
      answering(async () => {
        const { budget, total, perHire, paymentModes } = requireSpendCap(context);
        return {
          spend_cap_usdc: formatUsdc(total),
          remaining_usdc: formatUsdc(await budget.remaining()),
          max_per_hire_usdc: formatUsdc(perHire),
          payment_modes: paymentModes,
          wallet: requireWallet(context).address,
        };
      }),
  );
}
