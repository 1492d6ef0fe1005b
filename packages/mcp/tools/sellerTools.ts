import type { McpServer } from "@modelcontextprotocol/server";
import { offerProblem } from "tallystick-capabilities/offerProblem";
import { priceUsdcSchema } from "tallystick-protocol/amount";
import { capabilitySchema } from "tallystick-protocol/capabilitySchema";
import { InvalidInputError } from "tallystick-protocol/errors";
import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { isLedgerHash } from "tallystick-protocol/ledger/entry";
import { parseListing } from "tallystick-protocol/records/listing";
import { signRecord } from "tallystick-protocol/records/record";
import { readServiceAnswer } from "tallystick-sdk/readServiceAnswer";
import { requestService } from "tallystick-sdk/requestService";
import { z } from "zod";
import { type McpContext, requireWallet } from "../mcpContext.ts";
import {
  plainCapability,
  plainCursor,
  plainFigure,
  plainFigures,
  strangersText,
  strangersTextSchema,
} from "../strangersText.ts";
import { answering } from "../toolResult.ts";

/** A sandbox answers without a hash and an index, because it stores nothing. */
const publishedForm = z.object({
  status: z.string(),
  hash: z.string().refine(isLedgerHash).nullish(),
  index: z.int().min(0).nullish(),
});

/** Tools of a seller: publish an offer, and list the receipts of hires. */
export function registerSellerTools(server: McpServer, context: McpContext): void {
  registerPublishListing(server, context);
  registerMyReceipts(server, context);
}

function registerPublishListing(server: McpServer, context: McpContext): void {
  server.registerTool(
    "publish_listing",
    {
      title: "Publish a listing",
      description:
        "Sign and publish an offer by this server's wallet: one capability, its price, its latency and the address where it is served. For each capability and payment mode the newest listing counts. retired: true takes the offer down. A listing is public and stays in the ledger forever.",
      inputSchema: z.object({
        capability: capabilitySchema,
        price_usdc: priceUsdcSchema,
        max_latency_ms: z.int().positive(),
        endpoint: z
          .url({ protocol: /^https?$/ })
          .describe("The address at which POST {endpoint}/hire is served."),
        payment_mode: z.string().optional(),
        verification_version: z.string().optional(),
        first_call_free: z.boolean().optional(),
        clarification_supported: z.boolean().optional().describe("For custom.* capabilities only."),
        retired: z.boolean().optional(),
      }),
      outputSchema: z.object({
        status: z.string(),
        hash: z.string().nullable(),
        index: z.number().nullable(),
        agent_id: z.string(),
      }),
      annotations: {
        readOnlyHint: false,
        destructiveHint: false,
        idempotentHint: false,
        openWorldHint: true,
      },
    },
    (asked) =>
      answering(async () => {
        const { account, address } = requireWallet(context);
        const given = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== undefined));
        const issuedAt = Math.floor(context.now() / 1000);
        const body = {
          payment_mode: "direct",
          ...given,
          agent_id: address,
          issued_at: issuedAt,
        } as RecordBody;
        const problem = offerProblem(parseListing(body), issuedAt);
        if (problem.issues.length > 0) throw new InvalidInputError(problem);
        const { signer, signature } = await signRecord({ type: "listing", body, account });
        const { baseUrl, fetch } = context;
        const { text } = await requestService({
          baseUrl,
          path: "/v1/listings",
          body: { body, signer, signature },
          fetch,
        });
        const { status, hash, index } = readServiceAnswer(publishedForm, tryForeignJson(text));
        return { status: plainFigure(status), hash: hash ?? null, index: index ?? null, agent_id: address };
      }),
  );
}

function registerMyReceipts(server: McpServer, context: McpContext): void {
  server.registerTool(
    "my_receipts",
    {
      title: "My receipts",
      description:
        "The receipts of this server's wallet as a seller, the latest first. Each receipt says how its hire counts.",
      inputSchema: z.object({ limit: z.int().min(1).max(100).optional(), cursor: z.string().optional() }),
      outputSchema: z.object({
        agent_id: z.string(),
        receipts: z.array(
          z.looseObject({
            receipt_hash: z.string(),
            buyer: z.string(),
            capability: z.string(),
            amount_usdc_atomic: z.string(),
            status: z.string(),
          }),
        ),
        next_cursor: z.string().nullable(),
        from_others: strangersTextSchema.describe("The capability of each receipt, by its hash."),
      }),
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    ({ limit, cursor }) =>
      answering(async () => {
        const { address } = requireWallet(context);
        const page = { ...(limit !== undefined && { limit }), ...(cursor !== undefined && { cursor }) };
        const { next_cursor, receipts: all, ...of } = await context.query.receipts(address, page);
        const receipts = all.map((it) => Object(it) as typeof it);
        const shown = receipts.map((it) => ({ ...it, capability: plainCapability(it.capability) }));
        const said = receipts.map((it) => [plainFigure(String(it.receipt_hash)), it.capability]);
        return {
          ...(plainFigures({ ...of, receipts: shown }) as object),
          next_cursor: plainCursor(next_cursor),
          from_others: strangersText(Object.fromEntries(said)),
        };
      }),
  );
}
