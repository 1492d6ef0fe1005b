import { readBytes } from "tallystick-runtime/http/readBytes";
import { BadAnswerError, SourceBehindError, SourceRefusedError, SourceUnavailableError } from "../errors.ts";
import type { BlockAt } from "../logPort.ts";
import { naturalOf } from "../readJson.ts";
import { attemptsOf } from "../retries.ts";
import { word } from "../tokenLogs.ts";
import { askPortal, type PortalEndpoint, refused } from "./openStream.ts";

import type { StreamReading } from "./readStreams.ts";

/** The last final block of a portal's dataset. */
export async function readFinalizedHead(
  { endpoint, retries, timeoutMs, count }: StreamReading,
  signal: AbortSignal,
): Promise<BlockAt> {
  const attempts = attemptsOf(retries);
  for (;;) {
    const head = await headOf(endpoint, AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]));
    signal.throwIfAborted();
    count("finalized-head", "error" in head ? "failed" : "ok");
    if (!("error" in head)) return head;
    if (!(await attempts.again(signal, head.waitMs))) throw head.error;
  }
}

/** Asks `GET /finalized-head`. The answer is `{number, hash}`, or null if no block is final. */
async function headOf(
  endpoint: PortalEndpoint,
  signal: AbortSignal,
): Promise<BlockAt | { error: Error; waitMs: number | undefined }> {
  const { source } = endpoint;
  try {
    const response = await askPortal(endpoint, "finalized-head", null, signal);
    if (response.status !== 200) {
      const { message, waitMs } = await refused(endpoint, response, null);
      const error = new SourceUnavailableError(source, message, undefined, { status: response.status });
      return { error, waitMs };
    }
    const text = (await readBytes(response, 4_096))?.toString() ?? "";
    const head: { number?: unknown; hash?: unknown } | null = JSON.parse(text);
    if (head === null) return { error: new SourceBehindError(source, 0), waitMs: undefined };
    return {
      block: naturalOf(head.number, { source, field: "finalized-head.number" }),
      hash: word(head.hash, { source, field: "finalized-head.hash" }),
    };
  } catch (error) {
    if (error instanceof BadAnswerError || error instanceof SourceRefusedError) throw error;
    return { error: new SourceUnavailableError(source, "the connection failed", error), waitMs: undefined };
  }
}
