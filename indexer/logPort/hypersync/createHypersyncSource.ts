import type { Address } from "tallystick-protocol/address";
import { checkLogs } from "../checkLogs.ts";
import { BadAnswerError, OrphanedBlockError, SourceBehindError } from "../errors.ts";
import type { BlockAt, BlockRange, HistorySource, LimitedCall, LogQuery, SourceRequest } from "../logPort.ts";
import { openWallets } from "../openWallets.ts";
import { readInGroups } from "../readInGroups.ts";
import { naturalOf, objectOf } from "../readJson.ts";
import type { Retries } from "../retries.ts";
import { sourceName } from "../sourceName.ts";
import { KINDS, topicOf } from "../tokenLogs.ts";
import { withDeadline } from "../withDeadline.ts";
import { askHypersync, type HypersyncEndpoint } from "./askHypersync.ts";
import { FIELDS, parsePage } from "./parsePage.ts";

export type HypersyncSourceOptions = Retries & {
  /** A chain's server: `https://base.hypersync.xyz`. */
  url: string;
  /** Lower case. */
  token: Address;
  /** The token of an account, which is sent as a bearer token; without it none is sent. */
  apiToken?: string | undefined;
  /** The most wallets in one request. Default 3,000. */
  walletsPerRequest?: number;
  /** About the most logs of one answer. Default 50,000, some 40 MB. */
  logsPerAnswer?: number;
  /** The longest answer that is read, in bytes. Default 128 MiB, because all of it is in memory at once. */
  mostAnswerBytes?: number;
  /**
   * Milliseconds for one request with its answer. Default 60,000. A server itself ends a query after some seconds.
   */
  timeoutMs?: number;
  onRequest?: (request: SourceRequest) => void;
  fetch?: typeof fetch;
};

/**
 * Reads final history from a HyperSync server over its JSON API. An answer may end before the range does; the
 * next request goes on where it ended. The server also has blocks that are not final, so callers must ask
 * only for final blocks.
 */
export function createHypersyncSource(options: HypersyncSourceOptions): HistorySource {
  const { url, token, apiToken, walletsPerRequest = 3_000, logsPerAnswer = 50_000 } = options;
  const source = sourceName("hypersync", url);
  const endpoint: HypersyncEndpoint = {
    ...{ url, source, apiToken, retries: options, fetch: options.fetch ?? fetch },
    mostAnswerBytes: options.mostAnswerBytes ?? 128 << 20,
    timeoutMs: options.timeoutMs ?? 60_000,
    count: (method, outcome) => options.onRequest?.({ source, method, outcome }),
  };

  /** The hash of one block. */
  async function blockAt(block: number, signal: AbortSignal): Promise<BlockAt> {
    const query = { from_block: block, to_block: block + 1, include_all_blocks: true };
    const answer = await askHypersync(
      endpoint,
      { ...query, field_selection: { block: FIELDS.block } },
      signal,
    );
    const { blocks, height } = parsePage(answer, source, token, "transfersTo");
    const found = blocks.get(block);
    if (found !== undefined) return { block, hash: found.hash };
    if (height < block) throw new SourceBehindError(source, block);
    throw new BadAnswerError(source, "data", `must have the block ${block}`);
  }

  /** Reads a range for wallets that fit into one request, with as many requests as necessary. */
  async function readPages(
    query: LogQuery,
    range: BlockRange,
    limit: number | undefined,
    signal: AbortSignal,
  ) {
    const { event, position } = KINDS[query.kind];
    const open = openWallets(query, source, limit);
    let next = range.from;
    let last: BlockAt | null = null;
    while (next <= range.to && open.wallets.length > 0) {
      const asked = { ...query, wallets: open.wallets };
      const topics: string[][] = [[event], [], []];
      topics[position] = asked.wallets.map(topicOf);
      const answer = await askHypersync(
        endpoint,
        {
          from_block: next,
          to_block: range.to + 1,
          max_num_logs: logsPerAnswer,
          logs: [{ address: [token], topics }],
          field_selection: FIELDS,
        },
        signal,
      );
      const page = parsePage(answer, source, token, query.kind);
      if (page.next <= next && page.height < range.to) throw new SourceBehindError(source, next);
      if (page.next <= next || page.next > range.to + 1)
        throw new BadAnswerError(
          source,
          "next_block",
          `must be from ${next + 1} to ${range.to + 1}, not ${page.next}`,
        );
      // Two servers behind one address may be on two chains.
      if (last !== null && page.parentHash !== null && page.parentHash !== last.hash)
        throw new OrphanedBlockError(source, last.block, last.hash);
      const read = { from: next, to: page.next - 1 };
      open.add(checkLogs(page.logs, { source, query: asked, range: read }));
      next = page.next;
      last = await blockAt(read.to, signal);
    }
    return { logs: open.end((logs) => checkLogs(logs, { source, query, range })), end: last };
  }

  return {
    name: source,
    finalizedHead: (call) =>
      withDeadline(call, source, async (signal) => {
        const { height } = objectOf(await askHypersync(endpoint, null, signal), { source, field: "answer" });
        return blockAt(naturalOf(height, { source, field: "height" }), signal);
      }),
    history: (query: LogQuery, range: BlockRange, call: LimitedCall) =>
      withDeadline(call, source, (signal) =>
        readInGroups(query, range, { source, size: walletsPerRequest }, (some) =>
          readPages(some, range, call.limit, signal),
        ),
      ),
  };
}
