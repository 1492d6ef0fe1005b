import type { Picodollars } from "./money.ts";

/** The tiers of swarm.at §6.1, the cheapest first. */
export const TIERS = ["thrifty", "standard", "premium"] as const;

export type Tier = (typeof TIERS)[number];

/** The price of a token, by its kind. */
export type Prices = {
  input: Picodollars;
  /** The price of prompt tokens that the vendor had in its cache. */
  cachedInput: Picodollars;
  output: Picodollars;
  /** The price of hidden reasoning tokens. */
  reasoning: Picodollars;
};

export const PROVIDERS = ["openai", "anthropic", "openai-compatible"] as const;

/** A model that may be asked. */
export type Model = {
  /** The model's name in models.yaml. */
  name: string;
  provider: (typeof PROVIDERS)[number];
  /** The model's name at the vendor. */
  id: string;
  /** Absent: the vendor's own address. */
  baseUrl?: string;
  /** The environment variable with its key. */
  apiKeyEnv?: string;
  /** Models of one family make similar mistakes, so a shadow is always of another family. */
  family: string;
  prices: Prices;
  limits: {
    /** The most tokens of prompt and answer together. */
    context: number;
    /** The most tokens that it may answer with. */
    output: number;
    /** How long one call may take. */
    seconds: number;
  };
  temperature?: number;
  /** Whether the vendor's server makes answers fit a JSON Schema. */
  structuredOutput: boolean;
  stream: boolean;
};

/** The content of models.yaml. */
export type ModelTable = {
  /** The day of its prices, `2026-11-01`. */
  dated: string;
  models: ReadonlyMap<string, Model>;
  tiers: { readonly [tier in Tier]: readonly Model[] };
  /** Estimates how complex a task is, instead of `complexity/1`. */
  classifier?: Model;
  /** Absent: nothing is ever shadowed. */
  shadow?: {
    /** The share of all tasks that is drawn for a shadow, in thousandths. */
    share: number;
    /** Tiers whose tasks always have a shadow. */
    tiers: readonly Tier[];
    /** The possible shadows, in the order of preference. */
    models: readonly Model[];
  };
};

/** The tier of a complexity (swarm.at §6.1): [0, .3) thrifty, [.3, .7) standard, [.7, 1] premium. */
export function tierOf(complexity: number): Tier {
  return complexity < 0.3 ? "thrifty" : complexity < 0.7 ? "standard" : "premium";
}

/** Tokens of one call, by kind. `cachedInput` is part of `input`, `reasoning` part of `output`. */
export type Tokens = { input: number; cachedInput: number; output: number; reasoning: number };

export function costOf({ input, cachedInput, output, reasoning }: Tokens, prices: Prices): Picodollars {
  return (
    BigInt(input - cachedInput) * prices.input +
    BigInt(cachedInput) * prices.cachedInput +
    BigInt(output - reasoning) * prices.output +
    BigInt(reasoning) * prices.reasoning
  );
}

/** The most that a call with this many tokens in each direction can cost. */
export function mostOf(tokens: { input: number; output: number }, prices: Prices): Picodollars {
  const larger = (a: bigint, b: bigint): bigint => (a > b ? a : b);
  return (
    BigInt(tokens.input) * larger(prices.input, prices.cachedInput) +
    BigInt(tokens.output) * larger(prices.output, prices.reasoning)
  );
}
