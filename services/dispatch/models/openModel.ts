import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { type LanguageModel, simulateStreamingMiddleware, wrapLanguageModel } from "ai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { limitedFetch } from "./limitedFetch.ts";
import type { Model } from "./modelTable.ts";

/**
 * The addresses are given here. Otherwise the SDK would read an address from the environment and send prompts there.
 */
const VENDORS = { openai: "https://api.openai.com/v1", anthropic: "https://api.anthropic.com/v1" };

export type OpenedModel = Exclude<LanguageModel, string>;

/**
 * Opens a model of models.yaml with the AI SDK.
 *
 * @param environment has the model's key, in the variable that `apiKeyEnv` names
 * @throws InvalidInputError `missing_key` naming the variable
 */
export function openModel(
  model: Model,
  environment: { [name: string]: string | undefined },
  fetch?: typeof globalThis.fetch,
): OpenedModel {
  const { provider, id, baseUrl, apiKeyEnv, stream } = model;
  const apiKey = apiKeyEnv === undefined ? undefined : environment[apiKeyEnv];
  if (apiKeyEnv !== undefined && !apiKey) {
    const message = `is empty, and the model ${model.name} needs it`;
    throw new InvalidInputError({ code: "missing_key", issues: [{ field: apiKeyEnv, message }] });
  }
  const common = {
    fetch: limitedFetch(fetch),
    // The SDK must not read a key from the environment itself: only the keys that models.yaml names are sent.
    apiKey: apiKey ?? "none",
  };
  const opened = (): Extract<OpenedModel, { specificationVersion: "v4" }> => {
    if (provider === "openai")
      return createOpenAI({ ...common, baseURL: baseUrl ?? VENDORS.openai }).chat(id);
    if (provider === "anthropic")
      return createAnthropic({ ...common, baseURL: baseUrl ?? VENDORS.anthropic })(id);
    return createOpenAICompatible({
      fetch: common.fetch,
      name: model.name,
      baseURL: baseUrl as string,
      includeUsage: true,
      supportsStructuredOutputs: model.structuredOutput,
      ...(apiKey !== undefined && { apiKey }),
    })(id);
  };
  const made = opened();
  return stream ? made : wrapLanguageModel({ model: made, middleware: simulateStreamingMiddleware() });
}
