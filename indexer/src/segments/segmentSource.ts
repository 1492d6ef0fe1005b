import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { readBytes } from "tallystick-runtime/http/readBytes";
import type { SegmentSourceConfig } from "../../config.ts";
import { attemptsOf, type Retries, retryAfter } from "../../logPort/retries.ts";

/** The entries `[from, to)` of a ledger. `byteOffset` is the length of all canonical lines before `from`. */
export type SegmentRequest = { from: number; to: number; byteOffset: number; signal: AbortSignal };

/**
 * Reads the first lines of a segment, without newlines: all of them, or as many as fit into memory, and at least one. Does not
 * check them.
 */
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
/** The most bytes of an entry that a follower can take. Every service of this project writes much shorter ones. */
const MAX_LINE_BYTES = 16 << 20;
const TIMEOUT_MS = 30_000;
const CHUNK = 1 << 18;

/**
 * The most lines of one part of a segment, and the bytes after which a part ends. The writer of a followed ledger may be
 * anyone, and one anchor may have any number of entries. A read entry takes some ten times the memory of its line.
 */
const PART = { lines: 25_000, bytes: 32 << 20 };

/**
 * How long one reading goes on waiting for a busy service, in milliseconds. Then it fails, so that the caller reports the wait
 * and keeps its transaction alive: Postgres ends one that is idle for an hour.
 */
const MAX_READING_MS = 2_400_000;

/** How a reading waits for a busy service, and where it ends. `now`: a clock that only goes forward, in milliseconds. */
type Reading = Retries & { now?: () => number; part?: typeof PART };

/**
 * Opens the source of a ledger's entries.
 *
 * @param ledgerId the ledger, because the source may follow several ledgers
 * @param reading retries are for a page after the first one, if the service is busy
 * @throws (the source) SegmentUnavailableError when an entry of the part is not there
 */
export function openSegmentSource(
  config: SegmentSourceConfig,
  ledgerId: Hex,
  reading: Reading = {},
): SegmentSource {
  const { part = PART } = reading;
  const partOf = (request: SegmentRequest): PartRequest => {
    const to = Math.min(request.to, request.from + part.lines);
    return { ...request, to, most: part.bytes };
  };
  return config.kind === "http"
    ? (request) => readHttp(config.url, ledgerId, partOf(request), reading)
    : (request) => readFolder(config.path, partOf(request));
}

/** `most`: the bytes after which no further line is read. */
type PartRequest = SegmentRequest & { most: number };

/** The lines that were read, up to the end of a part. */
class PartLines {
  readonly lines: string[] = [];
  readonly #count: number;
  #bytesLeft: number;

  constructor({ from, to, most }: PartRequest) {
    this.#count = to - from;
    this.#bytesLeft = most;
  }

  get isFull(): boolean {
    return this.lines.length === this.#count || this.#bytesLeft <= 0;
  }

  push(line: string): void {
    expectLength(line.length);
    this.lines.push(line);
    this.#bytesLeft -= line.length + 1;
  }
}

/** @throws SegmentUnavailableError if a line is too long */
function expectLength(bytes: number): void {
  if (bytes <= MAX_LINE_BYTES) return;
  throw new SegmentUnavailableError(`one of its entries has more than ${MAX_LINE_BYTES} bytes`);
}

/**
 * `GET /v1/ledger/entries?from=&to=` answers canonical lines. A server may answer with fewer lines than asked for. It limits
 * what a client may read in a minute. A long segment takes longer, so a busy server does not end its reading.
 */
async function readHttp(
  base: string,
  ledgerId: Hex,
  request: PartRequest,
  reading: Reading,
): Promise<string[]> {
  const { from, to, signal } = request;
  const part = new PartLines(request);
  const { lines } = part;
  const attempts = attemptsOf(reading);
  const { now = () => performance.now() } = reading;
  const end = now() + MAX_READING_MS;
  while (!part.isFull) {
    const at = from + lines.length;
    if (lines.length > 0 && now() >= end)
      throw new SegmentUnavailableError(`its service gave only ${lines.length} of its entries in 40 minutes`);
    const most = Math.min(to - at, PAGE);
    const url = `${base}/v1/ledger/entries?ledger=${ledgerId}&from=${at}&to=${at + most}`;
    let bytes: Buffer;
    try {
      bytes = await get(url, signal);
    } catch (error) {
      const isBusy = lines.length > 0 && error instanceof BusyError && now() < end;
      if (isBusy && (await attempts.again(signal, error.waitMs))) continue;
      throw error;
    }
    attempts.reset();
    // One line more than was asked for, and what follows it, show that there are too many.
    const page = bytes.toString().split("\n", most + 2);
    if (page.at(-1) === "") page.pop();
    if (page.length === 0) throw new SegmentUnavailableError(`its service has no entry ${at} yet`);
    if (page.length > most) {
      throw new SegmentUnavailableError("its service answered more lines than it was asked for");
    }
    for (const line of page) if (!part.isFull) part.push(line);
  }
  return lines;
}

async function get(url: string, signal: AbortSignal): Promise<Buffer> {
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
    const bytes = await readBytes(response, MAX_PAGE_BYTES);
    if (bytes === undefined) {
      throw new SegmentUnavailableError(`its service answered more than ${MAX_PAGE_BYTES} bytes`);
    }
    return bytes;
  } catch (error) {
    if (error instanceof SegmentUnavailableError) throw error;
    throw new BusyError(`its service did not answer (${codeOf(error)})`, { cause: error });
  }
}

/** `ledger.jsonl`, read from the beginning of the segment, so that the cost does not grow with the ledger. */
async function readFolder(folder: string, request: PartRequest): Promise<string[]> {
  let handle: FileHandle | undefined;
  try {
    handle = await open(path.join(folder, "ledger.jsonl"), "r");
    return await readLines(handle, request);
  } catch (error) {
    if (error instanceof SegmentUnavailableError) throw error;
    throw new SegmentUnavailableError(`its ledger.jsonl cannot be read (${codeOf(error)})`, error);
  } finally {
    await handle?.close();
  }
}

/** The lines of a part, which begin at the byte `byteOffset`. */
async function readLines(handle: FileHandle, request: PartRequest): Promise<string[]> {
  const part = new PartLines(request);
  let at = request.byteOffset;
  let rest: Buffer = Buffer.alloc(0);
  while (!part.isFull) {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(CHUNK), 0, CHUNK, at);
    if (bytesRead === 0) {
      throw new SegmentUnavailableError(
        `its ledger.jsonl has no entry ${request.from + part.lines.length} yet`,
      );
    }
    at += bytesRead;
    rest = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    let start = 0;
    while (!part.isFull) {
      const end = rest.indexOf("\n", start);
      if (end < 0) break;
      part.push(rest.toString("utf8", start, end));
      start = end + 1;
    }
    rest = rest.subarray(start);
    expectLength(rest.length);
  }
  return part.lines;
}

/** ECONNREFUSED, ENOENT, TimeoutError …; `fetch` puts it into the cause. */
function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  const { code } = (error.cause ?? error) as { code?: unknown };
  return typeof code === "string" ? code : error.name;
}
