import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";

/** `result` is a wrong result that the RPC gives to every call; or `error`, an error. */
export type MortalRpcState = { dead: boolean; asked: number; result?: unknown; error?: unknown };

/**
 * An RPC that passes requests on to a real one, until `dead` is set. Then it accepts connections and closes them,
 * like a crashed node.
 */
export async function mortalRpc(target: string) {
  const state: MortalRpcState = { dead: false, asked: 0 };
  const server = createServer(async (request, response) => {
    state.asked++;
    if (state.dead) {
      request.socket.destroy();
      return;
    }
    const body = await buffer(request);
    if ("result" in state || "error" in state) {
      const { id } = JSON.parse(body.toString()) as { id: unknown };
      response.writeHead(200, { "content-type": "application/json" });
      const { result, error } = state;
      response.end(JSON.stringify({ jsonrpc: "2.0", id, ...(error === undefined ? { result } : { error }) }));
      return;
    }
    const answer = await fetch(target, {
      method: "POST",
      body,
      headers: { "content-type": "application/json" },
    });
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(await answer.text());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    state,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
