import type { Task } from "./table.ts";

/** US dollars a million tokens, as OpenAI and Mistral AI listed these models at the beginning of 2024. */
export const PRICES = {
  thrifty: { input: 0.7, output: 0.7 },
  premium: { input: 10, output: 30 },
} as const;

/** The average number of characters of an English token. The files have no token counts, so costs are estimates. */
const CHARACTERS_A_TOKEN = 4;

/** An answer to a question with choices is a letter. */
const CHOICE_TOKENS = 1;

/** The cost of a call for a task in US dollars, by its estimated tokens. */
export function costOf({ features, answers }: Task, model: "thrifty" | "premium"): number {
  const { input, output } = PRICES[model];
  const length = model === "thrifty" ? answers?.thriftyLength : answers?.premiumLength;
  const tokens = length === undefined ? CHOICE_TOKENS : tokensOf(length);
  return (tokensOf(features.length) * input + tokens * output) / 1e6;
}

function tokensOf(characters: number): number {
  return Math.ceil(characters / CHARACTERS_A_TOKEN);
}
