import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import type { SdkChain } from "./sdkChain.ts";

export type RpcRequest = { method: string; params: unknown[]; id: number };

/** An HTTP provider of the chain. A test can make it fail. */
export type RpcProxy = {
  url: string;
  /**
   * Gives a body in place of the chain's answer, or undefined for the chain's own answer. A promise that never resolves
   * makes the request hang.
   */
  sabotage: (request: RpcRequest) => unknown | Promise<unknown>;
  close: () => Promise<void>;
};

export async function openRpcProxy(chain: SdkChain): Promise<RpcProxy> {
  const proxy: RpcProxy = { url: "", sabotage: () => undefined, close: async () => {} };
  const answer = async (request: RpcRequest): Promise<unknown> => {
    const instead = await proxy.sabotage(request);
    if (instead !== undefined) return instead;
    const { id, method, params } = request;
    try {
      const result = await chain.connection.provider.request({ method, params } as never);
      return { jsonrpc: "2.0", id, result };
    } catch (error) {
      const { code = -32_603, message, data } = Object(error);
      return { jsonrpc: "2.0", id, error: { code, message, data } };
    }
  };
  const { promise, resolve } = Promise.withResolvers<number>();
  const server = serve(
    {
      fetch: async (request) => Response.json(await answer((await request.json()) as RpcRequest)),
      hostname: "127.0.0.1",
      port: 0,
    },
    ({ port }) => resolve(port),
  ) as Server;
  proxy.url = `http://127.0.0.1:${await promise}`;
  proxy.close = async () => {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  };
  return proxy;
}
