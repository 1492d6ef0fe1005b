import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";

type Message = { method: string; params: { address?: string }[] };
type Reply = { result?: unknown };

/**
 * A proxy for a chain's RPC with two possible faults for the token's logs. It refuses all requests for them, or it
 * leaves out the logs of one transaction.
 */
export async function startFaultyRpc(rpcUrl: string, { token, lost }: { token: Address; lost: Hex }) {
  const state = { refuses: false, dropped: 0 };
  const without = (reply: Reply): Reply => {
    if (!Array.isArray(reply.result)) return reply;
    const result = reply.result.filter((log) => log.transactionHash !== lost);
    state.dropped += reply.result.length - result.length;
    return { ...reply, result };
  };
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces);
    const messages = [JSON.parse(body.toString())].flat() as Message[];
    const isOfToken = messages.some(
      ({ method, params }) => method === "eth_getLogs" && params[0]?.address === token,
    );
    if (isOfToken && state.refuses) return void response.writeHead(401).end();
    const headers = { "content-type": "application/json" };
    const asked = await fetch(rpcUrl, { method: "POST", headers, body });
    const answer = (await asked.json()) as Reply | Reply[];
    const told = !isOfToken ? answer : Array.isArray(answer) ? answer.map(without) : without(answer);
    response.writeHead(asked.status, headers).end(JSON.stringify(told));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return Object.assign(state, {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  });
}
