import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Hex } from "tallystick-protocol/hex";

type Reply = { result?: unknown };

/** An RPC before a chain's own that leaves the logs of one transaction out of every list, as if they had never been. */
export async function startLossySource(rpcUrl: string, lost: Hex) {
  let dropped = 0;
  const without = (reply: Reply): Reply => {
    if (!Array.isArray(reply.result)) return reply;
    const result = reply.result.filter((log) => log.transactionHash !== lost);
    dropped += reply.result.length - result.length;
    return { ...reply, result };
  };
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const headers = { "content-type": "application/json" };
    const asked = await fetch(rpcUrl, { method: "POST", headers, body: Buffer.concat(pieces) });
    const answer = (await asked.json()) as Reply | Reply[];
    const body = Array.isArray(answer) ? answer.map(without) : without(answer);
    response.writeHead(asked.status, headers).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    dropped: () => dropped,
    close: () => {
      server.closeAllConnections();
      return new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
