// Hires somebody to draw a chart, and pays into an escrow. If the chart verifies, the money is released. If not, it
// comes back.
//
//   npm run -s tallystick -- example buy-by-escrow
//
// Settings: see demoNode.ts; BUYER_PRIVATE_KEY (default a fresh wallet with 5 test USDC), BUYER_DIR.
import { memoryBudget } from "../budget/budget.ts";
import { createBuyer } from "../createBuyer.ts";
import { fileStore } from "../store/fileStore.ts";
import { agentWallet, chainClock, mintTestUsdc, node, openRelay } from "./demoNode.ts";
import { printHire } from "./printHire.ts";

const account = agentWallet("BUYER_PRIVATE_KEY");
const { sender, relay } = openRelay("buyer");
const buyer = createBuyer({
  account,
  baseUrl: node.url,
  network: node.network,
  budget: memoryBudget(1_000_000n), // 1 USDC
  // The only escrow that may hold this buyer's money. In production the relay is the provider's keeper: httpRelay({ url }).
  escrows: { [node.paymentMode]: { escrow: node.escrow, relay } },
  // Remembers what is paid for: after a crash, buyer.resume() verifies and releases.
  journal: fileStore(process.env.BUYER_DIR ?? `.tallystick/buyers/${account.address.toLowerCase()}`),
  client: sender.client, // the money is `released` only when the chain shows it
  chainNow: await chainClock(sender),
  devMode: true, // the sellers of the demo are on this machine
});
await buyer.resume();
await mintTestUsdc(sender, buyer.address, 5_000_000n);

const hire = await buyer.hire({
  capability: "chart.generate.from-data",
  params: {
    chart_type: "bar",
    width: 320,
    height: 200,
    data: [
      { x: "mon", y: 3 },
      { x: "tue", y: 7 },
      { x: "wed", y: 5 },
      { x: "thu", y: 9 },
    ],
  },
  maxPriceUsdc: "0.20",
  maxLatencyMs: 15_000,
  requireRecovery: true,
  idempotencyKey: "new", // each run is a hire of its own; without it the same call within an hour is the same hire
});
await printHire(hire);
