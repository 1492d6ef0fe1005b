import { generateText, type LanguageModel, NoObjectGeneratedError, NoOutputGeneratedError, Output } from "ai";
import type { JudgePrompt } from "./judgePrompt.ts";
import { modelAnswerSchema, noOpinion, type Opinion, opinionOf } from "./modelAnswer.ts";

/**
 * A model as a provider of the AI SDK makes it. A bare name is not accepted, because the SDK would send it to
 * its default gateway. The type lists only what is read, so this package does not need the SDK's types.
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
 * Asks one model once. An answer in another form, a cut answer or a refusal counts as inconclusive. If the
 * model cannot be asked, because its vendor is overloaded or the connection breaks, this throws, and the model
 * is asked again later.
 *
 * @param maxOutputTokens the longest answer
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
      // The work under judgement must not appear in traces.
      telemetry: { isEnabled: false },
      // Asks the vendor not to store the work, if the vendor's API allows that.
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
