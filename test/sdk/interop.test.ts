import { x402Client } from "@x402/core/client";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { ExactEvmScheme as ExactEvmServer } from "@x402/evm/exact/server";
import { ExactEvmSchemeV1 } from "@x402/evm/v1";
import { decodePaymentResponseHeader, wrapFetchWithPayment } from "@x402/fetch";
import { paymentMiddleware, x402ResourceServer } from "@x402/hono";
import { expect } from "chai";
import { getBytes, id, Wallet } from "ethers";
import { Hono } from "hono";
import { parseUsdc } from "tallystick-protocol/amount";
import { signRecord } from "tallystick-protocol/records/record";
import { MEAN, mean, PURSE } from "./support/market.ts";
import { newWallet } from "./support/sdkChain.ts";
import { useMarket } from "./support/useMarket.ts";

const PRICE = parseUsdc("0.05");
const LISTING = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 };
const ORDER = { capability: MEAN, params: { data: [1, 2, 6] }, maxPriceUsdc: "0.10", maxLatencyMs: 60_000 };

describe("interoperability", () => {
  // The id of Base Sepolia, because x402 v1 knows chains only by name.
  const { chain, market } = useMarket({ chainId: 84_532 });

  /** The platform's fetch, as these packages call it, on the network of this process. */
  const platformFetch = async (input: RequestInfo | URL, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    const body = request.body ? await request.text() : null;
    return await market.fetch(request.url, {
      method: request.method,
      headers: request.headers,
      ...(body !== null && { body }),
    });
  };
  const oldHire = (buyer: string) => ({
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      protocol: "swarmwage/v0.2",
      buyer_id: buyer,
      capability: MEAN,
      params: { data: [1, 2, 6] },
      max_price_usdc: "1.00",
      max_latency_ms: 60_000,
      preferred_payment_mode: "direct",
      callback_url: null,
    }),
  });

  it("an unchanged @x402/fetch client buys from our seller", async () => {
    const seller = await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
    const wallet = newWallet();
    await chain.mint(wallet, PURSE);
    const client = new x402Client()
      .register("eip155:84532", new ExactEvmScheme(wallet.account))
      .setSpendControls({ allowedAssets: [{ network: "eip155:84532", asset: chain.token }] });
    const pay = wrapFetchWithPayment(platformFetch, client);
    const response = await pay(`http://${seller.host}/v1/hire`, oldHire(wallet.address));
    expect(response.status).to.equal(200);
    const answer = await response.json();
    expect(answer.result).to.deep.equal({ result: 3 });
    expect(answer.receipt).to.include({ buyer_id: wallet.address, price_paid_usdc: "0.05" });
    const settled = decodePaymentResponseHeader(response.headers.get("PAYMENT-RESPONSE") ?? "");
    expect(settled).to.include({ success: true, transaction: answer.receipt.tx_hash });
    expect(await chain.balanceOf(wallet)).to.equal(PURSE - PRICE);
    expect(await chain.balanceOf(seller.wallet)).to.equal(PRICE);
    expect(await seller.waitingReceipts()).to.equal(0);
  });

  it("an x402 v1 client, which reads the body and sends X-PAYMENT, buys from our seller", async () => {
    const seller = await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
    const wallet = newWallet();
    await chain.mint(wallet, PURSE);
    const client = new x402Client()
      .registerV1("base-sepolia", new ExactEvmSchemeV1(wallet.account))
      .setSpendControls(false);
    const sent: string[] = [];
    const v1Fetch: typeof platformFetch = async (input, init) => {
      const request = new Request(input, init);
      if (request.headers.has("X-PAYMENT")) sent.push("X-PAYMENT");
      if (request.headers.has("PAYMENT-SIGNATURE")) sent.push("PAYMENT-SIGNATURE");
      const response = await platformFetch(request);
      // A v1 client does not know this header.
      const headers = new Headers(response.headers);
      headers.delete("PAYMENT-REQUIRED");
      return new Response(response.body, { status: response.status, headers });
    };
    const response = await wrapFetchWithPayment(v1Fetch, client)(
      `http://${seller.host}/v1/hire`,
      oldHire(wallet.address),
    );
    expect(response.status).to.equal(200);
    expect((await response.json()).result).to.deep.equal({ result: 3 });
    expect(sent).to.deep.equal(["X-PAYMENT"]);
    expect(await chain.balanceOf(seller.wallet)).to.equal(PRICE);
    expect(await chain.balanceOf(wallet)).to.equal(PURSE - PRICE);
  });

  it("our buyer buys from a plain @x402/hono server, which has no hire protocol", async () => {
    const shop = newWallet();
    const price = { asset: chain.token, amount: "40000", extra: { name: "USD Coin", version: "2" } };
    const server = new x402ResourceServer(chain.facilitator).register("eip155:84532", new ExactEvmServer());
    const accepts = { scheme: "exact", payTo: shop.account.address, price, network: "eip155:84532" } as const;
    const app = new Hono();
    app.use(paymentMiddleware({ "POST /hire": { accepts, description: "mean" } }, server));
    app.post("/hire", async (c) => c.json(mean((await c.req.json()).params)));
    market.hosts["plain.test"] = { request: (input, init) => app.request(input, init) };
    const body = {
      ...LISTING,
      agent_id: shop.address,
      endpoint: "http://plain.test",
      payment_mode: "direct",
    };
    const signed = await signRecord({ type: "listing", body, account: shop.account });
    market.offers.push({ agent_id: shop.address, listing: body, signed, reputation: {} });
    const buyer = await market.openBuyer();
    const hire = await buyer.hire(ORDER);
    expect(hire.result).to.deep.equal({ result: 3 });
    expect(hire).to.include({ amount: 40_000n, money: "paid", receipt: null, receiptHash: null });
    expect(hire.verification.all_passed).to.equal(true);
    const payment = await chain.client.getTransactionReceipt({ hash: hire.tx ?? "0x" });
    expect(payment.status).to.equal("success");
    expect(await chain.balanceOf(shop)).to.equal(40_000n);
    expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE - 40_000n);
  });

  it("listings and receipts in the form of the reference SDK are accepted unchanged", async () => {
    // The form: keys sorted at every level, no spaces, keccak256, EIP-191 over the 32 bytes, and the signature among
    // the body's keys. This test makes it with another library than ours.
    const wallet = new Wallet(`0x${"77".repeat(32)}`);
    const sorted = (value: unknown): unknown =>
      value !== null && typeof value === "object" && !Array.isArray(value)
        ? Object.fromEntries(
            Object.entries(value)
              .sort(([a], [b]) => (a < b ? -1 : 1))
              .map(([key, it]) => [key, sorted(it)]),
          )
        : value;
    const signed = async (body: object) => ({
      ...body,
      signature: await wallet.signMessage(getBytes(id(JSON.stringify(sorted(body))))),
    });
    const agent = wallet.address.toLowerCase();
    const listing = await signed({
      agent_id: agent,
      capability: MEAN,
      price_usdc: "0.05",
      max_latency_ms: 60_000,
      endpoint: "https://reference.example/v1",
      payment_mode: "direct",
      first_call_free: false,
    });
    const receipt = await signed({
      agent_id: agent,
      buyer: newWallet().address,
      capability: MEAN,
      hire_id: "rcpt_01HRX",
      tx_hash: `0x${"fe".repeat(32)}`,
      amount_usdc_atomic: "50000",
      network: "base",
      completed_at: Math.floor(Date.now() / 1000),
      protocol_version: "swarmwage/v0.3",
      verification: { all_passed: true, checks: { schema: true } },
    });
    expect((await market.ledger.post("/v1/listings", listing)).status).to.equal(201);
    const settled = await market.ledger.post("/v1/receipts", receipt);
    expect(settled.status).to.equal(201);
    expect(settled.json.rating_tokens.buyer).to.match(/^rtt_/);
  });
});
