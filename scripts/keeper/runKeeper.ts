import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { ClientBudgets, pointsAMinute } from "tallystick-runtime/http/clientBudgets";
import { guardServer } from "tallystick-runtime/http/guardServer";
import { limitClients } from "tallystick-runtime/http/limitClients";
import { limitSockets } from "tallystick-runtime/http/limitSockets";
import { limitTime } from "tallystick-runtime/http/limitTime";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { within } from "tallystick-sdk/deadline";
import { createEscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { createKeeper } from "tallystick-sdk/escrow/keeper";
import { keeperApp } from "tallystick-sdk/escrow/keeperApp";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { privateKeyToAccount } from "viem/accounts";
import type { KeeperConfig } from "./config.ts";

/** A running keeper. */
export type RunningKeeper = { url: string; close: () => Promise<void> };

/** Opens a keeper on its folder and serves its HTTP API. */
export async function runKeeper(config: KeeperConfig): Promise<RunningKeeper> {
  const { rpcUrl, chainId, escrow, feeRecipient, startBlock, roundMs } = config;
  const account = privateKeyToAccount(config.privateKey);
  const store = fileStore(config.folder);
  const sender = createTransactionSender({ account, chainId, rpc: rpcUrl, store });
  const calls = createEscrowCalls({ sender, deployment: { chainId, escrow } });
  const { minAmount, gasPerBuyer, gasPerWallet } = config;
  const keeper = createKeeper({
    calls,
    store,
    worth: { minAmount, ...(feeRecipient !== undefined && { fee: { recipient: feeRecipient } }) },
    gasPerBuyer,
    gasPerWallet,
    startBlock,
    roundMs,
    log,
  });
  const app = keeperApp({ calls, keeper, log });
  const { promise: listening, resolve, reject } = Promise.withResolvers<number>();
  const { host: hostname, port } = config;
  const server = serve({ fetch: app.fetch, hostname, port }, (at) => resolve(at.port)) as Server;
  server.on("error", reject);
  guardServer(server, (error) => log("A request caused an internal error.", { error }));
  limitTime(server);
  protect(server, config);
  const url = `http://${hostname}:${await listening}`;
  keeper.start();
  return {
    url,
    close: async () => {
      server.closeIdleConnections();
      await new Promise((done) => server.close(done));
      // A transaction that nobody mines does not hold up the end. The next start continues with it.
      await within(keeper.close(), CLOSE_MS);
      sender.close();
      await keeper.close();
    },
  };
}

/** How long an end waits for a running round, in milliseconds. */
const CLOSE_MS = 3_000;

/** Limits the requests of every address, because each request makes the keeper ask the chain. */
function protect(server: Server, { requestsPerAddress, trustedProxies }: KeeperConfig): void {
  // Requests that run at the same time are not limited, because most of them only wait for a round.
  const limits = { ...pointsAMinute(requestsPerAddress), atOnce: 0, waiting: 0, streams: 0 };
  const budgets = new ClientBudgets(limits, () => performance.now() / 1000);
  limitSockets(server, { trustedProxies, budgets });
  limitClients(server, { budgets, trustedProxies, priceOf: (path) => (path === "/health" ? 0 : 1) });
}
