import { setTimeout as wait } from "node:timers/promises";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { toBareHex } from "tallystick-protocol/hex";
import { startDeadline } from "tallystick-sdk/deadline";
import type { CallBudget } from "../budget/callBudget.ts";
import { costOf, type Model, mostOf } from "../models/modelTable.ts";
import { formatDollars, type Picodollars, readDollars } from "../models/money.ts";
import type { OpenedModel } from "../models/openModel.ts";
import type { CallRecord } from "../tasks/callRecord.ts";
import { recordPrices } from "../tasks/recordedPrices.ts";
import type { FinishedCall } from "../tasks/taskFile.ts";
import type { CallSpans } from "../telemetry.ts";
import type { Call } from "./call.ts";
import type { ExecutorPrompt } from "./executorPrompt.ts";
import { type Answer, readAnswer } from "./readAnswer.ts";
import { CallFailure, type Reply, streamAnswer } from "./streamAnswer.ts";

/** Tokens for roles and the schema, in addition to the text. A token has at least one byte. */
const TOKENS_BESIDE = 1_000;
/** The most requests for one answer, including the first, and the longest pause that a vendor may ask for. */
const MAX_REQUESTS = 4;
const MAX_PAUSE_MS = 60_000;

export type CallContext = {
  openModel: (model: Model) => OpenedModel;
  budget: CallBudget;
  /** The task of the call, and the highest cost of this task. */
  task: string;
  taskLimit?: Picodollars | undefined;
  /** A finished call of this step, by this process or an earlier one. */
  finished: (step: string) => FinishedCall | undefined;
  /** @throws when settlement refuses the dispatcher's key, so that no answer could be settled */
  requireKey: () => Promise<void>;
  /** @throws when the task has made as many requests as a task may make */
  requireRoom: () => void;
  /** Remembers a finished call, on disk. */
  finish: (step: string, call: FinishedCall) => Promise<void>;
  spans: CallSpans;
  /** Milliseconds since 1970. */
  now: () => number;
  signal: AbortSignal;
};

/** The most tokens that a prompt may take. */
export function promptTokens({ instructions, prompt }: ExecutorPrompt, schema: object): number {
  return utf8ToBytes(instructions + prompt + JSON.stringify(schema)).length + TOKENS_BESIDE;
}

/** The result of a failed request that is repeated. */
const AGAIN = { again: true } as const;

/**
 * Asks a model, and asks again while the model is busy. Before a request is sent, its cost is reserved in the budget,
 * and the request is stored. When the request is over, its result is stored too. So a later process uses the stored
 * answer and does not ask again. If no process saw the end of a request, the request counts as paid at its highest
 * cost, and the next request is sent.
 *
 * @param step names the call within its task
 * @throws CallBudgetError; SettlementKeyRefused; the signal's reason. A fault of the model or its server is a result and
 * not an error
 */
export async function callModel(context: CallContext, step: string, call: Call): Promise<Answer> {
  let last = "no_answer";
  for (let request = 0; request < MAX_REQUESTS; request++) {
    const id = `${step}/${request}`;
    const known = context.finished(id);
    const done = known ?? (await requestOnce(context, id, call, request));
    const result = done.result as Answer | typeof AGAIN;
    if (!("again" in result)) return result;
    last = done.record.ended;
    if (known || request + 1 === MAX_REQUESTS) continue;
    const asked = "retryAfterMs" in done ? (done.retryAfterMs as number) : 0;
    const pause = Math.min(MAX_PAUSE_MS, Math.max(asked, 250 * 2 ** request));
    await wait(pause, undefined, { signal: context.signal }).catch(() => context.signal.throwIfAborted());
  }
  return { fault: last };
}

type Done = FinishedCall & { retryAfterMs?: number };

async function requestOnce(context: CallContext, id: string, call: Call, request: number): Promise<Done> {
  const { budget, task, taskLimit, spans, finish } = context;
  const { model, prompt, schema } = call;
  const input = promptTokens(prompt, schema);
  const { context: window, output } = model.limits;
  const maxOutputTokens = Math.min(output, Math.max(1, window - Math.ceil(input / 3)));
  const most = mostOf({ input, output: maxOutputTokens }, model.prices);
  const callId = `${task}/${id}`;
  const recordOf = recorder({ call, callId, maxOutputTokens, request, startedAt: context.now() / 1_000 });
  context.requireRoom();
  // Another task may have learned that settlement refuses the key. Then this call would be paid for nothing.
  await context.requireKey();
  await budget.reserve({ id: callId, task, amount: most, taskLimit });
  await finish(id, { record: recordOf("lost_with_its_process", most), result: AGAIN });
  const limit = startDeadline(model.limits.seconds * 1_000, context.signal);
  const ask = async (tell: (what: Reply | CallFailure) => void): Promise<Done> => {
    try {
      const opened = context.openModel(model);
      const reply = await streamAnswer({ model, opened }, prompt, {
        schema,
        maxOutputTokens,
        signal: limit.signal,
      });
      tell(reply);
      const cost = reply.tokens ? costOf(reply.tokens, model.prices) : most;
      const answer: Answer =
        reply.ended === "stop" ? readAnswer(reply.text, schema) : { fault: `ended_by_${reply.ended}` };
      return { record: recordOf("fault" in answer ? answer.fault : "answered", cost, reply), result: answer };
    } catch (error) {
      const failure = failureOf(error, limit.signal);
      tell(failure);
      const { code, isFree, isRetryable, retryAfterMs } = failure;
      const record = recordOf(code, isFree ? 0n : most);
      if (!isRetryable || context.signal.aborted) return { record, result: { fault: code } };
      return {
        record,
        result: AGAIN,
        ...(isFree && { isFree: true as const }),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
      };
    }
  };
  try {
    const done = await spans.call(call, ask);
    const { retryAfterMs: _, ...kept } = done;
    await finish(id, kept);
    await budget.settle(callId, readDollars(done.record.cost_usd) as Picodollars);
    return done;
  } finally {
    limit.end();
  }
}

/** Makes the records of one request: what is known before it, and its result. */
function recorder(about: {
  call: Call;
  callId: string;
  maxOutputTokens: number;
  request: number;
  /** Unix seconds. */
  startedAt: number;
}): (ended: string, cost: Picodollars, reply?: Reply) => CallRecord {
  const { call, callId, maxOutputTokens, request, startedAt } = about;
  const { model, prompt } = call;
  const began = performance.now();
  return (ended, cost, reply) => ({
    id: callId,
    role: call.role,
    tier: call.tier,
    model: model.name,
    provider: model.provider,
    model_id: model.id,
    answered_by: reply?.answeredBy ?? null,
    temperature: model.temperature ?? null,
    max_output_tokens: maxOutputTokens,
    prompt_sha256: hashOf(`${prompt.instructions}\n${prompt.prompt}`),
    response_sha256: reply ? hashOf(reply.text) : null,
    tokens: reply?.tokens
      ? {
          input: reply.tokens.input,
          cached_input: reply.tokens.cachedInput,
          output: reply.tokens.output,
          reasoning: reply.tokens.reasoning,
        }
      : null,
    cost_usd: formatDollars(cost),
    prices: recordPrices(model.prices),
    cost_from: reply?.tokens ? "tokens" : "reserved",
    started_at: Math.round(startedAt * 1_000) / 1_000,
    latency_ms: Math.round(performance.now() - began),
    ended,
    retries: request,
  });
}

/** A call that was cut off may have had the highest possible cost. */
function failureOf(error: unknown, signal: AbortSignal): CallFailure {
  if (error instanceof CallFailure) return error;
  if (!signal.aborted) throw error;
  return new CallFailure("cut_off", { isFree: false, isRetryable: false, cause: error });
}

function hashOf(text: string): string {
  return toBareHex(sha256(utf8ToBytes(text)));
}
