import { GraphQLError } from "graphql";

/**
 * The error codes of queries, in addition to the common codes of GraphQL servers (`GRAPHQL_VALIDATION_FAILED`
 * …).
 */
export type QueryErrorCode =
  | "PAGE_TOO_LARGE"
  | "INVALID_CURSOR"
  | "INVALID_ARGUMENT"
  | "QUERY_TOO_DEEP"
  | "QUERY_TOO_COSTLY"
  | "QUERY_TOO_LONG"
  | "TOO_MANY_ALIASES"
  | "TOO_MANY_ROWS"
  | "TOO_MANY_SUBSCRIPTIONS"
  | "QUERY_TIMEOUT"
  | "OVERLOADED"
  | "DATABASE_UNAVAILABLE"
  | "PAYMENT_REQUIRED"
  | "PRIVATE_METRICS"
  | "NOT_FOUND"
  | "RESPONSE_TOO_LARGE";

/** An error that the client sees unchanged, with `extensions.code`. */
export function queryError(code: QueryErrorCode, message: string): GraphQLError {
  return new GraphQLError(message, { extensions: { code } });
}

/** An error that refuses the whole answer, with an HTTP status and the seconds until the next attempt. */
export function refusal(
  code: QueryErrorCode,
  message: string,
  { status, retryAfter }: { status: 429 | 503; retryAfter: number },
): GraphQLError {
  const http = { status, headers: { "retry-after": String(retryAfter) } };
  return new GraphQLError(message, { extensions: { code, http } });
}

/**
 * Checks that the database can search for a text.
 *
 * @throws GraphQLError `INVALID_ARGUMENT` when it is long or has a zero byte
 */
export function plainText(text: string, name: string): string {
  if (text.length <= 256 && !text.includes("\0")) return text;
  throw queryError("INVALID_ARGUMENT", `${name} must have at most 256 characters, none of them NUL.`);
}
