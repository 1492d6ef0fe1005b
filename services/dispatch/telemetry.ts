import { type Attributes, type Span, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import {
  ATTR_GEN_AI_OPERATION_NAME,
  ATTR_GEN_AI_PROVIDER_NAME,
  ATTR_GEN_AI_REQUEST_MAX_TOKENS,
  ATTR_GEN_AI_REQUEST_MODEL,
  ATTR_GEN_AI_REQUEST_TEMPERATURE,
  ATTR_GEN_AI_RESPONSE_FINISH_REASONS,
  ATTR_GEN_AI_RESPONSE_MODEL,
  ATTR_GEN_AI_USAGE_INPUT_TOKENS,
  ATTR_GEN_AI_USAGE_OUTPUT_TOKENS,
} from "@opentelemetry/semantic-conventions/incubating";
import type { Call } from "./execute/call.ts";
import { CallFailure, type Reply } from "./execute/streamAnswer.ts";
import type { Outcome } from "./tasks/outcome.ts";

/** Wraps calls and tasks in spans. */
export type CallSpans = {
  call: <T>(call: Call, work: (tell: (what: Reply | CallFailure) => void) => Promise<T>) => Promise<T>;
};

export type Spans = CallSpans & {
  task: (about: { kind: string; taskId: string }, work: () => Promise<Outcome>) => Promise<Outcome>;
};

/** Used without telemetry. It makes no spans. */
export const noSpans: Spans = {
  call: (_, work) => work(() => {}),
  task: (_, work) => work(),
};

/**
 * Spans by OpenTelemetry's conventions for generative AI, as `@opentelemetry/semantic-conventions` has them in the
 * version that package.json names. A span has counts, names and times. It never has a prompt, an answer or other text of
 * a model.
 */
export function openSpans(tracer: Tracer = trace.getTracer("tallystick-dispatch")): Spans {
  const within = <T>(
    name: string,
    kind: SpanKind,
    attributes: Attributes,
    work: (span: Span) => Promise<T>,
  ) =>
    tracer.startActiveSpan(name, { kind, attributes }, async (span) => {
      try {
        return await work(span);
      } catch (error) {
        const code = (error as { code?: unknown } | null)?.code;
        span.setStatus({ code: SpanStatusCode.ERROR });
        span.setAttribute("error.type", typeof code === "string" ? code : "error");
        throw error;
      } finally {
        span.end();
      }
    });
  return {
    call: ({ model, role }, work) =>
      within(
        `chat ${model.id}`,
        SpanKind.CLIENT,
        {
          [ATTR_GEN_AI_OPERATION_NAME]: "chat",
          [ATTR_GEN_AI_PROVIDER_NAME]: model.provider,
          [ATTR_GEN_AI_REQUEST_MODEL]: model.id,
          [ATTR_GEN_AI_REQUEST_MAX_TOKENS]: model.limits.output,
          "tallystick.dispatch.role": role,
          ...(model.temperature !== undefined && { [ATTR_GEN_AI_REQUEST_TEMPERATURE]: model.temperature }),
        },
        (span) => work((what) => tell(span, what)),
      ),
    task: ({ kind, taskId }, work) =>
      within(
        "dispatch",
        SpanKind.INTERNAL,
        { "tallystick.task.id": taskId, "tallystick.task.kind": kind },
        async (span) => {
          const outcome = await work();
          span.setAttributes({
            "tallystick.dispatch.status": outcome.status,
            "tallystick.dispatch.calls": outcome.calls,
            "tallystick.dispatch.cost_usd": Number(outcome.cost_usd),
            ...(outcome.tier !== null && { "tallystick.dispatch.tier": outcome.tier }),
          });
          return outcome;
        },
      ),
  };
}

function tell(span: Span, what: Reply | CallFailure): void {
  if (what instanceof CallFailure) {
    span.setAttribute("error.type", what.code);
    span.setStatus({ code: SpanStatusCode.ERROR });
    return;
  }
  span.setAttributes({
    [ATTR_GEN_AI_RESPONSE_MODEL]: what.answeredBy,
    [ATTR_GEN_AI_RESPONSE_FINISH_REASONS]: [what.ended],
    ...(what.tokens && {
      [ATTR_GEN_AI_USAGE_INPUT_TOKENS]: what.tokens.input,
      [ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: what.tokens.output,
    }),
  });
}
