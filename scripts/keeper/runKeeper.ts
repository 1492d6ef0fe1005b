import { getRequestListener } from "@hono/node-server";
import { TallystickError } from "tallystick-protocol/errors";
import { limitsPerAddress } from "tallystick-runtime/http/limitsPerAddress";
import { listen } from "tallystick-runtime/http/listen";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { within } from "tallystick-sdk/deadline";
import { createEscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { createKeeper } from "tallystick-sdk/escrow/keeper";
import { keeperApp } from "tallystick-sdk/escrow/keeperApp";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { createJobLeases, type JobLease } from "tallystick-sdk/store/jobLeases";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { privateKeyToAccount } from "viem/accounts";
import type { KeeperConfig } from "./config.ts";

/** A running keeper. */
export type RunningKeeper = { url: string; close: () => Promise<void> };

/**
 * Opens a keeper on its folder and serves its HTTP API.
 *
 * @param config.leaseMs how long a keeper that was killed keeps the folder, in milliseconds. Default 5,000
 * @throws TallystickError `cannot_listen`; `keeper_running` when another keeper works in the folder
 */
export async function runKeeper(config: KeeperConfig & { leaseMs?: number }): Promise<RunningKeeper> {
  const { rpcUrl, chainId, escrow, feeRecipient, startBlock, roundMs } = config;
  const account = privateKeyToAccount(config.privateKey);
  const store = fileStore(config.folder);
  const turn = await takeTurn(store, config.folder, config.leaseMs);
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
  const server = await listen(getRequestListener(app.fetch), {
    ...config,
    settings: "KEEPER_HOST and KEEPER_PORT",
    // Each request makes the keeper ask the chain. Requests that run at the same time are not limited, because most of
    // them only wait for a round.
    limits: limitsPerAddress({
      ...config,
      atOnce: 0,
      waiting: 0,
      priceOf: (path) => (path === "/health" ? 0 : 1),
    }),
    onFault: (error) => log("A request caused an internal error.", { error }),
  }).catch(async (error) => {
    sender.close();
    await keeper.close();
    await turn.end();
    throw error;
  });
  keeper.start();
  return {
    url: server.url,
    close: async () => {
      await server.close(CLOSE_MS);
      // A transaction that nobody mines does not hold up the end. The next start continues with it.
      await within(keeper.close(), CLOSE_MS);
      sender.close();
      await keeper.close();
      await turn.end();
    },
  };
}

/** How long a keeper that was killed keeps its folder from the next one, in milliseconds. */
const LEASE_MS = 5_000;

/**
 * Takes the folder for this process. Two keepers on one folder would use the same nonces, and replace each other's
 * transactions. A keeper that was killed is waited for.
 *
 * @throws TallystickError `keeper_running`
 */
async function takeTurn(store: KeyValueStore, folder: string, leaseMs = LEASE_MS): Promise<JobLease> {
  const leases = createJobLeases({ store, leaseMs, now: Date.now });
  for (const until = performance.now() + 2 * leaseMs; ; ) {
    const turn = await leases.take("keeper");
    if (turn) return turn;
    if (performance.now() >= until) break;
    await new Promise((resolve) => setTimeout(resolve, leaseMs / 10));
  }
  throw new TallystickError({
    code: "keeper_running",
    message: `Another keeper works in ${folder}.`,
    hint: "Stop it, or give this one its own KEEPER_PRIVATE_KEY and KEEPER_DIR.",
    field: "KEEPER_DIR",
  });
}

/** How long an end waits for running requests, and then for a running round, in milliseconds. */
const CLOSE_MS = 3_000;
