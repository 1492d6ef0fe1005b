import { GraphQLError } from "graphql";

/** What a query can be refused for, besides the codes that GraphQL servers share (`GRAPHQL_VALIDATION_FAILED` …). */
export type QueryErrorCode =
  | "PAGE_TOO_LARGE"
  | "INVALID_CURSOR"
  | "INVALID_ARGUMENT"
  | "QUERY_TOO_DEEP"
  | "QUERY_TOO_COSTLY"
  | "QUERY_TOO_LONG"
  | "TOO_MANY_ALIASES"
  | "TOO_MANY_ROWS";

/** An error the client sees as it is, with `extensions.code`. */
export function queryError(code: QueryErrorCode, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}
