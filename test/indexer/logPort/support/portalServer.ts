import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { type ChainLog, FakeChain } from "./fakeChain.ts";

export type PortalQuery = {
  type: string;
  fromBlock: number;
  toBlock: number;
  parentBlockHash?: string;
  fields: { block: object; log: object };
  logs: { address: string[]; topic0: string[]; topic1?: string[]; topic2?: string[] }[];
};

/** The fault in the answer to a request. If it is undefined, the answer is correct. */
export type PortalMisbehaviour = {
  status?: number;
  headers?: { [name: string]: string };
  text?: string;
  /** The stream ends correctly after this many blocks. */
  blocks?: number;
  /** The stream breaks after this many bytes. With `clean` it ends as if it were complete. */
  cutAt?: number;
  clean?: boolean;
  hang?: boolean;
  /** Another portal behind the same address. */
  chain?: FakeChain;
  final?: number;
  edit?: (lines: string[]) => string[];
};

const QUERY_FIELDS = [
  "type",
  "fromBlock",
  "toBlock",
  "parentBlockHash",
  "fields",
  "includeAllBlocks",
  "logs",
];
const FIELDS = {
  block: ["number", "hash", "parentHash", "timestamp"],
  log: ["logIndex", "transactionIndex", "transactionHash", "address", "topics", "data"],
};
const MAX_BODY_BYTES = 256 << 10;

/** A portal of SQD over a chain in memory: `/finalized-stream` and `/finalized-head` of one dataset. */
export async function startPortalServer(chain: FakeChain = new FakeChain()) {
  const state = {
    chain,
    final: chain.head,
    /** The largest number of blocks in one stream. A stream always has its first and its last block. */
    chunk: 40,
    requests: [] as PortalQuery[],
    credentials: [] as (string | undefined)[],
    behave: (_: PortalQuery | null, __: number): PortalMisbehaviour | undefined => undefined,
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const text = Buffer.concat(pieces).toString();
    state.credentials.push(request.headers.authorization);
    const query: PortalQuery | null = text === "" ? null : JSON.parse(text);
    if (query !== null) state.requests.push(query);
    const how: PortalMisbehaviour = state.behave(query, state.requests.length - 1) ?? {};
    const current = how.chain ?? state.chain;
    const final = Math.min(how.final ?? state.final, current.head);
    if (how.hang) return;
    const head = current.blocks[final];
    const headers = {
      "x-sqd-finalized-head-number": String(final),
      "x-sqd-finalized-head-hash": head?.hash ?? "",
      ...how.headers,
    };
    const fail = (status: number, code: string, more: object = {}) =>
      response
        .writeHead(status, { "content-type": "application/json", ...headers })
        .end(JSON.stringify({ error: { type: "invalid_request_error", code, message: code }, ...more }));
    if (how.status !== undefined) {
      response.writeHead(how.status, headers).end(how.text ?? "");
      return;
    }
    if (request.url?.endsWith("/finalized-head")) {
      response
        .writeHead(200, headers)
        .end(JSON.stringify(head ? { number: head.block, hash: head.hash } : null));
      return;
    }
    const isOurs = request.url === "/datasets/our-chain/finalized-stream" && request.method === "POST";
    if (!isOurs || query === null) return void fail(404, "unknown_dataset");
    const problem = text.length > MAX_BODY_BYTES ? "query too large" : problemOf(query);
    if (problem !== null) return void fail(400, `malformed_request: ${problem}`);
    const { fromBlock, parentBlockHash } = query;
    const parent = current.blocks[fromBlock - 1];
    if (parentBlockHash !== undefined && parent !== undefined && parent.hash !== parentBlockHash) {
      return void fail(409, "base_block_mismatch", {
        previousBlocks: [{ number: parent.block, hash: parent.hash }],
      });
    }
    if (fromBlock > final) {
      response.writeHead(204, headers).end();
      return;
    }
    const to = Math.min(query.toBlock, final, fromBlock + (how.blocks ?? state.chunk) - 1);
    const lines = linesOf(current, query, to);
    send(response, headers, (how.edit?.(lines) ?? lines).map((line) => `${line}\n`).join(""), how);
  };

  const server = createServer((request, response) => void handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/datasets/our-chain`,
    reset: (next: FakeChain, final = next.head) => {
      Object.assign(state, {
        chain: next,
        final,
        chunk: 40,
        requests: [],
        credentials: [],
        behave: () => undefined,
      });
    },
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  });
}

export type PortalServer = Awaited<ReturnType<typeof startPortalServer>>;

/** The lines for the blocks with requested data, and for the first and the last scanned block. */
function linesOf(chain: FakeChain, { fromBlock, logs: filters }: PortalQuery, to: number): string[] {
  return chain.blocks.slice(fromBlock, to + 1).flatMap(({ block, hash, time, logs }) => {
    const found = logs.filter((log) => filters.some((filter) => fits(filter, log)));
    if (found.length === 0 && block !== fromBlock && block !== to) return [];
    const header = { number: block, hash, timestamp: time };
    return [JSON.stringify(found.length === 0 ? { header } : { header, logs: found.map(rawLog) })];
  });
}

const fits = ({ address, ...topics }: PortalQuery["logs"][number], log: ChainLog) =>
  address.includes(log.address) &&
  Object.entries(topics).every(([name, wanted]) =>
    wanted.includes(log.topics[Number(name.at(-1))] as string),
  );

const rawLog = ({ log, tx, address, topics, data }: ChainLog) => ({
  logIndex: log,
  transactionHash: tx,
  address,
  topics,
  data,
});

/** The reason why a portal refuses a query: a field that it does not know, or a range that ends before it begins. */
function problemOf(query: PortalQuery): string | null {
  const unknown = [
    ...Object.keys(query).filter((name) => !QUERY_FIELDS.includes(name)),
    ...Object.keys(query.fields.block).filter((name) => !FIELDS.block.includes(name)),
    ...Object.keys(query.fields.log).filter((name) => !FIELDS.log.includes(name)),
    ...query.logs.flatMap((it) => Object.keys(it).filter((name) => !/^(address|topic[0-3])$/.test(name))),
  ];
  if (unknown.length > 0) return `unknown field ${unknown[0]}`;
  if (query.type !== "evm") return "type";
  if (query.logs.length > 100) return "too many items";
  return query.toBlock < query.fromBlock ? "toBlock" : null;
}

function send(response: ServerResponse, headers: object, text: string, { cutAt, clean }: PortalMisbehaviour) {
  const head = { "content-type": "application/jsonl", ...headers };
  if (cutAt === undefined) {
    response.writeHead(200, { ...head, "content-encoding": "gzip" }).end(gzipSync(text));
    return;
  }
  response.writeHead(200, head);
  if (clean) response.end(text.slice(0, cutAt));
  else response.write(text.slice(0, cutAt) || "\n", () => response.destroy());
}
