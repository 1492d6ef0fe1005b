import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { MAX_ENTRY_BYTES } from "./diskLedger.ts";
import { fetchBytes, TransientError } from "./fetchBytes.ts";

/** The number of entries in one request. A follower may answer with fewer. */
const PAGE = 256;

/** The most bytes that the lines of one page can have. */
const MAX_PAGE_BYTES = PAGE * (MAX_ENTRY_BYTES + 1);

export type FetchLinesParameters = {
  /** A follower, a replica or a settlement service; without a trailing slash. */
  baseUrl: string;
  ledgerId: Hex;
  from: number;
  to: number;
  /** Pause before the second attempt in milliseconds. It doubles before each further attempt. Default 500. */
  pauseMs?: number;
  signal?: AbortSignal;
};

/**
 * Reads the lines of the entries [from, to) of a ledger from a server, page by page. It does not check the
 * lines, and the server may belong to anybody.
 *
 * @throws TallystickError `source_unavailable` when the server does not give them, after several attempts
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
  { baseUrl, ledgerId, pauseMs, signal }: FetchLinesParameters,
  from: number,
  to: number,
): Promise<Buffer[]> {
  const url = `${baseUrl}/v1/ledger/entries?ledger=${ledgerId}&from=${from}&to=${to}`;
  try {
    return await fetchBytes({
      url,
      most: MAX_PAGE_BYTES,
      pauseMs,
      signal,
      read: (bytes) => linesOf(bytes, to - from),
    });
  } catch (cause) {
    signal?.throwIfAborted();
    throw new TallystickError({
      code: "source_unavailable",
      message: `${baseUrl} does not give the entries from ${from} on: ${(cause as Error).message}`,
      hint: "Ask another follower or replica. It must follow this ledger and have its last anchor.",
      cause,
    });
  }
}

function linesOf(bytes: Buffer, most: number): Buffer[] {
  const lines: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = bytes.indexOf(0x0a, at);
    // The answer was cut off without an error.
    if (end === -1) break;
    lines.push(bytes.subarray(at, end));
    at = end + 1;
  }
  if (lines.length === 0) throw new TransientError("it returns no entry");
  if (lines.length > most) throw new Error(`it returns ${lines.length} entries, but ${most} were asked for`);
  return lines;
}
