import { setTimeout as sleep } from "node:timers/promises";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { readBytes } from "tallystick-runtime/http/readBytes";
import { MAX_ENTRY_BYTES } from "./diskLedger.ts";

/** Entries asked for at once; a follower may answer fewer. */
const PAGE = 256;

/** What that many entries can have at most. */
const MOST_PAGE_BYTES = PAGE * (MAX_ENTRY_BYTES + 1);

const TIMEOUT_MS = 60_000;
const ATTEMPTS = 5;

export type FetchLinesParameters = {
  /** A follower, a replica or a settlement service; without a trailing slash. */
  baseUrl: string;
  ledgerId: Hex;
  from: number;
  to: number;
  /** Pause before the second attempt in milliseconds; doubled before each further one. Default 500. */
  pauseMs?: number;
  signal?: AbortSignal;
};

/** Another attempt may succeed. */
class TransientError extends Error {}

/**
 * The lines of the entries [from, to) of a ledger from whoever keeps it, a page at a time. Says nothing of whether they are
 * right: whoever answers may be anyone.
 *
 * @throws TallystickError `source_unavailable` when they are not to be had, after some attempts
 */
export async function* fetchLedgerLines(parameters: FetchLinesParameters): AsyncGenerator<Buffer[]> {
  const { from, to } = parameters;
  for (let at = from; at < to; ) {
    const lines = await fetchPage(parameters, at, Math.min(to, at + PAGE));
    yield lines;
    at += lines.length;
  }
}

async function fetchPage(
  { baseUrl, ledgerId, pauseMs = 500, signal }: FetchLinesParameters,
  from: number,
  to: number,
): Promise<Buffer[]> {
  const url = `${baseUrl}/v1/ledger/entries?ledger=${ledgerId}&from=${from}&to=${to}`;
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return linesOf(await get(url, signal), to - from);
    } catch (cause) {
      signal?.throwIfAborted();
      if (cause instanceof TransientError && attempt < ATTEMPTS) {
        await sleep(pauseMs * 2 ** (attempt - 1), undefined, { signal });
        continue;
      }
      throw new TallystickError({
        code: "source_unavailable",
        message: `${baseUrl} does not give the entries from ${from} on: ${(cause as Error).message}`,
        hint: "Ask another follower or replica. It has to follow this ledger, and to have reached its last anchor.",
        cause,
      });
    }
  }
}

async function get(url: string, signal: AbortSignal | undefined): Promise<Buffer> {
  const limit = AbortSignal.timeout(TIMEOUT_MS);
  const response = await fetch(url, { signal: signal ? AbortSignal.any([signal, limit]) : limit }).catch(
    (cause) => {
      throw new TransientError(`it does not answer (${reasonOf(cause)})`, { cause });
    },
  );
  if (!response.ok) {
    await response.body?.cancel();
    const said = `it answers ${response.status}`;
    throw response.status === 429 || response.status >= 500 ? new TransientError(said) : new Error(said);
  }
  const bytes = await readBytes(response, MOST_PAGE_BYTES).catch((cause) => {
    throw new TransientError(`its answer broke off (${reasonOf(cause)})`, { cause });
  });
  if (bytes === undefined) throw new Error("its answer is longer than that many entries can be");
  return bytes;
}

function linesOf(bytes: Buffer, most: number): Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at);
    // An answer that broke off, though nobody said so.
    if (end === -1) break;
    lines.push(bytes.subarray(at, end));
    at = end + 1;
  }
  if (lines.length === 0) throw new TransientError("it answers no entry");
  if (lines.length > most) throw new Error(`it answers ${lines.length} entries where ${most} were asked for`);
  return lines;
}

function reasonOf(error: unknown): string {
  const { code, name } = ((error as Error).cause ?? error) as { code?: string; name: string };
  return code ?? name;
}
