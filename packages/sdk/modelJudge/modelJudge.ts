import { utf8ToBytes } from "@noble/hashes/utils.js";
import { TallystickError } from "tallystick-protocol/errors";
import type { AuditCase, Judge, JudgeContext, Judgement } from "../auditor/judge.ts";
import { startDeadline } from "../deadline.ts";
import { type KeyValueStore, memoryStore } from "../store/keyValueStore.ts";
import { askModel, type JudgingModel, nameOfModel } from "./askModel.ts";
import { judgePrompt } from "./judgePrompt.ts";
import type { Opinion } from "./modelAnswer.ts";
import { rubricOf } from "./rubrics.ts";
import { spentTokens } from "./spentTokens.ts";
import { vetoRule } from "./vetoRule.ts";

/** The most models that judge together. */
const MAX_MODELS = 8;

/**
 * Tokens that the form of the answer takes. A token has at least one byte, so a prompt has at most as many
 * tokens as bytes.
 */
const TOKENS_BESIDE = 1_000;

export type ModelJudgeParameters = {
  /** One to eight models of the AI SDK, preferably of different vendors: `openai("…")`, `anthropic("…")`. */
  models: readonly JudgingModel[];
  /** How many models must fail the work for the verdict `fail`. Default 1: every model has a veto. */
  vetoes?: number;
  /** What good work is, by capability or family. These rubrics take precedence over those of this package. */
  rubrics?: { readonly [family: string]: string };
  /** How long one model may take, in milliseconds. Default 120,000. */
  modelMs?: number;
  /** The most tokens of one answer. Default 4,000: reasoning models use most of them for reasoning. */
  maxOutputTokens?: number;
  /** The most characters that are shown of the request, and of the result. Default 60,000. */
  maxCharacters?: number;
  /** The most tokens on one day, for all models together. Default 2,000,000. */
  tokensPerDay?: number;
  /**
   * Stores the cost of the day; give it the auditor's store. Without it the count starts at zero after each
   * restart.
   */
  store?: KeyValueStore;
  /**
   * Called with each model's opinion in its own words. A person may read it, but it never goes to the ledger.
   */
  onOpinion?: (opinion: Opinion, auditCase: AuditCase) => void;
  /** Milliseconds since 1970. */
  now?: () => number;
};

/**
 * A judge made of one or several language models. A model sees the work as data between marks that the work
 * cannot know. The answer must fit a schema and repeat a nonce that the work cannot know; any other answer is
 * inconclusive. So the work cannot write the verdict itself. It may still persuade a model; the veto of the
 * other models and the second round guard against that.
 *
 * @throws TallystickError `invalid_models`
 * @example const judge = modelJudge({ models: [openai("gpt-5.4"), anthropic("claude-sonnet-4-6")], store });
 */
export function modelJudge(parameters: ModelJudgeParameters): Judge {
  const { models, vetoes = 1, rubrics, modelMs = 120_000, onOpinion, now = Date.now } = parameters;
  const { maxOutputTokens = 4_000, maxCharacters = 60_000, tokensPerDay = 2_000_000 } = parameters;
  requireModels(models, vetoes);
  const spent = spentTokens({ store: parameters.store ?? memoryStore(), perDay: tokensPerDay, now });

  async function opinionBy(
    model: JudgingModel,
    auditCase: AuditCase,
    rubric: string,
    outer: AbortSignal,
  ): Promise<Opinion> {
    const { capability, params, result } = auditCase;
    // Each model has marks and a nonce of its own.
    const prompt = judgePrompt({ capability, rubric, params, result, most: maxCharacters });
    const bytes = utf8ToBytes(prompt.instructions + prompt.prompt).length;
    const most = bytes + maxOutputTokens + TOKENS_BESIDE;
    const reservation = await spent.reserve(most);
    if (reservation === undefined) throw budgetSpent(tokensPerDay);
    const limit = startDeadline(modelMs, outer);
    let used: number | undefined;
    try {
      const opinion = await askModel(model, prompt, { maxOutputTokens, signal: limit.signal });
      used = opinion.tokens > 0 ? opinion.tokens : undefined;
      onOpinion?.(opinion, auditCase);
      return opinion;
    } finally {
      limit.end();
      // The cost of a failed request is unknown, so the highest possible cost is counted.
      await reservation.settle(used ?? most);
    }
  }

  return async (auditCase: AuditCase, { signal, remember }: JudgeContext): Promise<Judgement> => {
    const rubric = rubricOf(auditCase.capability, rubrics);
    if (rubric === undefined) {
      const detail = `a text model cannot see what ${auditCase.capability} delivers`;
      return { verdict: "inconclusive", reasons: [{ code: "cannot_judge", detail }] };
    }
    // A model that has answered is not asked again, even if another model could not be reached.
    const asked = models.map((model, at) =>
      remember(`model-${at}`, () => opinionBy(model, auditCase, rubric, signal)),
    );
    const settled = await Promise.allSettled(asked);
    const failed = settled.find((one) => one.status === "rejected");
    if (failed) throw failed.reason;
    return vetoRule(await Promise.all(asked), vetoes);
  };
}

function requireModels(models: readonly JudgingModel[], vetoes: number): void {
  const names = models.map((model) => (typeof model === "string" ? undefined : nameOfModel(model)));
  const isGood = models.length >= 1 && models.length <= MAX_MODELS && !names.includes(undefined);
  if (isGood && Number.isInteger(vetoes) && vetoes >= 1 && vetoes <= models.length) return;
  throw new TallystickError({
    code: "invalid_models",
    message: `models must be 1 to ${MAX_MODELS} models of a provider, and vetoes a number of them.`,
    hint: "Give models as a provider of the AI SDK makes them, such as openai(…): a name alone would go to a gateway.",
    field: "models",
  });
}

function budgetSpent(perDay: number): TallystickError {
  return new TallystickError({
    code: "tokens_spent",
    message: `Another question could take more than the ${perDay} tokens of this day.`,
    hint: "The auditor asks again tomorrow, or you raise tokensPerDay.",
  });
}
