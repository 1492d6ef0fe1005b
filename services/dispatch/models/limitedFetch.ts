import { TallystickError } from "tallystick-protocol/errors";

/** The largest answer of a model's server, in bytes. In a stream each token takes some hundreds of bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * `fetch` for the servers of models: the answer has a limited size, and no redirect is followed. So prompts and keys go
 * only to the address in models.yaml.
 */
export function limitedFetch(fetch: typeof globalThis.fetch = globalThis.fetch, maxBytes = MAX_BYTES) {
  return async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const response = await fetch(input, { ...init, redirect: "error" });
    if (!response.body) return response;
    let bytes = 0;
    const limited = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(piece, controller) {
          bytes += piece.length;
          if (bytes <= maxBytes) controller.enqueue(piece);
          else controller.error(tooLarge(maxBytes));
        },
      }),
    );
    const { status, statusText, headers } = response;
    return new Response(limited, { status, statusText, headers });
  };
}

function tooLarge(maxBytes: number): TallystickError {
  return new TallystickError({
    code: "answer_too_large",
    message: `The model's server answered with more than ${maxBytes} bytes.`,
  });
}
