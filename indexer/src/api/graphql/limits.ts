import { costLimitPlugin } from "@escape.tech/graphql-armor-cost-limit";
import { maxAliasesPlugin } from "@escape.tech/graphql-armor-max-aliases";
import { maxDepthPlugin } from "@escape.tech/graphql-armor-max-depth";
import { maxTokensPlugin } from "@escape.tech/graphql-armor-max-tokens";
import type { GraphQLError } from "graphql";
import type { Plugin } from "graphql-yoga";
import type { QueryErrorCode } from "./errors.ts";

/** Anything a person or a dashboard asks stays far below these; the introspection query of GraphiQL fits too. */
export const LIMITS = {
  /** Levels of fields. A page of a list takes three: the connection, its edges, the node. */
  depth: 12,
  /** A field counts 1, an object 2, 1.5 times that of the level above, and `first: n` all of it n times. */
  cost: 50_000,
  aliases: 30,
  tokens: 2_000,
} as const;

/**
 * Refuses a query for its form, before anything is read. The cost plugin knows only literal page sizes; what variables and
 * defaults ask for is bounded while it runs (see `takeRows`).
 */
export function limitPlugins(): Plugin[] {
  return [
    maxTokensPlugin({ n: LIMITS.tokens, onReject: [withCode("QUERY_TOO_LONG")] }),
    maxDepthPlugin({ n: LIMITS.depth, flattenFragments: true, onReject: [withCode("QUERY_TOO_DEEP")] }),
    maxAliasesPlugin({ n: LIMITS.aliases, onReject: [withCode("TOO_MANY_ALIASES")] }),
    costLimitPlugin({
      maxCost: LIMITS.cost,
      flattenFragments: true,
      onReject: [withCode("QUERY_TOO_COSTLY")],
    }),
  ];
}

/** The plugins' errors are plain syntax errors; a program needs a code. */
function withCode(code: QueryErrorCode) {
  return (_: unknown, error: GraphQLError) => {
    error.extensions.code = code;
  };
}
