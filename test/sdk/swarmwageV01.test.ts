import { expect } from "chai";
import { parseUsdc } from "tallystick-protocol/amount";
import { readBudgetToken } from "tallystick-protocol/hire/budgetToken";
import { hireId, jobId } from "tallystick-protocol/hire/hireIds";
import { keccak256, stringToBytes } from "viem";
import { z } from "zod";
import { MEAN, mean, type OpenSeller, PURSE } from "./support/market.ts";
import { newWallet, type Wallet } from "./support/sdkChain.ts";
import { useMarket } from "./support/useMarket.ts";

const PRICE = parseUsdc("0.05");
const LISTING = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 };

/** The form of a requirement that the published clients of x402 v1 accept. They throw at every other form. */
const requirementV1 = z.object({
  scheme: z.literal("exact"),
  network: z.enum(["base", "base-sepolia"]),
  maxAmountRequired: z.string().regex(/^\d+$/),
  resource: z.url(),
  description: z.string(),
  mimeType: z.string(),
  outputSchema: z.record(z.string(), z.unknown()).optional(),
  payTo: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  maxTimeoutSeconds: z.int(),
  asset: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  extra: z.record(z.string(), z.unknown()).optional(),
});

describe("Swarmwage's published v0.1 client", () => {
  // The id of Base Sepolia, because x402 v1 knows chains only by name.
  const { chain, market } = useMarket({ chainId: 84_532 });
  let seller: OpenSeller;
  let buyer: Wallet;
  beforeEach(async () => {
    seller = await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
    buyer = newWallet();
    await chain.mint(buyer, PURSE);
  });

  /** The body that the client's `hire()` sends. */
  const hireBody = (changes: object = {}) => ({
    protocol: "swarmwage/v0.1",
    buyer_id: buyer.address as string,
    capability: MEAN,
    params: { data: [1, 2, 6] },
    max_price_usdc: "0.10",
    max_latency_ms: 60_000,
    callback_url: null,
    nonce: crypto.randomUUID() as string,
    ...changes,
  });

  const send = (body: object, payment?: string) =>
    market.fetch(`http://${seller.host}/v1/hire`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json",
        "x-swarmwage-protocol": "swarmwage/v0.1",
        ...(payment && { "x-payment": payment, "access-control-expose-headers": "X-PAYMENT-RESPONSE" }),
      },
      body: JSON.stringify(body),
    });

  /**
   * Reads the challenge as x402 v1 does, and signs a payment only if the challenge names the seller as its receiver.
   */
  async function pay(challenge: Response): Promise<string> {
    expect(challenge.status).to.equal(402);
    const { x402Version, accepts } = (await challenge.json()) as { x402Version: number; accepts: unknown[] };
    const [terms] = accepts.map((given) => requirementV1.parse(given));
    if (!terms) throw new Error("nothing to accept");
    expect([x402Version, terms.network, terms.payTo.toLowerCase()]).to.deep.equal([
      1,
      "base-sepolia",
      seller.address,
    ]);
    const now = Math.floor(Date.now() / 1000);
    const authorization = {
      from: buyer.account.address,
      to: terms.payTo as `0x${string}`,
      value: terms.maxAmountRequired,
      validAfter: String(now - 600),
      validBefore: String(now + terms.maxTimeoutSeconds),
      nonce: keccak256(stringToBytes(crypto.randomUUID())),
    };
    const signature = await buyer.account.signTypedData({
      domain: {
        name: String(terms.extra?.name),
        version: String(terms.extra?.version),
        chainId: 84_532,
        verifyingContract: terms.asset as `0x${string}`,
      },
      types: {
        TransferWithAuthorization: [
          { name: "from", type: "address" },
          { name: "to", type: "address" },
          { name: "value", type: "uint256" },
          { name: "validAfter", type: "uint256" },
          { name: "validBefore", type: "uint256" },
          { name: "nonce", type: "bytes32" },
        ],
      },
      primaryType: "TransferWithAuthorization",
      message: {
        ...authorization,
        value: BigInt(authorization.value),
        validAfter: BigInt(authorization.validAfter),
        validBefore: BigInt(authorization.validBefore),
      },
    });
    const payment = {
      x402Version,
      scheme: "exact",
      network: terms.network,
      payload: { signature, authorization },
    };
    return btoa(JSON.stringify(payment));
  }

  it("hires and pays our seller, and gets the answer in its own version", async () => {
    const body = hireBody();
    const answered = await send(body, await pay(await send(body)));
    expect(answered.status).to.equal(200);
    const answer = await answered.json();
    expect(answer.protocol).to.equal("swarmwage/v0.1");
    expect(answer.result).to.deep.equal({ result: 3 });
    expect(answer.verification.all_passed).to.equal(true);
    expect(answer.verification.checks).to.be.an("array").that.is.not.empty;
    expect(answer.receipt).to.include({
      buyer_id: buyer.address,
      seller_id: seller.address,
      price_paid_usdc: "0.05",
    });
    expect(answer.receipt.completed_at).to.be.a("number");
    expect(answer.rating_token).to.match(/^rtt_/);
    const settled = JSON.parse(atob(answered.headers.get("X-PAYMENT-RESPONSE") ?? ""));
    expect(settled.transaction).to.equal(answer.receipt.tx_hash);
    expect((await chain.client.getTransactionReceipt({ hash: settled.transaction })).status).to.equal(
      "success",
    );
    expect(await chain.balanceOf(seller.wallet)).to.equal(PRICE);
    expect(await chain.balanceOf(buyer)).to.equal(PURSE - PRICE);
    expect(await seller.waitingReceipts()).to.equal(0);
    // The client's UUID gives the same ids as any other nonce: a hire id of 32 bytes, which receipt and escrow use, and
    // a job id.
    expect(answer.hire_id)
      .to.equal(hireId(buyer.address, body.nonce))
      .and.match(/^0x[0-9a-f]{64}$/);
    expect(answer.job_id).to.equal(jobId(buyer.address, body.nonce));

    const again = await send(body, await pay(await send(hireBody())));
    expect([again.status, (await again.json()).code]).to.deep.equal([409, "duplicate_nonce"]);
    expect(await chain.balanceOf(buyer)).to.equal(PURSE - PRICE);
  });

  it("gets the answer in v0.2 if it sends v0.2", async () => {
    const body = hireBody({ protocol: "swarmwage/v0.2" });
    const answered = await send(body, await pay(await send(body)));
    expect((await answered.json()).protocol).to.equal("swarmwage/v0.2");
  });

  it("is the same buyer if it writes its address with an EIP-55 checksum", async () => {
    const body = hireBody({ buyer_id: buyer.account.address, seller_id: seller.wallet.account.address });
    const answered = await send(body, await pay(await send(body)));
    expect(answered.status).to.equal(200);
    const answer = await answered.json();
    expect(answer.receipt.buyer_id).to.equal(buyer.address);
    expect(answer.job_id).to.equal(jobId(buyer.address, body.nonce));
    const lower = await send({ ...body, buyer_id: buyer.address });
    expect([lower.status, (await lower.json()).code]).to.deep.equal([409, "duplicate_nonce"]);

    // One of EIP-55's own examples, with one letter in the wrong case.
    const mistyped = "0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
    const refused = await send(hireBody({ buyer_id: mistyped }));
    expect(refused.status).to.equal(400);
    expect((await refused.json()).errors[0].field).to.equal("buyer_id");
  });

  it("may show a budget token that has the client's address with an EIP-55 checksum", async () => {
    const operator = newWallet();
    const terms = {
      agent_id: buyer.account.address as string,
      issued_at: Math.floor(Date.now() / 1000),
      max_amount_usdc: "1.00",
      max_duration_seconds: 3600,
    };
    const raw = keccak256(stringToBytes(JSON.stringify(terms)));
    const token = { ...terms, signature: await operator.account.signMessage({ message: { raw } }) };
    expect(readBudgetToken(token)).to.include({ operator: operator.address, agent: buyer.address });
    const body = hireBody({ budget_token: token });
    expect((await send(body, await pay(await send(body)))).status).to.equal(200);
    const other = await send(hireBody({ budget_token: { ...token, agent_id: newWallet().address } }));
    expect([other.status, (await other.json()).code]).to.deep.equal([403, "budget_token_refused"]);
  });

  it("gets an error for a nonce that others could guess, because the nonce gives access to the result", async () => {
    const guessable = [
      "order-1",
      "00000000-0000-0000-0000-000000000000",
      "c232ab00-9414-11ec-b3c8-9f6bdeced846", // version 1: the time
      "74738ff5-5367-5958-9aee-98fffdcd1876", // version 5: a name
      crypto.randomUUID().toUpperCase().replace(/^./, "A"),
      `${crypto.randomUUID()}0`,
      `{${crypto.randomUUID()}}`,
    ];
    for (const nonce of guessable) {
      const refused = await send(hireBody({ nonce }));
      expect(refused.status, nonce).to.equal(400);
      expect((await refused.json()).errors[0].field, nonce).to.equal("nonce");
    }
  });

  it("gets a hint how to sign if it sends an unsigned rating", async () => {
    const head = (await market.ledger.get("/v1/ledger/latest")).json;
    const rating = { rating_token: `rtt_${"0".repeat(26)}`, stars: 5, latency_ms: 900, comment: "quick" };
    const refused = await market.ledger.post("/v1/rate", rating);
    expect(refused.status).to.equal(400);
    expect(refused.json).to.include({ code: "unsigned_rating" });
    expect(refused.json.hint).to.match(/body = \{type: "rating", ledger, receipt, side, stars/);
    expect((await market.ledger.get("/v1/ledger/latest")).json).to.deep.equal(head);
  });

  it("publishes listings, and settles receipts that have an ISO time, a UUID as hire id, and a list or an object of checks", async () => {
    const agent = newWallet();
    const sorted = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(sorted);
      if (value === null || typeof value !== "object") return value;
      return Object.fromEntries(
        Object.entries(value)
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(([key, it]) => [key, sorted(it)]),
      );
    };
    const signed = async (body: object, over: object = body) => {
      const raw = keccak256(stringToBytes(JSON.stringify(sorted(over))));
      return { ...body, signature: await agent.account.signMessage({ message: { raw } }) };
    };
    const listing = await signed({
      agent_id: agent.address,
      capability: MEAN,
      price_usdc: "0.05",
      currency: "USDC",
      chain: "base",
      max_latency_ms: 60_000,
      first_call_free: false,
      endpoint: "https://agent.example/v1",
    });
    expect((await market.ledger.post("/v1/listings", listing)).status).to.equal(201);
    const receipt = (tx: string, checks: unknown) => ({
      protocol_version: "swarmwage/v0.1",
      hire_id: crypto.randomUUID(),
      agent_id: agent.address,
      buyer: buyer.address,
      capability: MEAN,
      amount_usdc_atomic: "50000",
      network: "base-sepolia",
      tx_hash: `0x${tx.repeat(32)}`,
      completed_at: new Date().toISOString(),
      verification: { all_passed: true, checks },
    });
    const list = [{ name: "schema", passed: true, detail: "as asked" }];
    for (const [tx, checks] of [
      ["a1", list],
      ["a2", { schema: true }],
      ["a3", []],
    ] as const) {
      const settled = await market.ledger.post("/v1/receipts", await signed(receipt(tx, checks)));
      expect(settled.status, JSON.stringify(settled.json)).to.equal(201);
      expect(settled.json.rating_tokens.buyer).to.match(/^rtt_/);
    }

    // All other values are refused, and so is a list that is too long.
    const endless = Array.from({ length: 257 }, () => ({ name: "n", passed: true }));
    for (const checks of [[{ name: "schema" }], ["schema"], [[]], endless, "schema", null]) {
      const refused = await market.ledger.post("/v1/receipts", await signed(receipt("a4", checks)));
      expect([refused.status, refused.json.code]).to.deep.equal([400, "invalid_input"]);
      expect(refused.json.errors[0].field).to.match(/^verification\.checks/);
    }

    // The client's first releases did not sign the inside of `verification`, so anybody could have changed it.
    const body = receipt("a5", list);
    const shallow = await market.ledger.post(
      "/v1/receipts",
      await signed(body, { ...body, verification: {} }),
    );
    expect(shallow.status).to.equal(400);
    expect(shallow.json.errors[0].field).to.equal("signature");
  });
});
