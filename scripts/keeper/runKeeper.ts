import { getRequestListener } from "@hono/node-server";
import { limitsPerAddress } from "tallystick-runtime/http/limitsPerAddress";
import { listen } from "tallystick-runtime/http/listen";
import { logFaults } from "tallystick-runtime/http/logFaults";
import { closeOnError, type OnOpened } from "tallystick-runtime/processes/closeOnError";
import { lockFolder } from "tallystick-runtime/processes/lockFolder";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { within } from "tallystick-sdk/deadline";
import { createEscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { createKeeper } from "tallystick-sdk/escrow/keeper";
import { keeperApp } from "tallystick-sdk/escrow/keeperApp";
import { requireKeeperStore } from "tallystick-sdk/escrow/requireKeeperStore";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { privateKeyToAccount } from "viem/accounts";
import type { KeeperConfig } from "./config.ts";

/** A running keeper. */
export type RunningKeeper = { url: string; close: () => Promise<void> };

/**
 * Opens a keeper on its folder and serves its HTTP API. Two keepers on one folder would use the same nonces, and replace each
 * other's transactions.
 *
 * @throws TallystickError `cannot_listen`; `keeper_running` when another keeper works in the folder; `other_store` when
 * the folder belongs to another escrow
 */
export async function runKeeper(config: KeeperConfig): Promise<RunningKeeper> {
  return await closeOnError((opened) => startKeeper(config, opened));
}

async function startKeeper(config: KeeperConfig, opened: OnOpened): Promise<RunningKeeper> {
  const { rpcUrl, chainId, escrow, feeRecipient, startBlock, roundMs } = config;
  const account = privateKeyToAccount(config.privateKey);
  const release = await lockFolder(config.folder, {
    file: "keeper.lock",
    program: "keeper",
    code: "keeper_running",
    hint: "Stop it, check the folder's permissions, or give this one its own KEEPER_PRIVATE_KEY and KEEPER_DIR.",
  });
  opened(release);
  const store = fileStore(config.folder);
  await requireKeeperStore(store, { chainId, escrow });
  const sender = createTransactionSender({ account, chainId, rpc: rpcUrl, store, log });
  opened(() => sender.close());
  const calls = createEscrowCalls({ sender, deployment: { chainId, escrow } });
  const { minAmount, gasPerBuyer, gasPerWallet, token } = config;
  const keeper = createKeeper({
    calls,
    store,
    ...(token !== undefined && { token }),
    worth: { minAmount, ...(feeRecipient !== undefined && { fee: { recipient: feeRecipient } }) },
    gasPerBuyer,
    gasPerWallet,
    startBlock,
    roundMs,
    log,
  });
  opened(() => keeper.close());
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
    onFault: logFaults(log),
  });
  keeper.start();
  return {
    url: server.url,
    close: async () => {
      await server.close(CLOSE_MS);
      // A transaction that nobody mines does not delay the end. The next start continues with it.
      await within(keeper.close(), CLOSE_MS);
      sender.close();
      await keeper.close();
      await release();
    },
  };
}

/** How long `close` waits for running requests, and then for a running round, in milliseconds. */
const CLOSE_MS = 3_000;
