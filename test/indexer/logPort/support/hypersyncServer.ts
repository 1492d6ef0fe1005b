import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type ChainLog, FakeChain } from "./fakeChain.ts";

export type HypersyncRequest = {
  from_block: number;
  to_block: number;
  include_all_blocks?: boolean;
  max_num_logs?: number;
  logs?: { address: string[]; topics: string[][] }[];
  field_selection: { block: string[]; log?: string[] };
};

/** The fault in the answer to a request. If it is undefined, the answer is correct. */
export type HypersyncMisbehaviour = {
  status?: number;
  headers?: { [name: string]: string };
  text?: string;
  hang?: boolean;
  /** Another server behind the same address. */
  chain?: FakeChain;
  height?: number;
  /** Changes the answer. */
  // biome-ignore lint/suspicious/noExplicitAny: an answer is edited into shapes that no type allows
  edit?: (answer: any) => unknown;
};

/** A server of HyperSync's JSON API over a chain in memory: `/query` and `/height`. */
export async function startHypersyncServer(chain: FakeChain = new FakeChain()) {
  const state = {
    chain,
    height: chain.head,
    /** The number of blocks that a query scans in its time limit. */
    blocks: 50,
    requests: [] as HypersyncRequest[],
    credentials: [] as (string | undefined)[],
    behave: (_: HypersyncRequest | null, __: number): HypersyncMisbehaviour | undefined => undefined,
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    state.credentials.push(request.headers.authorization);
    const query: HypersyncRequest | null = text === "" ? null : JSON.parse(text);
    if (query !== null) state.requests.push(query);
    const how = state.behave(query, state.requests.length - 1) ?? {};
    if (how.hang) return;
    if (how.status !== undefined || how.text !== undefined) {
      response.writeHead(how.status ?? 200, how.headers).end(how.text ?? "");
      return;
    }
    const current = how.chain ?? state.chain;
    const height = Math.min(how.height ?? state.height, current.head);
    const answer = query === null ? { height } : answerOf(current, height, query, state.blocks);
    const edited = how.edit?.(answer) ?? answer;
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(edited));
  };

  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    reset: (next: FakeChain) => {
      Object.assign(state, {
        ...{ chain: next, height: next.head, blocks: 50, requests: [], credentials: [] },
        behave: () => undefined,
      });
    },
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  });
}

export type HypersyncServer = Awaited<ReturnType<typeof startHypersyncServer>>;

function answerOf(chain: FakeChain, height: number, query: HypersyncRequest, most: number) {
  const inBlocks = (to: number) =>
    chain.blocks
      .slice(query.from_block, to)
      .flatMap(({ logs }) => logs.filter((log) => query.logs?.some((it) => fits(it, log))));
  const end = Math.min(query.to_block, height + 1, query.from_block + most);
  // The last block of an answer is whole, so an answer may have more logs than the limit.
  const full = inBlocks(end)[(query.max_num_logs ?? Infinity) - 1];
  const next = full === undefined ? end : full.block + 1;
  const read = chain.blocks.slice(query.from_block, next);
  const found = inBlocks(next);
  const withLogs = new Set(found.map(({ block }) => block));
  const blocks = read
    .filter(({ block }) => query.include_all_blocks || withLogs.has(block))
    .map(({ block, hash, time }) => ({ number: block, hash, timestamp: `0x${time.toString(16)}` }));
  const [first] = read;
  return {
    // The rows come in two parts, because the real server sends them in parts too.
    data: [{ blocks, logs: found.slice(0, 3).map(rawLog) }, { logs: found.slice(3).map(rawLog) }],
    archive_height: height,
    next_block: Math.max(next, query.from_block),
    total_execution_time: 5,
    rollback_guard:
      first === undefined
        ? null
        : {
            block_number: read.at(-1)?.block,
            hash: read.at(-1)?.hash,
            timestamp: read.at(-1)?.time,
            first_block_number: first.block,
            first_parent_hash: first.parentHash,
          },
  };
}

const fits = ({ address, topics }: { address: string[]; topics: string[][] }, log: ChainLog) =>
  address.includes(log.address) &&
  topics.every((wanted, n) => wanted.length === 0 || wanted.includes(log.topics[n] as string));

const rawLog = ({ block, blockHash, log, tx, address, topics, data }: ChainLog) => ({
  ...{ block_number: block, block_hash: blockHash, log_index: log, transaction_hash: tx, address, data },
  ...{
    topic0: topics[0],
    topic1: topics[1] ?? null,
    topic2: topics[2] ?? null,
    topic3: topics[3] ?? null,
  },
});
