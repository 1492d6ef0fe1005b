import { type AsOf, asOfJson } from "./asOf.ts";
import { NodeError } from "./nodeError.ts";
import { request } from "./request.ts";

/** A page's query. `askGraphql` sets the variable `insights`, because a node may sell them. */
export type Question = { query: string; variables: { [name: string]: unknown } };

/** The node's data, their tick, and when the answer came (unix milliseconds). */
export type Answer<Data> = { data: Data; asOf: AsOf | null; at: number };

/**
 * Sends a GraphQL query in one request. If the node refuses figures that it sells, or figures of an agent
 * with private metrics, the query is sent again without them.
 *
 * @throws NodeError
 */
export async function askGraphql<Data>(
  { query, variables }: Question,
  signal?: AbortSignal,
): Promise<Answer<Data>> {
  const mayLeaveOut = query.includes("$insights: Boolean!");
  try {
    return await ask<Data>(query, mayLeaveOut ? { ...variables, insights: true } : variables, signal);
  } catch (error) {
    const isLeftOut = error instanceof NodeError && error.path[0] === "insights";
    if (!mayLeaveOut || !isLeftOut) throw error;
    return await ask<Data>(query, { ...variables, insights: false }, signal);
  }
}

async function ask<Data>(query: string, variables: object, signal?: AbortSignal): Promise<Answer<Data>> {
  const { json, headers } = await request("/graphql", { body: { query, variables }, signal });
  const { data, errors, extensions } = json as {
    data?: Data | null;
    errors?: { message: string; path?: unknown[]; extensions?: { code?: string } }[];
    extensions?: { asOf?: unknown };
  };
  const [error] = Array.isArray(errors) ? errors : [];
  if (error !== undefined || data === undefined || data === null) {
    throw new NodeError({
      code: error?.extensions?.code ?? "bad_answer",
      message: String(error?.message ?? "The node answers with neither data nor errors.").slice(0, 500),
      retryAfter: headers.has("retry-after") ? Number(headers.get("retry-after")) : null,
      path: error?.path ?? [],
    });
  }
  return { data, asOf: asOfJson(extensions?.asOf), at: Date.now() };
}
