import { expect } from "chai";
import { parseUsdc } from "tallystick-protocol/amount";
import { ratingToken } from "tallystick-protocol/records/ratingToken";
import { isSignedBy } from "tallystick-protocol/records/record";
import { memoryBudget } from "tallystick-sdk/budget/budget";
import { MEAN, mean, PURSE } from "./support/market.ts";
import { useMarket } from "./support/useMarket.ts";

const ORDER = { capability: MEAN, params: { data: [1, 2, 6] }, maxPriceUsdc: "0.10", maxLatencyMs: 60_000 };
const PRICE = parseUsdc("0.05");

describe("a hire in direct mode", () => {
  const { chain, market } = useMarket();

  const listing = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 };

  it("finds and pays a seller, verifies the result, and leaves a receipt, telemetry and a rating token", async () => {
    const seller = await market.openSeller({ listings: [listing], handlers: { [MEAN]: mean } });
    const buyer = await market.openBuyer({ budget: memoryBudget(1_000_000n) });
    const hire = await buyer.hire(ORDER);

    expect(hire.result).to.deep.equal({ result: 3 });
    expect(hire.verification.all_passed).to.equal(true);
    expect(hire).to.include({ money: "paid", amount: PRICE, pricePaidUsdc: "0.05" });
    expect(hire.receiptIssues).to.deep.equal([]);
    expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE - PRICE);
    expect(await chain.balanceOf(seller.wallet)).to.equal(PRICE);

    const payment = await chain.client.getTransactionReceipt({ hash: hire.tx ?? "0x" });
    expect(payment.status).to.equal("success");
    expect(hire.ratingToken).to.equal(ratingToken(hire.receiptHash ?? "", "buyer"));
    const entry = await market.ledger.get("/v1/ledger/entries?from=1&to=2");
    const { payload, current_hash } = JSON.parse(entry.text);
    expect(current_hash).to.equal(hire.receiptHash);
    expect(payload.body).to.include({ hire_id: hire.hireId, tx_hash: hire.tx, agent_id: seller.address });
    expect(isSignedBy(payload.body, payload.signature, seller.address)).to.equal(true);
    await buyer.idle();
    expect(await buyer.waitingReports()).to.equal(0);
    const telemetry = JSON.parse((await market.ledger.get("/v1/ledger/entries?from=2&to=3")).text);
    expect(telemetry.payload.body).to.deep.include({
      receipt: hire.receiptHash,
      verification: { all_passed: true, checks: hire.verification.checks },
    });

    await buyer.rate({ receiptHash: hire.receiptHash ?? "", ratingToken: hire.ratingToken ?? "", stars: 5 });
    expect((await market.ledger.get("/v1/ledger/latest")).json.size ?? 4).to.equal(4);
  });
});
