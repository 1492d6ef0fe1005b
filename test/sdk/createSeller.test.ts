import { decodePaymentRequiredHeader } from "@x402/core/http";
import { expect } from "chai";
import { parseUsdc } from "tallystick-protocol/amount";
import { type HireTerms, signHireRequest } from "tallystick-protocol/hire/hireRequest";
import { paramsHash } from "tallystick-protocol/hire/paramsHash";
import { ratingToken } from "tallystick-protocol/records/ratingToken";
import { checkBuyerSignature } from "tallystick-protocol/records/receipt";
import { signBody } from "tallystick-protocol/records/record";
import { type CreateSellerParameters, createSeller } from "tallystick-sdk/createSeller";
import type { SettlementMode } from "tallystick-sdk/seller/job";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { type Market, MEAN, mean, PURSE } from "./support/market.ts";
import { newWallet } from "./support/sdkChain.ts";
import { rejection, withBody } from "./support/tamper.ts";
import { useMarket } from "./support/useMarket.ts";

const LISTING = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 };
const ORDER = { capability: MEAN, params: { data: [1, 2, 6] }, maxPriceUsdc: "0.10", maxLatencyMs: 60_000 };
const PRICE = parseUsdc("0.05");

describe("a seller's app", () => {
  const { chain, market } = useMarket();

  const buyer = newWallet();
  const terms = (changes: Partial<HireTerms> = {}): HireTerms => ({
    protocol: "swarmwage/v0.3",
    buyer_id: buyer.address,
    capability: MEAN,
    params: { data: [1, 2.5] },
    max_price_usdc: "1.00",
    max_latency_ms: 60_000,
    nonce: `0x${"ab".repeat(32)}`,
    ...changes,
  });
  const signed = (changes: Partial<HireTerms> = {}) => signHireRequest(terms(changes), buyer);
  const open = () => market.openSeller({ listings: [LISTING], handlers: { [MEAN]: mean } });
  const post = async (app: { request: Market["hosts"][string]["request"] }, body: unknown) => {
    const response = await app.request("http://seller.test/hire", {
      method: "POST",
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });
    return { response, status: response.status, json: await response.json() };
  };

  it("answers 402 to an unpaid hire, with terms in the v2 header and the v1 body, and the hints of SHP §7.1", async () => {
    const { app, address } = await open();
    const { response, status, json } = await post(app, await signed());
    expect(status).to.equal(402);
    const required = decodePaymentRequiredHeader(response.headers.get("PAYMENT-REQUIRED") ?? "");
    expect(required.accepts).to.deep.equal([
      {
        scheme: "exact",
        network: "eip155:31337",
        asset: chain.token,
        amount: "50000",
        payTo: address,
        maxTimeoutSeconds: 90,
        extra: { name: "USD Coin", version: "2" },
      },
    ]);
    expect(json).to.include({ x402Version: 1 });
    expect(json.accepts[0]).to.include({ scheme: "exact", maxAmountRequired: "50000", payTo: address });
    expect(response.headers.get("X-402-Amount")).to.equal("50000");
    expect(response.headers.get("X-402-Address")).to.equal(address);
    expect(response.headers.get("X-402-Network")).to.equal("eip155:31337");
    expect(response.headers.get("X-402-Capability-Hash")).to.equal(paramsHash({ data: [1, 2.5] }));
  });

  it("says once at its start that it cannot show a lost payment, if it does not read the chain", async () => {
    const escrowed = { ...LISTING, payment_mode: "platform_escrow:test" };
    const mode = {} as SettlementMode;
    const started = async (more: Partial<CreateSellerParameters>) => {
      const said: string[] = [];
      const seller = await createSeller({
        ...{ account: newWallet().account, endpoint: "https://seller.example", baseUrl: "http://node.test" },
        ...{ network: chain.network, facilitator: chain.facilitator, store: memoryStore() },
        listings: [LISTING, { ...LISTING, price_usdc: "0.04", payment_mode: "platform_escrow:test" }],
        handlers: { [MEAN]: mean },
        modes: { "platform_escrow:test": mode },
        log: (sentence, details) => said.push(`${sentence} ${details?.effect} ${details?.hint}`),
        ...more,
      });
      await post(seller.app, await signed());
      await seller.close();
      return said.filter((sentence) => sentence.startsWith("This seller"));
    };
    expect(await started({})).to.deep.equal([
      "This seller does not look for payments on the chain: it believes its facilitator." +
        " It cannot show that a payment is lost. A job whose payment is uncertain stays open until it is put aside." +
        " Give createSeller `client`, a viem public client.",
    ]);
    expect(await started({ client: chain.client as never })).to.deep.equal([]);
    expect(await started({ findPayment: async () => undefined })).to.deep.equal([]);
    expect(await started({ listings: [escrowed] })).to.deep.equal([]);
  });

  it("uses the short names of networks that SHP §7.1 has", async () => {
    const seller = await createSeller({
      account: newWallet().account,
      endpoint: "https://seller.example",
      baseUrl: "http://node.test",
      network: { ...chain.network, chainId: 8453 },
      facilitator: chain.facilitator,
      store: memoryStore(),
      listings: [LISTING],
      handlers: { [MEAN]: mean },
    });
    const { response, json } = await post(seller.app, await signed());
    expect(response.headers.get("X-402-Network")).to.equal("base");
    expect(json.accepts[0].network).to.equal("base");
  });

  const refusals: [string, () => Promise<unknown> | unknown, number, string, string?][] = [
    ["no JSON", () => "{", 400, "malformed_json"],
    [
      "another major version",
      () => terms({ protocol: "swarmwage/v1.0" }),
      400,
      "unsupported_protocol",
      "protocol",
    ],
    ["a v0.3 hire without a signature", () => terms(), 400, "signature_required", "signature"],
    ["a v0.3 hire without a nonce", () => signed({ nonce: undefined }), 400, "signature_required", "nonce"],
    [
      "a signature over other params",
      async () => ({ ...(await signed()), params: { data: [1] } }),
      400,
      "invalid_signature",
      "signature",
    ],
    [
      "somebody else's signature",
      async () => ({ ...(await signed()), buyer_id: newWallet().address }),
      400,
      "invalid_signature",
      "signature",
    ],
    [
      "a request bound to another seller",
      () => signed({ seller_id: newWallet().address }),
      400,
      "invalid_input",
      "seller_id",
    ],
    ["an old request", () => signed({ issued_at: 1_700_000_000 }), 400, "stale_request", "issued_at"],
    [
      "a buyer with a wrong EIP-55 checksum",
      () => ({ ...terms(), buyer_id: "0x5aaeb6053F3E94C9b9A09f33669435E7Ef1BeAed" }),
      400,
      "invalid_input",
      "buyer_id",
    ],
    [
      "params that the capability does not take",
      () => signed({ params: { data: ["x"] } }),
      400,
      "invalid_params",
      "params.data.0",
    ],
    [
      "what is not offered",
      () => signed({ capability: "compute.statistics.median" }),
      404,
      "not_offered",
      "capability",
    ],
    [
      "a mode that is not offered",
      () => signed({ preferred_payment_mode: "platform_escrow:x" }),
      409,
      "payment_mode_not_offered",
      "preferred_payment_mode",
    ],
    [
      "a maximum below the price",
      () => signed({ max_price_usdc: "0.049999" }),
      409,
      "price_above_maximum",
      "max_price_usdc",
    ],
    [
      "a maximum below the latency",
      () => signed({ max_latency_ms: 29_999 }),
      409,
      "latency_above_maximum",
      "max_latency_ms",
    ],
    ["a quote that nobody gave", () => signed({ quote_token: "qt_1" }), 409, "unknown_quote", "quote_token"],
  ];
  it("refuses an impossible hire before it asks for money, and names the field", async () => {
    const { app } = await open();
    for (const [what, body, status, code, field] of refusals) {
      const answer = await post(app, await body());
      expect(answer.status, what).to.equal(status);
      expect(answer.json.code, what).to.equal(code);
      if (field) expect(answer.json.errors[0].field, what).to.equal(field);
    }
  });

  it("accepts hires of older versions without a signature", async () => {
    const { app } = await open();
    const { nonce: _, ...old } = terms({ protocol: "swarmwage/v0.1" });
    expect((await post(app, old)).status).to.equal(402);
  });

  it("publishes its listings and schemas, and refuses unknown jobs and paths", async () => {
    const { app, address } = await open();
    const get = async (path: string) => {
      const response = await app.request(path);
      return { status: response.status, json: await response.json() };
    };
    expect((await get("/listings")).json.listings[0].body).to.include({
      agent_id: address,
      capability: MEAN,
    });
    expect((await get(`/capabilities/${MEAN}/schema`)).json.input.required).to.deep.equal(["data"]);
    expect((await get("/capabilities/custom.unknown/schema")).status).to.equal(404);
    expect((await get("/jobs/job_00000000000000000000000000")).json.code).to.equal("unknown_job");
    expect((await get("/jobs/..%2F..%2Fetc")).status).to.equal(404);
    expect((await get("/nothing")).json.code).to.equal("not_found");
  });

  it("does not open with a listing that it cannot serve", async () => {
    const open = (listings: object[], handlers = {}) =>
      rejection(market.openSeller({ listings: listings as never, handlers }));
    expect(await open([LISTING])).to.include({ code: "no_handler" });
    expect(await open([{ ...LISTING, price_usdc: "1.0000001" }], { [MEAN]: mean })).to.include({
      field: "listings.0.price_usdc",
    });
    expect(await open([LISTING, LISTING], { [MEAN]: mean })).to.include({ field: "listings.1" });
    expect(await open([{ ...LISTING, payment_mode: "platform_escrow:x" }], { [MEAN]: mean })).to.include({
      code: "mode_not_configured",
    });
    const unknown = "weather.forecast";
    expect(await open([{ ...LISTING, capability: unknown }], { [unknown]: mean })).to.include({
      code: "unknown_capability",
      field: "listings.0.capability",
    });
    const old = { ...LISTING, verification_version: "v9" };
    expect(await open([old], { [MEAN]: mean })).to.include({ field: "listings.0.verification_version" });
    const custom = "custom.acme.forecast";
    expect(await open([{ ...LISTING, capability: custom }], { [custom]: mean })).to.include({
      code: "unknown_capability",
      field: "schemas",
    });
  });

  it("can retire a listing of a capability that it does not know, and refuses hires of this capability", async () => {
    const [unknown, before] = ["weather.forecast", market.ledger.ledger.size];
    const seller = await market.openSeller({
      listings: [LISTING, { ...LISTING, capability: unknown, retired: true }],
      handlers: { [MEAN]: mean },
    });
    expect(market.ledger.ledger.size).to.equal(before + 2);
    const { capabilities } = await (await seller.app.request("/capabilities")).json();
    expect(capabilities.map(({ capability }: { capability: string }) => capability)).to.deep.equal([MEAN]);
    const { status, json } = await post(seller.app, await signed({ capability: unknown, params: {} }));
    expect([status, json.code]).to.deep.equal([404, "not_offered"]);
  });

  it("serves custom capabilities with its published schemas", async () => {
    const capability = "custom.acme.reverse";
    const schema = (name: string) => ({
      type: "object",
      properties: { [name]: { type: "string" } },
      required: [name],
    });
    await market.openSeller({
      listings: [{ ...LISTING, capability }],
      handlers: { [capability]: ({ text }) => ({ reversed: [...String(text)].reverse().join("") }) },
      schemas: { [capability]: { input: schema("text"), output: schema("reversed") } },
    });
    const buyer = await market.openBuyer();
    const hire = await buyer.hire({ ...ORDER, capability, params: { text: "abc" } });
    expect(hire.result).to.deep.equal({ reversed: "cba" });
    const error = await rejection(buyer.hire({ ...ORDER, capability, params: { text: 3 } }));
    // The buyer checks its params against the seller's schema before it sends them.
    expect(error).to.include({ code: "invalid_params", field: "params.text" });
  });

  it("gets the buyer's signature for a payment to another payee, which names no agent", async () => {
    const payee = newWallet();
    await market.openSeller({ listings: [{ ...LISTING, payee: payee.address }], handlers: { [MEAN]: mean } });
    const buyer = await market.openBuyer();
    const hired = await buyer.hire(ORDER);
    expect(hired).to.include({ amount: PRICE, money: "paid", receiptHash: null });
    expect(hired.receiptIssues).to.deep.equal([]);
    await buyer.idle();
    const entry = JSON.parse((await market.ledger.get("/v1/ledger/entries?from=1&to=2")).text);
    expect(entry.payload.body).to.include({ amount_usdc_atomic: String(PRICE), payee: payee.address });
    expect(checkBuyerSignature(entry.payload.body)).to.equal(true);
    const found = await buyer.find(await buyer.keyOf(ORDER));
    expect(found?.hire).to.include({ hireId: hired.hireId, receiptHash: entry.current_hash });
    const telemetry = JSON.parse((await market.ledger.get("/v1/ledger/entries?from=2&to=3")).text);
    expect(telemetry.payload.body.receipt).to.equal(entry.current_hash);
  });

  it("answers at the path of its endpoint too, so that it needs no proxy that removes this path", async () => {
    const seller = await open();
    seller.app.get("/more", (c) => c.text("more"));
    market.hosts[seller.host] = { request: (input, init) => seller.app.request(input, init) };
    expect(new URL(seller.parameters.endpoint).pathname).to.equal("/v1");
    const buyer = await market.openBuyer();
    expect(await buyer.hire(ORDER)).to.include({ money: "paid" });
    for (const [path, status] of [
      ["/v1/listings", 200],
      ["/listings", 200],
      ["/v1/more", 200],
      ["/v1/v1/listings", 404],
      ["/v1", 404],
      ["/v10/listings", 404],
    ] as const)
      expect((await seller.app.request(`http://seller.test${path}`)).status, path).to.equal(status);
  });

  it("names another hire's entry for a receipt that the buyer signed: report and key get the entry of this hire", async () => {
    for (const more of [{ payee: newWallet().address }, { first_call_free: true }]) {
      const seller = await market.openSeller({
        ...{ listings: [{ ...LISTING, ...more }], handlers: { [MEAN]: mean } },
      });
      market.hosts[seller.host] = {
        request: async (input, init) => {
          const response = await seller.direct.request(input, init);
          if (!input.endsWith("/countersignature")) return response;
          return await withBody(response, (body) => ({ ...body, receipt_hash: "ab".repeat(32) }));
        },
      };
      const buyer = await market.openBuyer();
      const order = { ...ORDER, seller: seller.address };
      const { hireId } = await buyer.hire(order);
      await buyer.idle();
      const { text } = await market.ledger.get("/v1/ledger/entries");
      const entries = text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
      const receipts = entries.filter(({ payload }) => payload.body.hire_id === hireId);
      expect(receipts, JSON.stringify(more)).to.have.length(1);
      expect(checkBuyerSignature(receipts[0].payload.body)).to.equal(true);
      const hash = receipts[0].current_hash;
      const found = await buyer.find(await buyer.keyOf(order));
      expect(found?.hire).to.include({ hireId, receiptHash: hash });
      const told = entries.filter(({ payload }) => payload.body.receipt === hash);
      expect(told.map(({ payload }) => payload.type)).to.deep.equal("payee" in more ? ["telemetry"] : []);
      expect(await buyer.waitingReports()).to.equal(0);
    }
  });

  it("gets no signature for a result that the buyer finds bad, so that the buyer's report decides", async () => {
    const payee = newWallet();
    await market.openSeller({ listings: [{ ...LISTING, payee: payee.address }], handlers: { [MEAN]: mean } });
    const buyer = await market.openBuyer();
    const verify = () => ({ all_passed: false, checks: { mine: false }, details: {} });
    await buyer.hire({ ...ORDER, verify });
    await buyer.idle();
    const bodyOf = async (at: number) =>
      JSON.parse((await market.ledger.get(`/v1/ledger/entries?from=${at}&to=${at + 1}`)).text).payload.body;
    const receipt = await bodyOf(1);
    expect(receipt).to.include({ payee: payee.address }).and.not.have.property("buyer_signature");
    expect(receipt.verification.all_passed).to.equal(true);
    expect((await bodyOf(2)).verification.all_passed).to.equal(false);
  });

  it("puts the receipt of a payment to another payee into the ledger without the buyer's signature if none comes", async () => {
    const payee = newWallet();
    const seller = await market.openSeller({
      ...{ listings: [{ ...LISTING, payee: payee.address }], handlers: { [MEAN]: mean } },
      countersignMs: 0,
    });
    market.hosts[seller.host] = {
      request: async (input, init) =>
        input.endsWith("/countersignature")
          ? Response.json({ code: "no_countersignature_wanted" }, { status: 409 })
          : await seller.direct.request(input, init),
    };
    const buyer = await market.openBuyer();
    await buyer.hire(ORDER);
    await buyer.idle();
    while (market.ledger.ledger.size < 2) await new Promise((resolve) => setTimeout(resolve, 20));
    const entry = JSON.parse((await market.ledger.get("/v1/ledger/entries?from=1&to=2")).text);
    expect(entry.payload.body).to.include({ amount_usdc_atomic: String(PRICE), payee: payee.address });
    expect(entry.payload.body).to.not.have.property("buyer_signature");
  });

  describe("with first_call_free", () => {
    const free = { ...LISTING, first_call_free: true };

    it("gives each buyer one free call, also across a restart; the receipt has both signatures and no payment", async () => {
      const seller = await market.openSeller({ listings: [free], handlers: { [MEAN]: mean } });
      const buyer = await market.openBuyer();
      const first = await buyer.hire(ORDER);
      expect(first).to.include({ amount: 0n, pricePaidUsdc: "0.00", money: "none", tx: null });
      expect(first.receipt).to.include({ price_paid_usdc: "0.00" });
      // The receipt of a free call needs the buyer's signature. The buyer sends it only after it has the result.
      expect(first).to.include({ receiptHash: null, ratingToken: null });
      await buyer.idle();
      const entry = JSON.parse((await market.ledger.get("/v1/ledger/entries?from=1&to=2")).text);
      expect(entry.payload.body).to.include({ amount_usdc_atomic: "0", tx_hash: `0x${"0".repeat(64)}` });
      expect(checkBuyerSignature(entry.payload.body)).to.equal(true);
      const found = await buyer.find(await buyer.keyOf(ORDER));
      expect(found?.hire).to.include({ hireId: first.hireId, receiptHash: entry.current_hash });
      expect(found?.hire?.ratingToken).to.match(/^rtt_/);
      expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE);

      const again = await createSeller(seller.parameters);
      market.hosts[seller.host] = {
        request: (input, init) => again.app.request(input.replace("/v1", ""), init),
      };
      const second = await buyer.hire({ ...ORDER, idempotencyKey: "new" });
      expect(second).to.include({ amount: PRICE, money: "paid" });
      expect(await chain.balanceOf(buyer.wallet)).to.equal(PURSE - PRICE);
      await again.close();
    });

    it("gives a free call only for a request that names this seller and its time, because others may have any other", async () => {
      const seller = await market.openSeller({ listings: [free], handlers: { [MEAN]: mean } });
      const own = { seller_id: seller.address, issued_at: Math.floor(Date.now() / 1000) };
      let nonce = 0;
      for (const [changes, status] of [
        [{}, 402],
        [{ seller_id: own.seller_id }, 402],
        [{ issued_at: own.issued_at }, 402],
        [own, 200],
        [own, 402],
      ] as const) {
        const request = await signed({ ...changes, nonce: `0x${String(++nonce).repeat(64)}` });
        expect((await post(seller.app, request)).status, JSON.stringify(changes)).to.equal(status);
      }
    });

    it("gets no buyer's signature for a receipt that is a second signed document at the same time", async () => {
      const seller = await market.openSeller({ listings: [free], handlers: { [MEAN]: mean } });
      const asked: string[] = [];
      market.hosts[seller.host] = {
        request: async (input, init) => {
          asked.push(new URL(input).pathname);
          const response = await seller.direct.request(input, init);
          if (!input.endsWith("/hire")) return response;
          const answer = await response.json();
          // This receipt is also a request of the buyer to another seller.
          const { body } = answer.signed_receipt;
          const hire = { protocol: "swarmwage/v0.3", buyer_id: body.buyer, nonce: `0x${"cd".repeat(32)}` };
          const both = { ...body, ...hire, seller_id: newWallet().address };
          const signature = await signBody(both, seller.wallet);
          return Response.json({
            ...answer,
            signed_receipt: { ...answer.signed_receipt, body: both, signature },
          });
        },
      };
      const buyer = await market.openBuyer();
      const hired = await buyer.hire(ORDER);
      await buyer.idle();
      expect(hired.result).to.deep.equal({ result: 3 });
      expect(hired.receiptIssues).to.deep.equal(["protocol is no field of a receipt that its buyer signs"]);
      expect(asked.filter((path) => path.endsWith("/countersignature"))).to.deep.equal([]);
    });

    it("gets no buyer's signature for a receipt that names another result", async () => {
      const seller = await market.openSeller({ listings: [free], handlers: { [MEAN]: mean } });
      const asked: string[] = [];
      market.hosts[seller.host] = {
        request: async (input, init) => {
          asked.push(new URL(input).pathname);
          const response = await seller.direct.request(input, init);
          if (!input.endsWith("/hire")) return response;
          return await withBody(response, async (answer) => {
            const body = { ...answer.signed_receipt.body, result_hash: `0x${"12".repeat(32)}` };
            const signature = await signBody(body, seller.wallet);
            return { ...answer, signed_receipt: { ...answer.signed_receipt, body, signature } };
          });
        },
      };
      const buyer = await market.openBuyer();
      const hired = await buyer.hire(ORDER);
      await buyer.idle();
      expect(hired.receiptIssues.join()).to.contain("result_hash is ");
      expect(asked.filter((path) => path.endsWith("/countersignature"))).to.deep.equal([]);
      expect(await buyer.waitingReports()).to.equal(0);
    });

    it("gives the free call again if the work failed, gives none to earlier buyers, and limits the free calls of a day", async () => {
      let fail = true;
      const known = newWallet();
      await chain.mint(known, PURSE);
      await market.openSeller({
        listings: [free],
        handlers: {
          [MEAN]: (params) => {
            if (fail) throw new Error("not today");
            return mean(params);
          },
        },
        freeCallsPerDay: 2,
        hasHired: async (buyer) => buyer === known.address,
      });
      const buyer = await market.openBuyer();
      const failure = await rejection(buyer.hire(ORDER));
      expect(failure).to.include({ code: "seller_refused", money: "none" });
      expect(failure).to.have.nested.property("words.code", "handler_failed");
      fail = false;
      expect((await buyer.hire(ORDER)).amount).to.equal(0n);
      expect((await (await market.openBuyer({ account: known.account })).hire(ORDER)).amount).to.equal(PRICE);
      expect((await (await market.openBuyer()).hire(ORDER)).amount).to.equal(PRICE);
    });
  });

  describe("with a ledger that does not answer", () => {
    it("stores receipts on the disk and submits them later, even from the next process", async () => {
      const seller = await open();
      const buyer = await market.openBuyer();
      const node = market.hosts["node.test"]!;
      market.hosts["node.test"] = { request: () => new Response("gone", { status: 502 }) };
      const hire = await buyer.hire(ORDER);
      expect(hire).to.include({ money: "paid", receiptHash: null, ratingToken: null });
      expect(await seller.waitingReceipts()).to.equal(1);
      await seller.close();

      market.hosts["node.test"] = node;
      const again = await createSeller(seller.parameters);
      await again.resume();
      while ((await again.waitingReceipts()) > 0) await new Promise((resolve) => setTimeout(resolve, 10));
      const job = await (await again.app.request(`/jobs/${hire.jobId}`)).json();
      expect(job.rating_token).to.match(/^rtt_/);
      const entry = JSON.parse((await market.ledger.get("/v1/ledger/entries?from=1&to=2")).text);
      expect(entry.current_hash).to.equal(job.receipt_hash);
      await again.close();
    });

    it("names no receipt; the buyer finds the receipt by the hire's key when the ledger answers again", async () => {
      await open();
      for (const telemetry of [true, false]) {
        let ahead = 0;
        const buyer = await market.openBuyer({ now: () => Date.now() + ahead });
        const node = market.hosts["node.test"]!;
        market.hosts["node.test"] = { request: () => new Response("gone", { status: 502 }) };
        const order = { ...ORDER, telemetry, idempotencyKey: `order-${telemetry}` };
        expect((await buyer.hire(order)).receiptHash).to.equal(null);
        await buyer.idle();
        market.hosts["node.test"] = node;
        ahead = 60_000;
        const found = await buyer.find(order.idempotencyKey);
        const { text } = await market.ledger.get("/v1/ledger/entries");
        const entries = text
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line));
        const isReceipt = ({ payload }: (typeof entries)[0]) => payload.body.hire_id === found?.hire?.hireId;
        const hash = entries.find(isReceipt).current_hash;
        expect(found?.hire).to.include({ receiptHash: hash, ratingToken: ratingToken(hash, "buyer") });
        expect(await buyer.hire(order)).to.include({ receiptHash: hash, isRepeated: true });
        const told = entries.filter(({ payload }) => payload.body.receipt === hash);
        expect(told.map(({ payload }) => payload.type)).to.deep.equal(telemetry ? ["telemetry"] : []);
      }
    });

    it("sets aside a receipt that the ledger will never accept", async () => {
      const seller = await open();
      const buyer = await market.openBuyer();
      const node = market.hosts["node.test"]!;
      market.hosts["node.test"] = {
        request: (input, init) =>
          input.endsWith("/v1/receipts")
            ? Response.json({ code: "conflicting_record", detail: "no" }, { status: 409 })
            : node.request(input, init),
      };
      expect((await buyer.hire(ORDER)).receiptHash).to.equal(null);
      expect(await seller.waitingReceipts()).to.equal(0);
      expect(await seller.parameters.store.keys("refused")).to.have.length(1);
    });
  });
});
