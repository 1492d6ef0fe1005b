import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { JsonSyntaxError, type PyJson, parsePythonJson } from "tallystick-protocol/json/pythonJson";

/** The largest request body, in bytes. */
export const MAX_BODY_BYTES = 64 * 1024;

/**
 * Reads a request's JSON body with its ints and floats kept apart.
 *
 * @throws TallystickError `payload_too_large` (413) beyond {@link MAX_BODY_BYTES}, whatever the headers claim
 * @throws InvalidInputError `malformed_json` (400) when the body is not UTF-8, is not JSON, or has a key twice in one
 * object
 */
export async function readJson(request: Request): Promise<PyJson> {
  const bytes = await readBody(request);
  try {
    // A byte order mark is kept, so that the reader refuses it: JSON has none.
    const text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
    // If a key has two values, the sender may have meant the other one.
    return parsePythonJson(text, { duplicateKeys: "refuse" });
  } catch (error) {
    const reason = error instanceof JsonSyntaxError ? error.message : "it is not UTF-8";
    throw new InvalidInputError({
      code: "malformed_json",
      message: `The body is not JSON: ${reason}.`,
      issues: [{ field: "body", message: `is not JSON: ${reason}` }],
      cause: error,
    });
  }
}

async function readBody(request: Request): Promise<Uint8Array> {
  const announced = request.headers.get("content-length");
  if (Number(announced ?? 0) > MAX_BODY_BYTES) throw tooLarge();
  // The server cuts the connection at the announced length. So everything may be read at once, which is much faster.
  if (announced !== null && request.headers.get("transfer-encoding") === null) {
    const bytes = new Uint8Array(await request.arrayBuffer());
    if (bytes.length > MAX_BODY_BYTES) throw tooLarge();
    return bytes;
  }
  if (!request.body) return new Uint8Array(0);
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of request.body as unknown as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > MAX_BODY_BYTES) throw tooLarge();
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

function tooLarge(): TallystickError {
  return new TallystickError({
    code: "payload_too_large",
    message: `The body is larger than ${MAX_BODY_BYTES} bytes.`,
    hint: "Keep the content elsewhere and settle its hash.",
  });
}
