import { decodePaymentRequiredHeader } from "@x402/core/http";
import { expect } from "chai";
import { memoryBudget } from "tallystick-sdk/budget/budget";
import { HireFailedError, PaymentRefusedError } from "tallystick-sdk/errors";
import { type Fetch, requestService } from "tallystick-sdk/requestService";
import { MEAN, mean, NODE, PURSE } from "./support/market.ts";
import { between, isPaid, rejection } from "./support/tamper.ts";
import { useMarket } from "./support/useMarket.ts";

const ORDER = { capability: MEAN, params: { data: [1, 2, 6] }, maxPriceUsdc: "0.10", maxLatencyMs: 60_000 };
const LISTING = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 };
/** Nested deeper than JSON.stringify can handle. */
const DEEP = `${"[".repeat(20_000)}${"]".repeat(20_000)}`;
/** `String` throws for this value. */
const NO_TEXT = { toString: 1, valueOf: 1 };
/** Terms with three options. Each option has another changed field. */
const withFields = (honest: { [key: string]: unknown }, change: (value: unknown) => unknown): string => {
  const [option] = honest.accepts as [{ [field: string]: unknown }];
  const accepts = ["asset", "payTo", "amount"].map((field) => ({
    ...option,
    [field]: change(option[field]),
  }));
  return JSON.stringify({ ...honest, accepts });
};
const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("hostile JSON", () => {
  const { chain, market } = useMarket();
  const LIMIT = 1_000_000n;
  const scene = async () => {
    const seller = await market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
    const budget = memoryBudget(LIMIT);
    const buyer = await market.openBuyer({ budget });
    return { seller, buyer, budget };
  };

  it("in a result makes the hire fail with a code, and the error says where the money is", async () => {
    const { seller, buyer, budget } = await scene();
    between(market, seller, async (ask, input, init) => {
      const response = await ask(input, init);
      return isPaid(init) ? new Response(`{"result":${DEEP}}`, { status: 200 }) : response;
    });
    const error = await rejection(buyer.hire(ORDER));
    expect(error).to.be.instanceOf(HireFailedError).and.include({ code: "garbage_answer", money: "paid" });
    expect(error.message).to.contain("json_too_deep");
    expect(await budget.remaining()).to.equal(LIMIT - 50_000n);
  });

  const terms: [string, (honest: { [key: string]: unknown }) => string][] = [
    ["nested too deep", (honest) => JSON.stringify({ ...honest, x: 0 }).replace('"x":0', `"x":${DEEP}`)],
    ["with options that are no objects", (honest) => JSON.stringify({ ...honest, accepts: [null, 1, "a"] })],
    ["whose options are no list", (honest) => JSON.stringify({ ...honest, accepts: {} })],
    ["that are null", () => "null"],
    ["with a field that cannot become text", (honest) => withFields(honest, () => NO_TEXT)],
    ["with a list in place of a field", (honest) => withFields(honest, (value) => [value])],
    [
      "with a malformed resource",
      (honest) => JSON.stringify({ ...honest, resource: { url: NO_TEXT }, accepts: [] }),
    ],
    ["with far too many options", () => JSON.stringify({ accepts: Array(5_000).fill({}) })],
  ];
  for (const [what, lie] of terms) {
    it(`in terms ${what} is not signed, and the error is one of the SDK's`, async () => {
      const { seller, buyer, budget } = await scene();
      between(market, seller, async (ask, input, init) => {
        const response = await ask(input, init);
        const honest = decodePaymentRequiredHeader(response.headers.get("PAYMENT-REQUIRED") ?? "");
        const header = base64(lie(honest as unknown as { [key: string]: unknown }));
        return new Response("{}", { status: 402, headers: { "PAYMENT-REQUIRED": header } });
      });
      const error = await rejection(buyer.hire(ORDER));
      const isOurs = error instanceof HireFailedError || error instanceof PaymentRefusedError;
      expect(isOurs, String(error)).to.equal(true);
      expect(await budget.remaining()).to.equal(LIMIT);
      expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE);
    });
  }

  it("does not include terms without a resource: the buyer pays them", async () => {
    const { seller, buyer } = await scene();
    between(market, seller, async (ask, input, init) => {
      const response = await ask(input, init);
      if (response.status !== 402) return response;
      const { resource: _, ...rest } = decodePaymentRequiredHeader(
        response.headers.get("PAYMENT-REQUIRED") ?? "",
      );
      const header = base64(JSON.stringify(rest));
      return new Response("{}", { status: 402, headers: { "PAYMENT-REQUIRED": header } });
    });
    expect(await buyer.hire(ORDER)).to.deep.include({ result: { result: 3 }, money: "paid" });
  });

  it("in a buyer's request, payment or countersignature gets a 4xx answer with a code", async () => {
    const { seller, buyer } = await scene();
    const post = async (path: string, body: string, headers = {}) => {
      const response = await seller.app.request(path, {
        method: "POST",
        body,
        headers: { "content-type": "application/json", ...headers },
      });
      const { code } = (await response.json()) as { code: string };
      return [response.status, code];
    };
    const asked = { protocol: "swarmwage/v0.1", buyer_id: buyer.address, capability: MEAN };
    const request = JSON.stringify({ ...asked, params: { data: [1] } });
    expect(await post("/hire", JSON.stringify({ ...asked, params: 0 }).replace(":0}", `:${DEEP}}`))).to.eql([
      400,
      "json_too_deep",
    ]);
    expect(await post("/hire", "{")).to.eql([400, "malformed_json"]);
    const payment = base64(`{"x402Version":2,"accepted":{},"payload":{"a":${DEEP.slice(18_000, -18_000)}}}`);
    expect(await post("/hire", request, { "PAYMENT-SIGNATURE": payment })).to.eql([402, "malformed_payment"]);
    const job = `/jobs/job_${"A".repeat(26)}/countersignature`;
    expect(await post(job, DEEP.slice(18_000, -18_000))).to.eql([400, "json_too_deep"]);
    expect(await post(job, `"${"a".repeat(100_000)}"`)).to.eql([413, "payload_too_large"]);
  });

  it("in a node's answer leads to an error with a code", async () => {
    const fetch: Fetch = async () => new Response(`{"code":"x","detail":${DEEP}}`, { status: 400 });
    const error = await rejection(requestService({ baseUrl: NODE, path: "/v1/x", fetch }));
    expect(error).to.include({ code: "http_error", status: 400 });
  });
});
