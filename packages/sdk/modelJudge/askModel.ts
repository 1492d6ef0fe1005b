import { generateText, type LanguageModel, NoObjectGeneratedError, NoOutputGeneratedError, Output } from "ai";
import type { JudgePrompt } from "./judgePrompt.ts";
import { modelAnswerSchema, noOpinion, type Opinion, opinionOf } from "./modelAnswer.ts";

/**
 * A model as a provider of the AI SDK makes it; a name alone would be sent to whatever gateway the SDK has. Told by what is read of it, so that
 * the types of this package need none of the SDK's.
 */
export type JudgingModel = {
  readonly specificationVersion: string;
  readonly provider: string;
  readonly modelId: string;
};

export function nameOfModel({ provider, modelId }: JudgingModel): string {
  return `${provider}/${modelId}`.slice(0, 128);
}

/**
 * Asks one model once. What it says outside of the form, cuts short or refuses is no opinion. What keeps it from being asked,
 * a vendor that is overloaded or a connection that breaks, is thrown: then it is asked again later.
 *
 * @param maxOutputTokens most that it may say
 */
export async function askModel(
  model: JudgingModel,
  { instructions, prompt, nonce }: JudgePrompt,
  { maxOutputTokens, signal }: { maxOutputTokens: number; signal: AbortSignal },
): Promise<Opinion> {
  const name = nameOfModel(model);
  try {
    const { output, finishReason, totalUsage } = await generateText({
      model: model as Exclude<LanguageModel, string>,
      instructions,
      prompt,
      output: Output.object({ schema: modelAnswerSchema, name: "verdict" }),
      maxOutputTokens,
      // An overloaded vendor is asked again in the auditor's next round, not at once.
      maxRetries: 0,
      abortSignal: signal,
      // What is judged is for nobody's traces.
      telemetry: { isEnabled: false },
      // And the vendor is told not to keep it, if its API allows that.
      providerOptions: { openai: { store: false } },
    });
    const tokens = totalUsage.totalTokens ?? 0;
    if (finishReason !== "stop") return noOpinion(name, `ended_by_${finishReason}`, tokens);
    return opinionOf(output, nonce, name, tokens);
  } catch (error) {
    signal.throwIfAborted();
    if (NoObjectGeneratedError.isInstance(error)) {
      const isCut = error.finishReason !== undefined && error.finishReason !== "stop";
      const why = isCut ? `ended_by_${error.finishReason}` : "not_the_schema";
      return noOpinion(name, why, error.usage?.totalTokens ?? 0);
    }
    if (NoOutputGeneratedError.isInstance(error)) return noOpinion(name, "no_answer", 0);
    throw error;
  }
}
