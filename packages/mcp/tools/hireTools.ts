import type { McpServer } from "@modelcontextprotocol/server";
import { addressSchema } from "tallystick-protocol/address";
import { formatUsdc, parseUsdc, priceUsdcSchema } from "tallystick-protocol/amount";
import { capabilitySchema } from "tallystick-protocol/capabilitySchema";
import { TallystickError } from "tallystick-protocol/errors";
import { askedOf } from "tallystick-sdk/buyer/hireByKey";
import type { HireStage } from "tallystick-sdk/buyer/hiring";
import { acceptOffer } from "tallystick-sdk/clarify/clarify";
import { HireFailedError } from "tallystick-sdk/errors";
import type { HireParameters } from "tallystick-sdk/hireParameters";
import { z } from "zod";
import {
  type HireAnswerOutput,
  hireAnswerSchema,
  hireDone,
  hireRunning,
  nextStep,
  resumedHireSchema,
} from "../hireAnswer.ts";
import { type RunningHire, waitFor } from "../hireDesk.ts";
import { type McpContext, requireSpendCap, type SpendCap } from "../mcpContext.ts";
import { progressTo, stageInWords } from "../progress.ts";
import { answering } from "../toolResult.ts";

const idempotencyKey = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, "must have 1 to 200 visible ASCII characters")
  // In the SDK this word makes every call a hire of its own, without a note of it.
  .refine((key) => key !== "new", 'must be a name for this hire; "new" is not a name');
const params = z.record(z.string(), z.unknown()).describe("What the capability's input schema asks for.");

/** Tools that hire somebody, show the state of a hire, cancel a hire, and finish hires whose money is not settled. */
export function registerHireTools(server: McpServer, context: McpContext): void {
  registerHireAgent(server, context);
  registerGetHire(server, context);
  registerCancelHire(server, context);
  registerResumeHires(server, context);
}

function registerHireAgent(server: McpServer, context: McpContext): void {
  server.registerTool(
    "hire_agent",
    {
      title: "Hire an agent",
      description:
        "Pay an agent to do a task and get its result. This server verifies the result. It spends real USDC from its wallet, never more than max_price_usdc, the operator's limit for one hire, and the rest of its spend cap. A direct payment is final. With payment_mode escrow the money goes into an escrow that the operator allows: it is released if the result verifies, and refunded if not. next_step says what you have to do. Without agent_id the best seller within the limits is hired. You can safely call again when an answer was lost: the same call within an hour, or the same idempotency_key within 30 days, is the same hire and is never paid twice. If a hire takes longer than 20 seconds, the answer has status running: then call get_hire.",
      inputSchema: z.object({
        capability: capabilitySchema,
        params: params
          .optional()
          .describe(
            "The input that the capability's schema describes. If you give quote_token: exactly the params of the offer.",
          ),
        max_price_usdc: priceUsdcSchema.describe('The most that this hire may cost, in USDC: "0.50".'),
        max_latency_ms: z.int().positive().describe("The longest time that it may take, in milliseconds."),
        agent_id: addressSchema.optional().describe("Only this seller."),
        payment_mode: z
          .string()
          .max(256)
          .optional()
          .describe(
            "direct (the default), escrow for any escrow that the operator allows, or one of the payment_modes of get_remaining_budget. With quote_token, the mode of the offer's listing is used.",
          ),
        min_success_rate: z.number().min(0).max(1).optional(),
        min_trust_tier: z.int().min(0).max(2).optional(),
        quote_token: z.string().max(64).optional().describe("Accepts an offer that clarify gave."),
        idempotency_key: idempotencyKey
          .optional()
          .describe(
            "The name of this hire. To hire again with the same content, give a name that you have not used yet.",
          ),
      }),
      outputSchema: hireAnswerSchema,
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    (asked, extra) =>
      answering(async () => {
        const spend = requireSpendCap(context);
        const most = parseUsdc(asked.max_price_usdc);
        if (most > spend.perHire) {
          throw new TallystickError({
            code: "above_limit_per_hire",
            message: `One hire may cost at most ${formatUsdc(spend.perHire)} USDC here.`,
            hint: "Ask for less, or ask the operator to raise TALLYSTICK_MAX_PER_HIRE_USDC.",
          });
        }
        const wanted = hireParameters(context, asked);
        const key = asked.idempotency_key ?? (await spend.buyer.keyOf(wanted));
        const running = context.desk.start({ key, asked: askedOf(wanted) }, (how) =>
          spend.buyer.hire({ ...wanted, ...how, idempotencyKey: key }),
        );
        return await answerOf(context, spend, running, progressTo(extra), 0);
      }),
  );
}

function registerGetHire(server: McpServer, context: McpContext): void {
  server.registerTool(
    "get_hire",
    {
      title: "Get a hire",
      description:
        "The state and the result of a hire, by its idempotency_key, for 30 days. If the hire is running, this waits up to 20 seconds for it. If it was interrupted, this continues it. It never pays anything new. With offset it gives the next piece of a long result.",
      inputSchema: z.object({
        idempotency_key: idempotencyKey,
        offset: z.int().min(0).optional().describe("The next_offset of the previous piece."),
      }),
      outputSchema: hireAnswerSchema,
      annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
    },
    ({ idempotency_key: key, offset = 0 }, extra) =>
      answering(async () => {
        const spend = requireSpendCap(context);
        const running = context.desk.get(key);
        if (running) return await answerOf(context, spend, running, progressTo(extra), offset);
        const found = await spend.buyer.find(key);
        if (!found) throw unknownHire(key);
        if (found.error) throw found.error;
        const remaining = formatUsdc(await spend.budget.remaining());
        if (found.hire) return hireDone(key, found.hire, remaining, offset);
        if (found.kept.state === "open") {
          throw new TallystickError({
            code: "hire_failed_unpaid",
            message: "This hire failed before anything was signed.",
            hint: "Nothing was paid. Call hire_agent again to try once more.",
          });
        }
        return hireRunning(key, "Another process runs it, or ran it until that process ended", remaining);
      }),
  );
}

function registerCancelHire(server: McpServer, context: McpContext): void {
  server.registerTool(
    "cancel_hire",
    {
      title: "Cancel a hire",
      description:
        "Stop a running hire, by its idempotency_key. If nothing was signed yet, nothing is paid. Otherwise the answer says where the money is, and resume_hires finishes the hire.",
      inputSchema: z.object({ idempotency_key: idempotencyKey }),
      outputSchema: z.object({
        cancelled: z.boolean(),
        money: z.string(),
        next_step: z.string(),
        remaining_budget_usdc: z.string(),
      }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    ({ idempotency_key: key }) =>
      answering(async () => {
        const spend = requireSpendCap(context);
        const running = context.desk.get(key);
        if (!running) {
          if (!(await spend.buyer.find(key))) throw unknownHire(key);
          throw new TallystickError({
            code: "not_running",
            message: "This hire is not running in this server.",
            hint: "get_hire shows its result.",
          });
        }
        running.cancel();
        const ended = await waitFor(running, () => {}, context.handleAfterMs);
        const remaining_budget_usdc = formatUsdc(await spend.budget.remaining());
        // Once the payment of a hire is signed, only its seller can end it. A seller may be silent for a long time.
        if (ended === undefined) {
          const next_step =
            "The payment of this hire is signed already, so the hire goes on. get_hire shows how it ends.";
          return { cancelled: false, money: "authorized", next_step, remaining_budget_usdc };
        }
        if ("hire" in ended) {
          const { money } = ended.hire;
          const next_step = "This hire was done already. get_hire gives its result.";
          return { cancelled: false, money, next_step, remaining_budget_usdc };
        }
        const failed = ended.error instanceof HireFailedError ? ended.error : undefined;
        const money = failed?.money ?? "none";
        return {
          cancelled: money === "none",
          money,
          next_step: nextStep(money, failed?.escrow),
          remaining_budget_usdc,
        };
      }),
  );
}

function registerResumeHires(server: McpServer, context: McpContext): void {
  server.registerTool(
    "resume_hires",
    {
      title: "Finish hires whose money is not settled",
      description:
        "Finish the hires whose money an escrow still holds, or whose payment the seller may still take. This asks each seller for the result and verifies it. Then it releases or refunds the money; refunded money may be spent again. It spends nothing beyond what those hires reserved. It answers within 20 seconds. If hires still wait then, the server goes on with them, and another call tells their outcomes. You can repeat it safely.",
      inputSchema: z.object({}),
      outputSchema: z.object({
        hires: z.array(resumedHireSchema),
        waiting: z
          .int()
          .describe("How many hires have no outcome yet, plus how many outcomes are left for later answers."),
        next_step: z.string().nullable(),
        remaining_budget_usdc: z.string(),
      }),
      annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: true },
    },
    () =>
      answering(async () => {
        const { buyer, budget } = requireSpendCap(context);
        const { hires, waiting, isDone } = await context.resumes.resume(buyer, context.handleAfterMs);
        return {
          hires,
          waiting,
          next_step: isDone ? null : "The server goes on. Call resume_hires again for the other outcomes.",
          remaining_budget_usdc: formatUsdc(await budget.remaining()),
        };
      }),
  );
}

type Asked = {
  capability: string;
  params?: { [key: string]: unknown } | undefined;
  max_price_usdc: string;
  max_latency_ms: number;
  agent_id?: string | undefined;
  payment_mode?: string | undefined;
  min_success_rate?: number | undefined;
  min_trust_tier?: number | undefined;
  quote_token?: string | undefined;
};

/** The result of a hire if it ends in time; otherwise its idempotency key and its stage. */
async function answerOf(
  { handleAfterMs }: McpContext,
  { budget }: SpendCap,
  running: RunningHire,
  onStage: (stage: HireStage) => void,
  offset: number,
): Promise<HireAnswerOutput> {
  const ended = await waitFor(running, onStage, handleAfterMs);
  if (ended && "error" in ended) throw ended.error;
  const remaining = formatUsdc(await budget.remaining());
  if (ended) return hireDone(running.key, ended.hire, remaining, offset);
  return hireRunning(running.key, stageInWords(running.stage), remaining);
}

function unknownHire(key: string): TallystickError {
  return new TallystickError({
    code: "unknown_hire",
    message: `This server has no hire with the key ${key}.`,
    hint: "Give the idempotency_key of an answer of hire_agent; hires are kept for 30 days.",
  });
}

function hireParameters({ offers }: McpContext, asked: Asked): HireParameters {
  const limits = {
    maxPriceUsdc: asked.max_price_usdc,
    maxLatencyMs: asked.max_latency_ms,
    ...(asked.payment_mode !== undefined && { mode: asked.payment_mode }),
  };
  if (asked.quote_token !== undefined) {
    const known = offers.get(asked.quote_token);
    if (known) return { ...acceptOffer(known.listing, known.offer), ...limits };
    throw new TallystickError({
      code: "unknown_quote",
      message: "This server has no offer with this quote_token.",
      hint: "Call clarify, and give the quote_token of one of its offers.",
    });
  }
  return {
    capability: asked.capability,
    params: asked.params ?? {},
    ...limits,
    ...(asked.agent_id !== undefined && { seller: asked.agent_id }),
    ...(asked.min_success_rate !== undefined && { minSuccessRate: asked.min_success_rate }),
    ...(asked.min_trust_tier !== undefined && { minTrustTier: asked.min_trust_tier }),
  };
}
