import type { HireResult } from "../buyer/hireResult.ts";
import { createQueryClient } from "../query/createQueryClient.ts";
import { node } from "./demoNode.ts";

/**
 * How long the indexer may take to count a hire, in milliseconds. It needs an anchor of the ledger and one more
 * block.
 */
const PATIENCE_MS = 60_000;

/** Prints the result of a hire and, once the indexer has counted it, the indexer's data about it. */
export async function printHire(hire: HireResult): Promise<void> {
  const { listing, verification } = hire;
  console.log(`seller        ${listing.agent_id}`);
  console.log(`result        ${JSON.stringify(hire.result).slice(0, 100)}`);
  console.log(
    `verification  ${verification.all_passed ? "passed" : "failed"}: ${Object.keys(verification.checks).join(", ")}`,
  );
  console.log(`price         ${hire.pricePaidUsdc} USDC, ${hire.paymentMode}; the money is ${hire.money}`);
  console.log(`payment       ${hire.tx}`);
  if (hire.settlementTx) console.log(`settlement    ${hire.settlementTx}`);
  console.log(`receipt       ${hire.receiptHash}`);
  console.log(`rating token  ${hire.ratingToken}`);
  console.log(`latency       ${hire.latencyMs} ms`);

  const query = createQueryClient({ baseUrl: node.url });
  for (const until = Date.now() + PATIENCE_MS; Date.now() < until; ) {
    const counted = await query.receipts(listing.agent_id).then(
      ({ receipts }) => receipts.find((receipt) => receipt.receipt_hash === hire.receiptHash),
      () => undefined,
    );
    if (counted && counted.status !== "pending") {
      console.log(`indexer       receipt ${counted.status}; hire ${JSON.stringify(counted.hire)}`);
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  console.log("indexer       has not counted it yet");
}
