import { costLimitPlugin } from "@escape.tech/graphql-armor-cost-limit";
import { maxAliasesPlugin } from "@escape.tech/graphql-armor-max-aliases";
import { maxDepthPlugin } from "@escape.tech/graphql-armor-max-depth";
import { maxTokensPlugin } from "@escape.tech/graphql-armor-max-tokens";
import { type ExecutionResult, GraphQLError } from "graphql";
import { isAsyncIterable, type Plugin } from "graphql-yoga";
import type { QueryContext } from "./context.ts";
import { type QueryErrorCode, queryError } from "./errors.ts";
import { introspectionCache } from "./introspectionCache.ts";
import { introspectionLimit } from "./introspectionLimit.ts";
import { CHARACTERS_PER_POINT } from "./points.ts";

/**
 * The limits of a query. Queries of people and dashboards stay far below them, and the introspection query of
 * GraphiQL fits too.
 */
export const LIMITS = {
  /** Levels of fields. A page of a list takes three: the connection, its edges, the node. */
  depth: 12,
  /**
   * A field costs 1 and an object 2. Each deeper level costs 1.5 times as much, and `first: n` multiplies by
   * n.
   */
  cost: 50_000,
  aliases: 30,
  tokens: 2_000,
  /** The size of a request's body, in bytes. */
  queryBytes: 64 * 1024,
  /**
   * The size of an answer, in characters: a little more than a page of listings with the longest possible
   * endpoints.
   */
  answerCharacters: 4_000_000,
  milliseconds: 10_000,
  subscriptions: 500,
} as const;

/**
 * Refuses a query because of its form, before anything is read. The cost plugin knows only literal page
 * sizes. Sizes from variables and defaults are limited during the run (see `takeRows`).
 */
export function limitPlugins({ milliseconds, answerCharacters }: Limits = LIMITS): Plugin[] {
  return [
    somethingAsked(),
    maxTokensPlugin({ n: LIMITS.tokens, onReject: [withCode("QUERY_TOO_LONG")] }),
    maxDepthPlugin({ n: LIMITS.depth, flattenFragments: true, onReject: [withCode("QUERY_TOO_DEEP")] }),
    maxAliasesPlugin({ n: LIMITS.aliases, onReject: [withCode("TOO_MANY_ALIASES")] }),
    costLimitPlugin({
      maxCost: LIMITS.cost,
      flattenFragments: true,
      onReject: [withCode("QUERY_TOO_COSTLY")],
    }),
    introspectionLimit(),
    timeLimit(milliseconds),
    codes(),
    answerLimit(answerCharacters),
    introspectionCache(),
  ];
}

/** Answers 400 to a request without a query, for which the server itself would answer 200. */
function somethingAsked(): Plugin {
  return {
    onRequestParse: () => ({
      onRequestParseDone: ({ requestParserResult }) => {
        const asked = requestParserResult as { query?: unknown } | undefined;
        if (Array.isArray(asked) || (asked?.query !== undefined && asked.query !== null)) return;
        const http = { status: 400 };
        throw new GraphQLError("Ask a query.", { extensions: { code: "BAD_REQUEST", http } });
      },
    }),
  };
}

export type Limits = { milliseconds: number; answerCharacters: number };

/** The plugins' errors are plain syntax errors; a program needs a code. */
function withCode(code: QueryErrorCode) {
  return (_: unknown, error: GraphQLError) => {
    error.extensions.code = code;
  };
}

/** Answers within the time limit, even if the database hangs. A query that runs longer reads nothing more. */
function timeLimit(milliseconds: number): Plugin {
  return {
    onExecute: ({ executeFn, setExecuteFn, args }) => {
      setExecuteFn(async (given) => {
        let timer: NodeJS.Timeout | undefined;
        const late = new Promise<ExecutionResult>((resolve) => {
          timer = setTimeout(() => {
            (args.contextValue as unknown as QueryContext).expire();
            resolve({ errors: [queryTimeout()] });
          }, milliseconds);
        });
        try {
          return await Promise.race([executeFn(given), late]);
        } finally {
          clearTimeout(timer);
        }
      });
    },
  };
}

export function queryTimeout(): GraphQLError {
  return queryError("QUERY_TIMEOUT", "This query takes too long; ask for less at once.");
}

/** Adds a code to graphql-js's errors about variables and operations, which have none. */
function codes(): Plugin {
  return {
    onResultProcess: ({ result }) => {
      if (Array.isArray(result) || isAsyncIterable(result)) return;
      for (const { message, extensions } of (result as ExecutionResult).errors ?? []) {
        extensions.code ??= message.startsWith("Variable ") ? "INVALID_ARGUMENT" : "BAD_REQUEST";
      }
    },
  };
}

/**
 * Refuses an answer that is too long before it becomes text, because aliases can repeat a long value many
 * times. Takes the price of the answer from the client's budget. Every event of a subscription is an answer.
 */
function answerLimit(most: number): Plugin {
  /** Charges for an answer. If the answer is too long, returns an error in its place. */
  const refused = ({ data }: ExecutionResult, context: unknown): ExecutionResult | undefined => {
    const characters = charactersOf(data, most);
    (context as QueryContext).charge(characters / CHARACTERS_PER_POINT);
    if (characters <= most) return undefined;
    const message = `An answer may have at most ${most} characters; ask for less at once.`;
    return { errors: [queryError("RESPONSE_TOO_LARGE", message)] };
  };
  return {
    onExecute: () => ({
      onExecuteDone: ({ result, setResult, args }) => {
        if (Array.isArray(result) || isAsyncIterable(result)) return;
        const instead = refused(result as ExecutionResult, args.contextValue);
        if (instead !== undefined) setResult(instead);
      },
    }),
    onSubscribe: () => ({
      onSubscribeResult: () => ({
        onNext: ({ result, setResult, args }) => {
          const instead = refused(result as ExecutionResult, args.contextValue);
          if (instead !== undefined) setResult(instead);
        },
      }),
    }),
  };
}

/** The approximate number of characters of a value's JSON. Counting stops above `most`. */
function charactersOf(value: unknown, most: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 5;
  let sum = 2;
  // Answers have no inherited properties, and `Object.entries` would cost more than the rest of the counting.
  for (const key in value) {
    sum += key.length + 4 + charactersOf((value as Record<string, unknown>)[key], most - sum);
    if (sum > most) break;
  }
  return sum;
}
