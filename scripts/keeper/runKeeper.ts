import type { Server } from "node:http";
import { serve } from "@hono/node-server";
import { privateKeyToAccount } from "viem/accounts";
import { guardServer } from "../../runtime/http/guardServer.ts";
import { limitTime } from "../../runtime/http/limitTime.ts";
import { createTransactionSender } from "../../sdk/chain/transactionSender.ts";
import { createEscrowCalls } from "../../sdk/escrow/escrowCalls.ts";
import { createKeeper } from "../../sdk/escrow/keeper.ts";
import { keeperApp } from "../../sdk/escrow/keeperApp.ts";
import { fileStore } from "../../sdk/store/fileStore.ts";
import type { KeeperConfig } from "./config.ts";

/** A keeper that listens. */
export type RunningKeeper = { url: string; close: () => Promise<void> };

/** Opens a keeper on its folder and serves it. */
export async function runKeeper(config: KeeperConfig): Promise<RunningKeeper> {
  const log = (sentence: string, details: { [key: string]: unknown } = {}): void => {
    const facts = Object.entries(details).map(([key, value]) => ` ${key}=${value}`);
    process.stderr.write(`${new Date().toISOString()} ${sentence}${facts.join("")}\n`);
  };
  const { rpcUrl, chainId, escrow, feeRecipient, startBlock, roundMs } = config;
  const account = privateKeyToAccount(config.privateKey);
  const sender = createTransactionSender({ account, chainId, rpc: rpcUrl });
  const calls = createEscrowCalls({ sender, deployment: { chainId, escrow } });
  const { minAmount, gasPerBuyer, gasPerWallet } = config;
  const keeper = createKeeper({
    calls,
    store: fileStore(config.folder),
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
  guardServer(server, (error) => log("A request left a fault behind.", { error }));
  limitTime(server);
  const url = `http://${hostname}:${await listening}`;
  keeper.start();
  return {
    url,
    close: async () => {
      server.closeIdleConnections();
      await new Promise((done) => server.close(done));
      await keeper.close();
    },
  };
}
