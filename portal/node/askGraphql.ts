import { type AsOf, asOfJson } from "./asOf.ts";
import { NodeError } from "./nodeError.ts";
import { request, retryAfterOf } from "./request.ts";

/** A page's query. */
export type Question = { query: string; variables: { [name: string]: unknown } };

/** The node's data, their tick, and when the answer came (unix milliseconds). */
export type Answer<Data> = { data: Data; asOf: AsOf | null; at: number };

/**
 * Sends a GraphQL query in one request.
 * @throws NodeError; the reason of `signal` when `signal` is aborted
 */
export async function askGraphql<Data>(
  { query, variables }: Question,
  signal?: AbortSignal,
): Promise<Answer<Data>> {
  const { json, headers } = await request("/graphql", { body: { query, variables }, signal });
  const { data, errors, extensions } = json as {
    data?: Data | null;
    errors?: unknown;
    extensions?: { asOf?: unknown };
  };
  const [error] = (Array.isArray(errors) ? errors : []) as unknown[];
  if (error !== undefined || data === undefined || data === null) {
    const { message, extensions: more } = Object(error) as { message?: unknown; extensions?: unknown };
    const { code } = Object(more) as { code?: unknown };
    throw new NodeError({
      code: typeof code === "string" ? code : "bad_answer",
      message: typeof message === "string" ? message : "The node answers with neither data nor errors.",
      retryAfter: retryAfterOf(headers),
    });
  }
  return { data, asOf: asOfJson(extensions?.asOf), at: Date.now() };
}
