// Hires somebody to compute a mean and pays directly: one signature, no gas, no refund.
//
//   npm run -s tallystick -- example buy-direct
//
// Settings: see demoNode.ts; BUYER_PRIVATE_KEY (default a fresh wallet with 5 test USDC).
import { memoryBudget } from "../budget/budget.ts";
import { createBuyer } from "../createBuyer.ts";
import { agentWallet, chainClock, mintTestUsdc, node, openRelay } from "./demoNode.ts";
import { printHire } from "./printHire.ts";

const account = agentWallet("BUYER_PRIVATE_KEY");
const { sender } = openRelay("buyer");
const buyer = createBuyer({
  account,
  baseUrl: node.url,
  network: node.network,
  budget: memoryBudget(1_000_000n), // 1 USDC
  client: sender.client, // the hire is `paid` only when the chain shows the payment
  chainNow: await chainClock(sender),
  devMode: true, // the sellers of the demo are on this machine
});
await mintTestUsdc(sender, buyer.address, 5_000_000n);

const hire = await buyer.hire({
  capability: "compute.statistics.mean",
  params: { data: [3, 1, 4, 1, 5, 9, 2, 6] },
  maxPriceUsdc: "0.05",
  maxLatencyMs: 10_000,
  idempotencyKey: "new", // each run is a hire of its own; without it the same call within an hour is the same hire
});
await printHire(hire);
if (hire.ratingToken && hire.receiptHash) {
  const { receiptHash, ratingToken } = hire;
  await buyer.rate({ receiptHash, ratingToken, stars: hire.verification.all_passed ? 5 : 1 });
  console.log("rated");
}
await buyer.idle(); // waits until the report is in the ledger
