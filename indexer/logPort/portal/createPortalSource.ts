import type { Address } from "tallystick-protocol/address";
import type { HistorySource, SourceRequest } from "../logPort.ts";
import { readInGroups } from "../readInGroups.ts";
import type { Retries } from "../retries.ts";
import { sourceName } from "../sourceName.ts";
import { withDeadline } from "../withDeadline.ts";
import { readFinalizedHead } from "./readFinalizedHead.ts";
import { readStreams, type StreamReading } from "./readStreams.ts";

export type PortalSourceOptions = Retries & {
  /** A dataset of a portal: `https://portal.sqd.dev/datasets/base-mainnet`. */
  url: string;
  /** Lower case. */
  token: Address;
  /** The key that is sent as a bearer token; without it none is sent. */
  apiKey?: string | undefined;
  /**
   * The most wallets in one request. Default 3,000: a portal accepts bodies of 256 KiB, and a wallet takes 69
   * bytes.
   */
  walletsPerRequest?: number;
  /** The longest line, one block with its logs, in bytes. Default 16 MiB. */
  maxLineBytes?: number;
  /** The most bytes that are read of one answer before the next request. Default 256 MiB. */
  maxAnswerBytes?: number;
  /** Milliseconds for one request with its answer. Default 300,000. */
  timeoutMs?: number;
  onRequest?: (request: SourceRequest) => void;
  fetch?: typeof fetch;
};

const WALLETS_PER_REQUEST = 3_000;

/**
 * Reads final history from a portal of SQD over HTTP, as one line of JSON per block. A stream always contains
 * its first and its last block, even without logs. It may end before the range does. Then the next request
 * continues after its last line.
 */
export function createPortalSource(options: PortalSourceOptions): HistorySource {
  const { url, token, apiKey, maxLineBytes = 16 << 20, maxAnswerBytes = 256 << 20 } = options;
  const { timeoutMs = 300_000, walletsPerRequest = WALLETS_PER_REQUEST } = options;
  const name = sourceName("portal", url);
  const reading: StreamReading = {
    endpoint: { url, source: name, apiKey, fetch: options.fetch ?? fetch },
    token,
    retries: options,
    limits: { maxLineBytes, maxAnswerBytes },
    timeoutMs,
    count: (method, outcome) => options.onRequest?.({ source: name, method, outcome }),
  };

  return {
    name,
    finalizedHead: (call) => withDeadline(call, name, (signal) => readFinalizedHead(reading, signal)),
    history: (query, range, call) =>
      withDeadline(call, name, (signal) =>
        readInGroups(query, range, { source: name, size: walletsPerRequest }, (some) =>
          readStreams(reading, some, range, call.limit, signal),
        ),
      ),
  };
}
