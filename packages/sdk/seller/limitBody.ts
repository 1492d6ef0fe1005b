import type { MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HireRefusedError } from "./sellerErrors.ts";

/**
 * Refuses bodies of more than `maxSize` bytes before they are read.
 *
 * @throws HireRefusedError `payload_too_large` (413), for the app's own error handler
 */
export function limitBody(maxSize: number): MiddlewareHandler {
  return bodyLimit({
    maxSize,
    onError: () => {
      throw new HireRefusedError({
        status: 413,
        code: "payload_too_large",
        message: "The request is too large.",
        hint: `Send at most ${maxSize} bytes.`,
      });
    },
  });
}
