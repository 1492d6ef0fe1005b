import { expect } from "chai";
import type { Hex } from "tallystick-protocol/hex";
import type { BlockAt } from "../../../indexer/logPort/logPort.ts";
import { createRpcSource } from "../../../indexer/logPort/rpc/createRpcSource.ts";
import { TRANSFER } from "../../../indexer/logPort/tokenLogs.ts";
import { TOKEN } from "../../derive/eventLog.ts";

const hashOf = (block: number): Hex => `0x${block.toString(16).padStart(64, "0")}`;
const quantity = (value: number): Hex => `0x${value.toString(16)}`;

/** A chain with one transfer in each block. Its node answers 503 as often as `down` says, when it is asked for a block. */
function openChain() {
  const down = new Map<number, number>();
  const answer = ({ method, params }: { method: string; params: [Hex & { blockHash: Hex }] }) => {
    if (method === "eth_getBlockByHash") {
      const number = Number.parseInt(params[0], 16);
      const times = { number: quantity(number), timestamp: quantity(number), transactions: [] };
      const hashes = { hash: hashOf(number), parentHash: hashOf(number - 1) };
      return { ...times, ...hashes, logsBloom: `0x${"0".repeat(512)}` };
    }
    const { blockHash } = params[0];
    const block = Number.parseInt(blockHash, 16);
    const place = { blockNumber: quantity(block), blockHash, logIndex: "0x0", transactionIndex: "0x0" };
    const log = { address: TOKEN, topics: [TRANSFER, hashOf(1), hashOf(2)], data: hashOf(5) };
    return [{ ...log, ...place, transactionHash: hashOf(1_000_000 + block), removed: false }];
  };
  const fetch = async (_: unknown, init?: RequestInit): Promise<Response> => {
    const asked = JSON.parse(String(init?.body));
    const calls = [asked].flat();
    const first = Number.parseInt(calls[0].params[0].blockHash ?? calls[0].params[0], 16);
    const left = down.get(first) ?? 0;
    down.set(first, left - 1);
    if (left > 0) return new Response("", { status: 503 });
    const replies = calls.map((it) => ({ jsonrpc: "2.0", id: it.id, result: answer(it) }));
    return Response.json(Array.isArray(asked) ? replies : replies[0]);
  };
  const source = createRpcSource({
    ...{ url: "http://rpc.example/", token: TOKEN, firstBlock: 0 },
    ...{ fetch: fetch as typeof globalThis.fetch, sleep: async () => {} },
  });
  return { source, down };
}

describe("an RPC source that reads blocks by their hashes", () => {
  const call = { signal: new AbortController().signal, deadlineMs: 60_000 };
  const blocks = Array.from({ length: 200 }, (_, n): BlockAt => ({ block: 1 + n, hash: hashOf(1 + n) }));

  it("has the logs of each block when it reads many of them again after a failure, wherever the failure was", async () => {
    for (let failed = 1; failed <= 191; failed += 10) {
      const { source, down } = openChain();
      // More often than the source repeats a request.
      down.set(failed, 6);
      const first = await source.blockLogs(blocks, call).catch(() => null);
      expect(first, `no failure at ${failed}`).to.equal(null);
      for (let n = 0; n < 3; n++) {
        const found = await source.blockLogs(blocks, call);
        const without = blocks.filter((_, at) => found[at]?.transfers.length !== 1).map(({ block }) => block);
        expect(without, `after a failure at ${failed}`).to.deep.equal([]);
      }
    }
  });
});
