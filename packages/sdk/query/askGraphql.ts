import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { jsonText } from "tallystick-protocol/json/jsonText";
import { abortable, startDeadline } from "../deadline.ts";
import { readText } from "../readText.ts";
import { type Fetch, MAX_SERVICE_BYTES, SERVICE_MS, ServiceError } from "../requestService.ts";

/**
 * Sends a GraphQL query and gives its `data`, which is an object. Its fields are not checked: `readServiceAnswer` does
 * this.
 *
 * @param parameters.signal ends the wait
 * @throws InvalidInputError naming every variable with a number that JSON cannot write; ServiceError with
 * `extensions.code` of the first error, or `unreachable`; the signal's reason
 */
export async function askGraphql(parameters: {
  baseUrl: string;
  query: string;
  variables: object;
  fetch?: Fetch | undefined;
  signal?: AbortSignal | undefined;
}): Promise<object> {
  const { baseUrl, query, variables, fetch = globalThis.fetch } = parameters;
  const body = `{"query":${JSON.stringify(query)},"variables":${jsonText(variables)}}`;
  parameters.signal?.throwIfAborted();
  const limit = startDeadline(SERVICE_MS, parameters.signal);
  const { signal } = limit;
  let response: Response;
  let text: string;
  try {
    const request = fetch(`${baseUrl.replace(/\/$/, "")}/graphql`, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json" },
      body,
      signal,
    });
    response = await abortable(request, signal);
    text = await readText(response, MAX_SERVICE_BYTES, signal);
  } catch (cause) {
    parameters.signal?.throwIfAborted();
    const message = `${baseUrl} could not be reached: ${cause instanceof Error ? cause.message : String(cause)}`;
    throw new ServiceError({ code: "unreachable", message, status: 0, cause });
  } finally {
    limit.end();
  }
  const { data, errors }: { data?: unknown; errors?: unknown } = Object(tryForeignJson(text));
  const [error] = Array.isArray(errors) ? errors : [];
  if (response.ok && error === undefined && typeof data === "object" && data !== null) return data;
  const { message, extensions } = Object(error) as { message?: unknown; extensions?: unknown };
  const { code } = Object(extensions) as { code?: unknown };
  throw new ServiceError({
    code: typeof code === "string" ? code : "http_error",
    message: typeof message === "string" ? message : `/graphql answered ${response.status}`,
    status: response.status,
  });
}
