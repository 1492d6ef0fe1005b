import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { VERDICTS } from "tallystick-protocol/erc1271/walletProbe";
import { numberToHex } from "viem";

type Call = { id: unknown; method: string; params: { to?: string }[] };

/**
 * A proxy for a chain's RPC that lacks the state of all blocks until `lacksState` is set to false: each question to a contract
 * wallet finds no code.
 */
export async function startStatelessRpc(rpcUrl: string) {
  const state = { lacksState: true };
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces);
    const call = JSON.parse(body.toString()) as Call;
    const headers = { "content-type": "application/json" };
    // Only questions to wallets have no receiver.
    if (state.lacksState && call.method === "eth_call" && call.params[0]?.to === undefined) {
      const result = numberToHex(VERDICTS.noState, { size: 32 });
      response.writeHead(200, headers).end(JSON.stringify({ jsonrpc: "2.0", id: call.id, result }));
      return;
    }
    const asked = await fetch(rpcUrl, { method: "POST", headers, body });
    response.writeHead(asked.status, headers).end(Buffer.from(await asked.arrayBuffer()));
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
