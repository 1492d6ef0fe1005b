import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Changes a chain's JSON-RPC answer to a call. For a true answer it returns `result` unchanged. */
export type RpcLie = (method: string, params: unknown[], result: unknown) => unknown;

export type LyingRpc = { url: string; lie: RpcLie; asked: string[]; close: () => Promise<void> };

const HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-allow-headers": "content-type",
  "content-type": "application/json",
};

type Body = { method: string; params: unknown[] };

/** An RPC source in front of a real chain. `lie` changes its results. Pages of every origin may send it requests. */
export async function openLyingRpc(target: string): Promise<LyingRpc> {
  const rpc: LyingRpc = { url: "", lie: (_, __, result) => result, asked: [], close: async () => {} };
  const server = createServer(async (request, response) => {
    if (request.method === "OPTIONS") {
      response.writeHead(204, HEADERS).end();
      return;
    }
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    const { method, params } = JSON.parse(body) as Body;
    rpc.asked.push(method);
    const answer = await fetch(target, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    const said = (await answer.json()) as { result?: unknown };
    if (said.result !== undefined) said.result = rpc.lie(method, params, said.result);
    response.writeHead(200, HEADERS).end(JSON.stringify(said));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  rpc.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  rpc.close = () =>
    new Promise((closed) => {
      server.close(() => closed());
      server.closeAllConnections();
    });
  return rpc;
}
