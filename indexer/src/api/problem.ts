import { STATUS_CODES } from "node:http";

/**
 * An error answer as settlement gives them too: RFC 9457, `application/problem+json`, with a `code` for programs and one
 * sentence for people.
 */
export function problem(status: number, code: string, detail: string): Response {
  return new Response(JSON.stringify({ code, title: STATUS_CODES[status] ?? "Error", status, detail }), {
    status,
    headers: { "content-type": "application/problem+json" },
  });
}
