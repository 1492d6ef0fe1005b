import { expect } from "chai";
import type { CapabilityOutput } from "tallystick-capabilities/capabilityTypes";
import {
  type Market,
  MEAN,
  mean,
  type OpenBuyer,
  type OpenSeller,
  openMarket,
  PURSE,
} from "./support/market.ts";
import { type SdkChain, startSdkChain } from "./support/sdkChain.ts";

const SCAN = "custom.acme.scan";
const schemas = {
  [SCAN]: {
    input: { type: "object", properties: { page: { type: "integer", minimum: 1 } }, required: ["page"] },
    output: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  },
};

describe("a hire of a custom capability", () => {
  let chain: SdkChain;
  let market: Market;
  let seller: OpenSeller;
  let buyer: OpenBuyer;
  let scanned: unknown;
  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
    market = await openMarket(chain);
    seller = await market.openSeller({
      listings: [{ capability: SCAN, price_usdc: "0.05", max_latency_ms: 30_000 }],
      handlers: { [SCAN]: () => scanned },
      schemas,
    });
  });
  after(async () => {
    await market.close();
    await chain.close();
  });
  beforeEach(async () => {
    scanned = { text: "hello" };
    market.hosts[seller.host] = seller.direct;
    buyer = await market.openBuyer();
  });

  const order = {
    capability: SCAN,
    params: { page: 1 },
    maxPriceUsdc: "0.10",
    maxLatencyMs: 60_000,
    idempotencyKey: "new",
  };
  /** Lets the seller give this answer to requests for its schema. */
  const publishing = (status: number, schema: unknown): void => {
    market.hosts[seller.host] = {
      request: (input, init) =>
        input.endsWith("/schema") ? Response.json(schema, { status }) : seller.direct.request(input, init),
    };
  };

  it("is checked with the seller's schemas, before and after the payment", async () => {
    const good = await buyer.hire(order);
    expect(good.verification).to.deep.include({ all_passed: true, checks: { matches_schema: true } });

    const wrong = await buyer.hire({ ...order, params: { page: 0 } }).catch((error) => error);
    expect(wrong.code).to.equal("invalid_params");
    expect(wrong.field).to.equal("params.page");
    expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE - 50_000n);

    scanned = { pages: [] };
    // This seller finds the fault itself, and does not take the money.
    const bad = await buyer.hire(order).catch((error) => error);
    expect(bad).to.have.nested.property("words.code", "own_verification_failed");
    expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE - 50_000n);
  });

  it("is not paid if the seller publishes no usable schema", async () => {
    for (const [status, schema] of [
      [404, {}],
      [200, "text"],
      [200, { input: { $ref: "https://evil.example/" }, output: {} }],
      [200, { input: { type: "string", pattern: "^(a+)+$" }, output: {} }],
    ] as const) {
      publishing(status, schema);
      const error = await buyer.hire(order).catch((caught) => caught);
      expect(error, JSON.stringify(schema)).to.include({ code: "schema_unavailable", money: "none" });
    }
    expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE);
  });

  it("continues without a schema if the caller judges the result itself", async () => {
    publishing(404, {});
    const verify = () => ({ all_passed: true, checks: { mine: true }, details: {} });
    expect((await buyer.hire({ ...order, verify })).verification.checks).to.deep.equal({ mine: true });
  });

  it("goes to the next seller if the first seller's schema accepts no params", async () => {
    const output = schemas[SCAN].output;
    publishing(200, { input: { type: "object", required: ["nothing has this"] }, output });
    expect(await buyer.hire(order).catch((error) => error)).to.include({ code: "invalid_params" });
    const other = await market.openSeller({
      listings: [{ capability: SCAN, price_usdc: "0.06", max_latency_ms: 30_000 }],
      handlers: { [SCAN]: () => scanned },
      schemas,
    });
    expect((await buyer.hire(order)).listing.agent_id).to.equal(other.address);
    market.offers.pop();
  });

  it("goes to the next seller if the first seller publishes no schema", async () => {
    publishing(404, {});
    const other = await market.openSeller({
      listings: [{ capability: SCAN, price_usdc: "0.06", max_latency_ms: 30_000 }],
      handlers: { [SCAN]: () => scanned },
      schemas,
    });
    expect((await buyer.hire(order)).listing.agent_id).to.equal(other.address);
  });

  it("has params and results of any type; a standard capability has the types of its schemas", async () => {
    await market.openSeller({
      listings: [{ capability: MEAN, price_usdc: "0.02", max_latency_ms: 30_000 }],
      handlers: { [MEAN]: mean },
    });
    const limits = { maxPriceUsdc: "0.10", maxLatencyMs: 60_000 };
    const hired = await buyer.hire({
      capability: "compute.statistics.mean",
      params: { data: [1, 2] },
      ...limits,
    });
    const { result }: { result: CapabilityOutput<"compute.statistics.mean"> } = hired;
    expect(result.result).to.equal(1.5);
    // @ts-expect-error: numbers only
    const wrong = buyer.hire({ capability: "compute.statistics.mean", params: { data: ["1"] }, ...limits });
    expect((await wrong.catch((error) => error)).code).to.equal("invalid_params");
  });
});
