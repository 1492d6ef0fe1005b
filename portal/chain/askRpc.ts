import { readText } from "../node/readBytes.ts";

/** The limits of an answer, in milliseconds and in bytes. Real answers have a few hundred bytes. */
const [PATIENCE_MS, MAX_BYTES] = [15_000, 1_000_000];

/**
 * Sends one request to the JSON-RPC server that the reader of the page chose. The server gets no cookies and no
 * referrer.
 * @throws an Error with a message that can be shown to the reader; the reason of `signal` when `signal` is aborted
 */
export async function askRpc(
  url: string,
  method: string,
  params: unknown[],
  signal: AbortSignal,
): Promise<unknown> {
  const limit = AbortSignal.timeout(PATIENCE_MS);
  let text: string | undefined;
  let status: number;
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.any([signal, limit]),
      credentials: "omit",
      redirect: "error",
      referrerPolicy: "no-referrer",
    });
    status = response.status;
    text = await readText(response, MAX_BYTES);
  } catch {
    signal.throwIfAborted();
    throw new Error(
      limit.aborted
        ? `It does not answer within ${PATIENCE_MS / 1_000} seconds.`
        : "It does not answer, or it does not answer web pages.",
    );
  }
  const { result, error } = answerOf(text);
  if (error !== undefined && error !== null)
    throw new Error(`It refuses ${method}: ${String(Object(error).message).slice(0, 200)}`);
  if (result === undefined) throw new Error(`It answers ${method} with status ${status} and no result.`);
  return result;
}

function answerOf(text: string | undefined): { result?: unknown; error?: unknown } {
  if (text === undefined) return {};
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
