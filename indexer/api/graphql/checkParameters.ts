import type { MiddlewareHandler } from "hono";

/** Parameters of a GET or of a form that have to be JSON objects. */
const OBJECTS = ["variables", "extensions"];

/**
 * Answers 400 to parameters that are not JSON objects. The GraphQL server itself would report an internal
 * error.
 */
export function checkParameters(): MiddlewareHandler {
  return async ({ req, json }, next) => {
    const isForm = /^application\/x-www-form-urlencoded\b/i.test(req.header("content-type") ?? "");
    const text =
      req.method === "POST" ? (isForm ? await req.raw.clone().text() : "") : new URL(req.url).search;
    const parameters = new URLSearchParams(text);
    for (const name of OBJECTS) {
      const value = parameters.get(name);
      if (value === null || value === "" || isObject(value)) continue;
      const message = `${name} must be a JSON object.`;
      return json({ errors: [{ message, extensions: { code: "BAD_REQUEST" } }] }, 400);
    }
    return next();
  };
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return value === null || (typeof value === "object" && !Array.isArray(value));
  } catch {
    return false;
  }
}
