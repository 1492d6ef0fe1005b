import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { readBytes } from "tallystick-runtime/http/readBytes";
import type { SegmentSourceConfig } from "../../config.ts";
import { attemptsOf, type Retries, retryAfter } from "../../logPort/retries.ts";

/** The entries `[from, to)` of a ledger. `byteOffset` is the length of all canonical lines before `from`. */
export type SegmentRequest = { from: number; to: number; byteOffset: number; signal: AbortSignal };

/** Reads the lines of a segment, without newlines. Does not check them. */
export type SegmentSource = (request: SegmentRequest) => Promise<string[]>;

/**
 * The entries are not available now. They may be later. The message is published, so it names no path and no
 * URL.
 */
export class SegmentUnavailableError extends TallystickError {
  constructor(message: string, cause?: unknown) {
    super({ code: "segment_unavailable", message, cause });
  }
}

/** The service does not answer now, or has no time for this client. */
class BusyError extends SegmentUnavailableError {
  /** The pause that the service asks for, in milliseconds. */
  readonly waitMs: number | undefined;
  constructor(message: string, { waitMs, cause }: { waitMs?: number | undefined; cause?: unknown }) {
    super(message, cause);
    this.waitMs = waitMs;
  }
}

/**
 * The number of entries in one request: about a megabyte, and at most 70 MB, because a record has at most 64
 * KiB.
 */
const PAGE = 1_000;
/**
 * More bytes than a thousand entries can have. A longer answer is not read completely, because the source may
 * belong to anyone.
 */
const MAX_PAGE_BYTES = 80 << 20;
const TIMEOUT_MS = 30_000;
const CHUNK = 1 << 18;

/**
 * How long one reading goes on waiting for a busy service, in milliseconds. Then it fails, so that the caller reports the wait
 * and keeps its transaction alive: Postgres ends one that is idle for an hour.
 */
const MAX_READING_MS = 2_400_000;

/** How a reading waits for a busy service. `now`: a clock that only goes forward, in milliseconds. */
type Reading = Retries & { now?: () => number };

/**
 * Opens the source of a ledger's entries.
 *
 * @param ledgerId the ledger, because the source may follow several ledgers
 * @param retries for a page after the first one, if the service is busy
 * @throws (the source) SegmentUnavailableError when not all entries are there
 */
export function openSegmentSource(
  config: SegmentSourceConfig,
  ledgerId: Hex,
  retries: Reading = {},
): SegmentSource {
  return config.kind === "http"
    ? (request) => readHttp(config.url, ledgerId, request, retries)
    : (request) => readFolder(config.path, request);
}

/**
 * `GET /v1/ledger/entries?from=&to=` answers canonical lines. A server may answer with fewer lines than asked for. It limits
 * what a client may read in a minute. A long segment takes longer, so a busy server does not end its reading.
 */
async function readHttp(
  base: string,
  ledgerId: Hex,
  { from, to, signal }: SegmentRequest,
  retries: Reading,
): Promise<string[]> {
  const lines: string[] = [];
  const attempts = attemptsOf(retries);
  const { now = () => performance.now() } = retries;
  const end = now() + MAX_READING_MS;
  // A bad source could answer each request with a single line of the largest size. So all answers together have a
  // limit, too: as many bytes as full pages can have.
  let bytesLeft = Math.ceil((to - from) / PAGE) * MAX_PAGE_BYTES;
  while (lines.length < to - from) {
    const at = from + lines.length;
    const url = `${base}/v1/ledger/entries?ledger=${ledgerId}&from=${at}&to=${Math.min(to, at + PAGE)}`;
    let bytes: Buffer;
    try {
      bytes = await get(url, Math.min(bytesLeft, MAX_PAGE_BYTES), signal);
    } catch (error) {
      const isBusy = lines.length > 0 && error instanceof BusyError && now() < end;
      if (isBusy && (await attempts.again(signal, error.waitMs))) continue;
      throw error;
    }
    attempts.reset();
    bytesLeft -= bytes.length;
    const text = bytes.toString();
    const page = text.split("\n");
    if (page.at(-1) === "") page.pop();
    if (page.length === 0) throw new SegmentUnavailableError(`its service has no entry ${at} yet`);
    if (page.length > Math.min(to - at, PAGE)) {
      throw new SegmentUnavailableError(
        `its service answered ${page.length} lines, more than it was asked for`,
      );
    }
    for (const line of page) lines.push(line);
  }
  return lines;
}

async function get(url: string, most: number, signal: AbortSignal): Promise<Buffer> {
  try {
    // Redirects are refused, so that a source cannot send us into our own network.
    const redirect = "manual";
    const limited = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(url, { redirect, signal: limited });
    if (!response.ok) {
      await response.body?.cancel();
      const { status, headers } = response;
      const message = `its service answered ${status}`;
      const isBusy = status === 429 || status >= 500;
      throw isBusy
        ? new BusyError(message, { waitMs: retryAfter(headers) })
        : new SegmentUnavailableError(message);
    }
    const bytes = await readBytes(response, most);
    if (bytes === undefined) {
      throw new SegmentUnavailableError(`its service answered more than ${most} bytes`);
    }
    return bytes;
  } catch (error) {
    if (error instanceof SegmentUnavailableError) throw error;
    throw new BusyError(`its service did not answer (${codeOf(error)})`, { cause: error });
  }
}

/** `ledger.jsonl`, read from the beginning of the segment, so that the cost does not grow with the ledger. */
async function readFolder(folder: string, { from, to, byteOffset }: SegmentRequest): Promise<string[]> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path.join(folder, "ledger.jsonl"), "r");
    return await readLines(handle, byteOffset, from, to);
  } catch (error) {
    if (error instanceof SegmentUnavailableError) throw error;
    throw new SegmentUnavailableError(`its ledger.jsonl cannot be read (${codeOf(error)})`, error);
  } finally {
    await handle?.close();
  }
}

/** The lines `[from, to)`, which begin at byte `at`. */
async function readLines(handle: FileHandle, at: number, from: number, to: number): Promise<string[]> {
  const count = to - from;
  const lines: string[] = [];
  let rest: Buffer = Buffer.alloc(0);
  while (lines.length < count) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK), 0, CHUNK, at);
    if (bytesRead === 0) {
      throw new SegmentUnavailableError(`its ledger.jsonl has no entry ${from + lines.length} yet`);
    }
    at += bytesRead;
    rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    let start = 0;
    while (lines.length < count) {
      const end = rest.indexOf("\n", start);
      if (end < 0) break;
      lines.push(rest.toString("utf8", start, end));
      start = end + 1;
    }
    rest = rest.subarray(start);
  }
  return lines;
}

/** ECONNREFUSED, ENOENT, TimeoutError …; `fetch` puts it into the cause. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { code } = (error.cause ?? error) as { code?: unknown };
  return typeof code === "string" ? code : error.name;
}
