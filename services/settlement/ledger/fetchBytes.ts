import { setTimeout as sleep } from "node:timers/promises";
import { readBytes } from "tallystick-runtime/http/readBytes";

/** How long one answer may take, in milliseconds, and the number of attempts. */
const TIMEOUT_MS = 60_000;
const ATTEMPTS = 5;

/** A fault after which another attempt may succeed. */
export class TransientError extends Error {}

/** The server has no such page (404, 410, or 403, which object stores use for this). */
export class NotThereError extends Error {}

export type FetchBytesParameters<T> = {
  url: string;
  /** Largest answer that is read, in bytes. */
  most: number;
  /** Reads the answer. It may throw a {@link TransientError}; then the request is repeated. */
  read: (bytes: Buffer) => T;
  /** Pause before the second attempt in milliseconds. It doubles before each further attempt. Default 500. */
  pauseMs?: number | undefined;
  /** How long one answer may take until its last byte, in milliseconds. Default a minute. */
  timeoutMs?: number | undefined;
  signal?: AbortSignal | undefined;
};

/**
 * Fetches a page from a server that keeps it, with several attempts.
 *
 * @throws Error with a message that says why there is no answer; the signal's reason
 */
export async function fetchBytes<T>(parameters: FetchBytesParameters<T>): Promise<T> {
  const { url, most, read, pauseMs = 500, timeoutMs = TIMEOUT_MS, signal } = parameters;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return read(await get(url, most, timeoutMs, signal));
    } catch (cause) {
      signal?.throwIfAborted();
      if (!(cause instanceof TransientError) || attempt >= ATTEMPTS) throw cause;
      await sleep(pauseMs * 2 ** (attempt - 1), undefined, { signal });
    }
  }
}

async function get(
  url: string,
  most: number,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<Buffer> {
  const limit = AbortSignal.timeout(timeoutMs);
  const response = await fetch(url, {
    // Redirects are refused, so that a stranger's server cannot send us into our own network.
    redirect: "manual",
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
  }).catch((cause) => {
    throw new TransientError(`it does not answer (${reasonOf(cause)})`, { cause });
  });
  if (!response.ok) {
    await response.body?.cancel();
    const { status } = response;
    const said = `it answers ${status}`;
    if (status >= 300 && status < 400)
      throw new Error(`${said}: redirects are not followed, name the address that it leads to`);
    if ([403, 404, 410].includes(status)) throw new NotThereError(said);
    throw status === 429 || status >= 500 ? new TransientError(said) : new Error(said);
  }
  const bytes = await readBytes(response, most).catch((cause) => {
    throw new TransientError(`its answer broke off (${reasonOf(cause)})`, { cause });
  });
  if (bytes === undefined) throw new Error(`its answer is longer than ${most} bytes`);
  return bytes;
}

function reasonOf(error: unknown): string {
  const { code, name } = ((error as Error).cause ?? error) as { code?: string; name: string };
  return code ?? name;
}
