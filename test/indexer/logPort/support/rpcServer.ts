import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type ChainBlock, type ChainLog, FakeChain, TOKEN } from "./fakeChain.ts";

export type RpcMessage = { jsonrpc: string; id: number; method: string; params: unknown[] };
export type Fault = { code: number; message: string };

/** One of the nodes behind an address. */
export type FakeNode = {
  chain: FakeChain;
  /** Its latest block. */
  head: number;
  /** The number of its latest blocks that are not final. */
  finality: number;
  /** It has deleted logs and receipts below this block, and answers `[]` and null for them. */
  keepsFrom: number;
  /** Whether its logs have the time of their block, as in newer nodes. */
  tellsTime: boolean;
};

/** The fault in the answer to a request. If it is undefined, the answer is correct. */
export type Misbehaviour = {
  /** The status of an answer that consists of `headers` and `text` only. */
  status?: number;
  headers?: { [name: string]: string };
  text?: string;
  /** The answer has only this many bytes of the correct answer. */
  cutAt?: number;
  destroy?: boolean;
  hang?: boolean;
  /** Another node answers. */
  node?: Partial<FakeNode>;
  fault?: (message: RpcMessage) => Fault | undefined;
  edit?: (message: RpcMessage, result: unknown) => unknown;
};

/** A server of Ethereum's JSON-RPC over a chain in memory, with faults that a test can set. It does not listen yet. */
export function createRpcServer(chain: FakeChain = new FakeChain()) {
  const node: FakeNode = { chain, head: chain.head, finality: 0, keepsFrom: 0, tellsTime: true };
  const state = {
    node,
    /** Its address, as soon as it listens. */
    url: "",
    /** The messages of each request. */
    requests: [] as RpcMessage[][],
    /** The error that a real node would give for a message. The reply has the status of a correct answer. */
    refuse: (_: RpcMessage): Fault | undefined => undefined,
    behave: (_: RpcMessage[], __: number): Misbehaviour | undefined => undefined,
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const body = JSON.parse(Buffer.concat(pieces).toString());
    const messages: RpcMessage[] = Array.isArray(body) ? body : [body];
    state.requests.push(messages);
    const how: Misbehaviour = state.behave(messages, state.requests.length - 1) ?? {};
    if (how.hang) return;
    if (how.destroy) {
      response.destroy();
      return;
    }
    const head = { "content-type": "application/json" };
    if (how.status !== undefined && how.fault === undefined) {
      response.writeHead(how.status, { ...head, ...how.headers }).end(how.text ?? "");
      return;
    }
    const current = { ...state.node, ...how.node };
    current.head = Math.min(current.head, current.chain.head);
    const replies = messages.map((message) => {
      const fault = how.fault?.(message) ?? state.refuse(message);
      const { id } = message;
      if (fault !== undefined) return { jsonrpc: "2.0", id, error: fault };
      const answer = answerOf(current, message);
      if ("error" in answer) return { jsonrpc: "2.0", id, ...answer };
      return { jsonrpc: "2.0", id, result: how.edit ? how.edit(message, answer.result) : answer.result };
    });
    // The answers of a batch come in the opposite order, because JSON-RPC lets the server choose the order.
    const text = JSON.stringify(Array.isArray(body) ? replies.reverse() : replies[0]);
    if (how.cutAt !== undefined) {
      response.writeHead(200, head).end(text.slice(0, how.cutAt));
      return;
    }
    response.writeHead(how.status ?? 200, head).end(text);
  };

  const server = createServer((request, response) => void handle(request, response));
  return Object.assign(state, {
    listen: async () => {
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      state.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v2/secret-key`;
    },
    /** Sets another chain, without faults. */
    reset: (next: FakeChain, more: Partial<FakeNode> = {}) => {
      state.node = { chain: next, head: next.head, finality: 0, keepsFrom: 0, tellsTime: true, ...more };
      state.requests = [];
      state.refuse = () => undefined;
      state.behave = () => undefined;
    },
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  });
}

export type RpcServer = ReturnType<typeof createRpcServer>;

export async function startRpcServer(chain?: FakeChain): Promise<RpcServer> {
  const server = createRpcServer(chain);
  await server.listen();
  return server;
}

const hex = (value: number) => `0x${value.toString(16)}`;

type Answer = { result: unknown } | { error: Fault };

export function answerOf(node: FakeNode, { method, params }: RpcMessage): Answer {
  const { chain, head, finality, keepsFrom } = node;
  const [first, second] = (params ?? []) as [string & { [field: string]: unknown }, string];
  switch (method) {
    case "eth_chainId":
      return { result: hex(8_453) };
    case "eth_getBlockByNumber": {
      const block =
        first === "latest" ? head : first === "finalized" ? Math.max(0, head - finality) : Number(first);
      return { result: block > head ? null : header(node, block) };
    }
    case "eth_getBlockByHash": {
      const found = chain.blocks.find(({ hash, block }) => hash === first && block <= head);
      return { result: found ? header(node, found.block) : null };
    }
    case "eth_getLogs":
      return logsOf(node, first);
    case "eth_getTransactionReceipt": {
      const found = chain.blocks.find(({ transactions }) => transactions.includes(first as never));
      if (found === undefined || found.block > head || found.block < keepsFrom) return { result: null };
      return { result: receipt(node, found, first) };
    }
    case "eth_getBlockReceipts": {
      const found = chain.blocks.find(({ hash }) => hash === first);
      if (found === undefined || found.block > head || found.block < keepsFrom) return { result: null };
      return { result: found.transactions.map((tx) => receipt(node, found, tx)) };
    }
    case "eth_call": {
      const { to, data } = first as unknown as { to: string; data: string };
      const at = second as unknown as { blockHash: string };
      const block =
        typeof second === "string"
          ? Number(second)
          : chain.blocks.findIndex(({ hash }) => hash === at.blockHash);
      if (to !== TOKEN) return { result: "0x" };
      const value = data.startsWith("0x70a08231")
        ? chain.balanceOf(`0x${data.slice(34)}`, block)
        : supply(chain, block);
      return { result: `0x${value.toString(16).padStart(64, "0")}` };
    }
    default:
      return { error: { code: -32601, message: `the method ${method} does not exist` } };
  }
}

function logsOf(node: FakeNode, filter: { [field: string]: unknown }): Answer {
  const { chain, head, keepsFrom } = node;
  const {
    address,
    topics = [],
    fromBlock,
    toBlock,
    blockHash,
  } = filter as {
    address?: string;
    topics?: (string | string[] | null)[];
    fromBlock: string;
    toBlock: string;
    blockHash?: string;
  };
  const one = chain.blocks.find(({ hash, block }) => hash === blockHash && block <= head);
  if (blockHash !== undefined && one === undefined)
    return { error: { code: -32000, message: "unknown block" } };
  const [from, to] = one ? [one.block, one.block] : [Number(fromBlock), Number(toBlock)];
  const wanted = topics.map((it) => (it === null ? null : new Set([it].flat())));
  const result = chain.blocks
    .slice(Math.max(from, keepsFrom), Math.min(to, head) + 1)
    .flatMap(({ logs }) => logs)
    .filter((log) => address === undefined || log.address === address)
    .filter((log) => wanted.every((it, n) => it?.has(log.topics[n] ?? "") ?? true))
    .map((log) => rawLog(log, node));
  return { result };
}

const header = ({ chain }: FakeNode, block: number) => {
  const { hash, parentHash, time, transactions, bloom } = chain.at(block);
  return { number: hex(block), hash, parentHash, timestamp: hex(time), transactions, logsBloom: bloom };
};

const receipt = (node: FakeNode, { hash, block, logs }: ChainBlock, tx: string) => ({
  transactionHash: tx,
  blockHash: hash,
  blockNumber: hex(block),
  status: "0x1",
  logs: logs.filter((log) => (log.tx as string) === tx).map((log) => rawLog(log, node)),
});

const rawLog = ({ block, log, tx, time, ...rest }: ChainLog, { tellsTime }: FakeNode) => ({
  ...rest,
  blockNumber: hex(block),
  logIndex: hex(log),
  transactionIndex: hex(log >> 1),
  transactionHash: tx,
  removed: false,
  ...(tellsTime ? { blockTimestamp: hex(time) } : {}),
});

const supply = (chain: FakeChain, block: number) =>
  chain.blocks
    .slice(0, block + 1)
    .flatMap(({ logs }) => logs)
    .filter(
      ({ address, topics }) => address === TOKEN && /^0x0+$/.test(topics[1] as string) && topics.length === 3,
    )
    .reduce((sum, { data }) => sum + (data === "0x" ? 0n : BigInt(data)), 0n);
