// A seller as a separate process, which a test kills. Its first argument has its settings as JSON. It prints a line
// when it listens, and a line when it works.
import { setTimeout as sleep } from "node:timers/promises";
import { serve } from "@hono/node-server";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { createSeller } from "tallystick-sdk/createSeller";
import { findPaymentOnChain } from "tallystick-sdk/seller/findPayment";
import { fileStore } from "tallystick-sdk/store/fileStore";
import { createLocalFacilitator } from "tallystick-sdk/x402/localFacilitator";
import { privateKeyToAccount } from "viem/accounts";
import { MEAN, mean } from "./market.ts";

const { key, relayKey, port, baseUrl, rpcUrl, network, folder, workMs } = JSON.parse(process.argv[2] ?? "{}");
const { chainId } = network;
const sender = createTransactionSender({
  account: privateKeyToAccount(relayKey),
  chainId,
  rpc: rpcUrl,
  pollingMs: 20,
});
const seller = await createSeller({
  account: privateKeyToAccount(key),
  endpoint: `http://127.0.0.1:${port}`,
  baseUrl,
  network,
  facilitator: createLocalFacilitator({ sender, chainId }),
  findPayment: findPaymentOnChain(sender.client, network),
  store: fileStore(folder),
  leaseMs: 1_000,
  listings: [{ capability: MEAN, price_usdc: "0.05", max_latency_ms: 240_000 }],
  handlers: {
    [MEAN]: async (params) => {
      process.stdout.write("working\n");
      await sleep(workMs);
      return mean(params);
    },
  },
  devMode: true,
});
serve({ fetch: seller.app.fetch, hostname: "127.0.0.1", port }, () => process.stdout.write("listening\n"));
await seller.resume();
