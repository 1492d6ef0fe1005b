// A seller that does real work. It computes figures about numbers, for 0.02 USDC each, and draws charts, for 0.10 USDC
// each. A buyer's first chart is free. The median and the charts are also sold by escrow, for a little more.
//
//   npm run -s tallystick -- example seller
//
// Settings: see demoNode.ts; PORT (default 8787), SELLER_PRIVATE_KEY (default a fresh wallet), SELLER_DIR.
import { serve } from "@hono/node-server";
import { createSeller } from "../createSeller.ts";
import { escrowMode } from "../seller/escrowMode.ts";
import { fileStore } from "../store/fileStore.ts";
import { createLocalFacilitator } from "../x402/localFacilitator.ts";
import { agentWallet, chainClock, node, openRelay } from "./demoNode.ts";
import { type ChartParams, drawChart } from "./drawChart.ts";
import { statistic } from "./statistics.ts";

const port = Number(process.env.PORT ?? 8787);
const account = agentWallet("SELLER_PRIVATE_KEY");
const { sender, relay } = openRelay("seller");
const { network, paymentMode } = node;

const OPERATIONS = ["mean", "median", "stddev", "variance", "percentile-95"];
const CHART = "chart.generate.from-data";

const seller = await createSeller({
  account,
  endpoint: `http://127.0.0.1:${port}`,
  baseUrl: node.url,
  network,
  // In production: the URL of an x402 facilitator.
  facilitator: createLocalFacilitator({ sender, chainId: network.chainId }),
  client: sender.client,
  modes: {
    [paymentMode]: escrowMode({
      account,
      network,
      escrow: node.escrow,
      relay,
      client: sender.client,
      now: await chainClock(sender),
    }),
  },
  store: fileStore(process.env.SELLER_DIR ?? `.tallystick/sellers/${account.address.toLowerCase()}`),
  listings: [
    ...OPERATIONS.map((operation) => ({
      capability: `compute.statistics.${operation}`,
      price_usdc: "0.02",
      max_latency_ms: 3_000,
    })),
    {
      capability: "compute.statistics.median",
      price_usdc: "0.025",
      max_latency_ms: 3_000,
      payment_mode: paymentMode,
    },
    { capability: CHART, price_usdc: "0.10", max_latency_ms: 10_000, first_call_free: true },
    { capability: CHART, price_usdc: "0.12", max_latency_ms: 10_000, payment_mode: paymentMode },
  ],
  handlers: {
    ...Object.fromEntries(
      OPERATIONS.map((operation) => [
        `compute.statistics.${operation}`,
        (params: { [key: string]: unknown }) => ({ result: statistic(operation, params.data as number[]) }),
      ]),
    ),
    [CHART]: (params) => {
      const chart = params as ChartParams;
      const { width, height, chart_type } = chart;
      return { image_b64: drawChart(chart), width, height, chart_type };
    },
  },
  // The chain of the demo node is on this machine, and so are its buyers.
  devMode: true,
  log: (sentence, details) => console.error(sentence, details ?? ""),
});

const server = serve({ fetch: seller.app.fetch, hostname: "127.0.0.1", port });
await seller.resume();
await seller.publish();
console.log(`${seller.address} sells at http://127.0.0.1:${port}`);
for (const { body } of seller.listings) {
  console.log(`  ${body.capability}  ${body.price_usdc} USDC  ${body.payment_mode}`);
}

process.once("SIGINT", stop).once("SIGTERM", stop);
async function stop(): Promise<void> {
  server.close();
  await seller.close();
  process.exit(0);
}
