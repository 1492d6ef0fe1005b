import { APICallError, type OutputInterface, streamText } from "ai";
import { TallystickError } from "tallystick-protocol/errors";
import type { Model, Tokens } from "../models/modelTable.ts";
import type { OpenedModel } from "../models/openModel.ts";
import type { ExecutorPrompt } from "./executorPrompt.ts";

/** The most characters of an answer that are read. */
const MAX_TEXT = 65_536;

/** The result of one request. */
export type Reply = {
  text: string;
  /**
   * How the vendor says that it ended, in the words of the SDK: `stop`, `length`, `content-filter`, `tool-calls`, …
   */
  ended: string;
  /** The model's id in the vendor's answer, or the asked id if the answer has none. */
  answeredBy: string;
  /** Undefined if the vendor gave no value or an impossible one. */
  tokens: Tokens | undefined;
};

/** Why there is no answer. */
export class CallFailure extends Error {
  /** True if the vendor certainly did no work, so the request costs nothing. */
  readonly isFree: boolean;
  /** Whether the same request may be sent again. */
  readonly isRetryable: boolean;
  /** How long the vendor asks to wait. */
  readonly retryAfterMs: number | undefined;
  readonly code: string;

  constructor(
    code: string,
    parameters: { isFree: boolean; isRetryable: boolean; retryAfterMs?: number | undefined; cause: unknown },
  ) {
    super(code, { cause: parameters.cause });
    this.code = code;
    this.isFree = parameters.isFree;
    this.isRetryable = parameters.isRetryable;
    this.retryAfterMs = parameters.retryAfterMs;
  }
}

/**
 * Sends one request to a model and reads its answer to the end. A failed request is not repeated here, but by the
 * caller.
 *
 * @throws CallFailure; the signal's reason
 */
export async function streamAnswer(
  { model, opened }: { model: Model; opened: OpenedModel },
  { instructions, prompt }: ExecutorPrompt,
  { schema, maxOutputTokens, signal }: { schema: object; maxOutputTokens: number; signal: AbortSignal },
): Promise<Reply> {
  const stop = new AbortController();
  const both = AbortSignal.any([signal, stop.signal]);
  const result = streamText({
    model: opened,
    instructions,
    prompt,
    output: jsonAnswer(model.structuredOutput ? schema : undefined),
    maxOutputTokens,
    ...(model.temperature !== undefined && { temperature: model.temperature }),
    maxRetries: 0,
    abortSignal: both,
    telemetry: { isEnabled: false },
    // OpenAI is asked not to store the request. Its strict mode is off, because it supports fewer schemas.
    providerOptions: { openai: { store: false, strictJsonSchema: false } },
    onError: () => {},
  });
  let text = "";
  let answeredBy = model.id;
  try {
    for await (const part of result.stream) {
      if (part.type === "text-delta") {
        text += part.text;
        if (text.length > MAX_TEXT)
          throw new CallFailure("answer_too_large", { isFree: false, isRetryable: false, cause: undefined });
      } else if (part.type === "error") throw part.error;
      else if (part.type === "abort") both.throwIfAborted();
      else if (part.type === "finish-step") answeredBy = plainId(part.response.modelId, model.id);
      else if (part.type === "finish") {
        const { inputTokens, inputTokenDetails, outputTokens, outputTokenDetails } = part.totalUsage;
        const tokens = tokensOf(model, {
          input: inputTokens,
          cachedInput: inputTokenDetails?.cacheReadTokens,
          output: outputTokens,
          reasoning: outputTokenDetails?.reasoningTokens,
        });
        return { text, ended: part.finishReason, answeredBy, tokens };
      }
    }
    throw new Error("the stream stopped before its `finish` part");
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof CallFailure ? error : failureOf(error);
  } finally {
    stop.abort();
  }
}

/**
 * Asks for JSON of a given form, and gives its text without parsing it. The SDK would parse the text again at every
 * piece of a stream, which takes quadratic time.
 */
function jsonAnswer(schema: object | undefined): OutputInterface<string, never, never> {
  return {
    name: "answer",
    responseFormat: Promise.resolve({
      type: "json",
      name: "answer",
      ...(schema && { schema: schema as never }),
    }),
    parseCompleteOutput: async ({ text }) => text,
    parsePartialOutput: async () => undefined,
    createElementStreamTransform: () => undefined,
  };
}

/** A model's id, in the form that the ledger accepts. */
function plainId(given: string | undefined, own: string): string {
  const plain = (given ?? "").replace(/[^\x21-\x7e]+/g, "").slice(0, 128);
  return plain === "" ? own : plain;
}

/** The counts, if they are possible: whole numbers within the limits of the model. */
function tokensOf(
  { limits }: Model,
  given: { [kind in keyof Tokens]: number | undefined },
): Tokens | undefined {
  const { input, output, cachedInput = 0, reasoning = 0 } = given;
  if (input === undefined || output === undefined) return undefined;
  const fits = [input, output, cachedInput, reasoning].every(
    (it) => Number.isSafeInteger(it) && it >= 0 && it <= limits.context + limits.output,
  );
  // Some vendors do not include reasoning tokens in the output tokens. So the larger of the two numbers is taken as the
  // output.
  return fits
    ? { input, cachedInput: Math.min(cachedInput, input), output: Math.max(output, reasoning), reasoning }
    : undefined;
}

function failureOf(error: unknown): CallFailure {
  if (isTooLarge(error))
    return new CallFailure("answer_too_large", { isFree: false, isRetryable: false, cause: error });
  if (!APICallError.isInstance(error) || error.statusCode === undefined || error.statusCode < 400) {
    // Nobody knows whether the vendor did the work.
    return new CallFailure("connection_lost", { isFree: false, isRetryable: true, cause: error });
  }
  const { statusCode: status, responseHeaders } = error;
  const isBusy = status === 408 || status === 409 || status === 429 || status >= 500;
  return new CallFailure(status === 429 || status === 529 ? "overloaded" : `http_${status}`, {
    // Other errors of the server are not free: a gateway may have passed the request on before it failed.
    isFree: status < 500 || status === 503 || status === 529,
    isRetryable: isBusy,
    retryAfterMs: retryAfterOf(responseHeaders),
    cause: error,
  });
}

/** `retry-after-ms`, or `retry-after` in seconds or as a date. */
function retryAfterOf(headers: { [name: string]: string } | undefined): number | undefined {
  const ms = Number(headers?.["retry-after-ms"] ?? Number.NaN);
  if (ms >= 0) return ms;
  const given = headers?.["retry-after"];
  if (given === undefined) return undefined;
  const seconds = Number(given);
  if (seconds >= 0) return seconds * 1_000;
  const at = Date.parse(given);
  return Number.isNaN(at) ? undefined : Math.max(0, at - Date.now());
}

/** Whether this is the error `answer_too_large` of `models/limitedFetch.ts`. The SDK wraps it into its own errors. */
function isTooLarge(error: unknown): boolean {
  let it = error;
  for (let depth = 0; depth < 8 && it instanceof Error; depth++, it = it.cause)
    if (it instanceof TallystickError && it.code === "answer_too_large") return true;
  return false;
}
