import { expect } from "chai";
import {
  paymentHeaders,
  readPayment,
  readRequired,
  readSettled,
  requiredBodyV1,
  requiredHeaders,
  settledHeaders,
} from "tallystick-sdk/x402/paymentHeaders";
import { shownReason } from "tallystick-sdk/x402/shownReason";

type Shape = { [key: string]: unknown };

const TOKEN = `0x${"70".repeat(20)}`;
const PAYEE = `0x${"9a".repeat(20)}`;
const NETWORK = { chainId: 8453, token: TOKEN, name: "USD Coin", version: "2" } as never;
const SEPOLIA = { chainId: 84_532, token: TOKEN, name: "USDC", version: "2" } as never;
const OTHER = { chainId: 31_337, token: TOKEN, name: "USDC", version: "2" } as never;
const exact = {
  ...{ scheme: "exact", network: "eip155:8453", asset: TOKEN, amount: "20000", payTo: PAYEE },
  ...{ maxTimeoutSeconds: 60, extra: { name: "USD Coin", version: "2" } },
};
const required = {
  ...{ x402Version: 2, error: "Pay.", resource: { url: "https://s.example/hire", description: "A mean." } },
  accepts: [exact, { ...exact, scheme: "tallystick-escrow" }],
};
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64");
const decode = (header: string | undefined) => JSON.parse(Buffer.from(header ?? "", "base64").toString());
const headersOf = (of: { [name: string]: string }) => new Headers(of);

describe("a seller's terms in x402", () => {
  const none = headersOf({});
  const v2 = (value: unknown) => readRequired(headersOf({ "PAYMENT-REQUIRED": encode(value) }), undefined);

  it("are read from the header as they were written, and never stored by a cache", () => {
    const headers = requiredHeaders(required as never);
    expect(headers["Cache-Control"]).to.equal("no-store");
    expect(decode(headers["PAYMENT-REQUIRED"])).to.deep.equal(required);
    expect(readRequired(headersOf(headers), { x402Version: 1, accepts: [] })).to.deep.equal({
      ...{ required, version: 2 },
    });
  });

  it("have only objects as options, and a text as address, whatever a stranger's header has", () => {
    expect(v2({ accepts: [exact, null, "x", [exact], 7] })?.required).to.deep.equal({
      ...{ accepts: [exact], resource: { url: "" } },
    });
    for (const resource of ["https://s.example", null, [1]])
      expect(v2({ accepts: [], resource })?.required.resource).to.deep.equal({ url: "" });
    expect(
      v2({ accepts: [], resource: { url: { toString: "x" }, mimeType: "m" } })?.required.resource,
    ).to.deep.equal({ url: "", mimeType: "m" });
    for (const wrong of [null, [], "x", {}, { accepts: {} }, { accepts: null }])
      expect(v2(wrong)).to.equal(undefined);
    for (const text of ["%", "e30", encode({ accepts: [] }).slice(0, -3)])
      expect(readRequired(headersOf({ "PAYMENT-REQUIRED": text }), undefined), text).to.equal(undefined);
  });

  it("are not read from a header that is too long, too deep or too large", () => {
    const text = (length: number) => {
      const empty = JSON.stringify({ accepts: [], x: "" }).length;
      return v2({ accepts: [], x: "x".repeat(length - empty) });
    };
    expect(text(65_536)?.version).to.equal(2);
    expect(text(65_537)).to.equal(undefined);
    const deep = (depth: number) => {
      let value: unknown = 1;
      for (let n = 1; n < depth; n++) value = [value];
      return v2({ accepts: [], x: value });
    };
    expect(deep(20)?.version).to.equal(2);
    expect(deep(40)).to.equal(undefined);
    const many = (count: number) => v2({ accepts: [], x: Array.from({ length: count }, () => 0) });
    expect(many(900)?.version).to.equal(2);
    expect(many(1_001)).to.equal(undefined);
  });

  it("are also a body for clients of version 1, with the options that they know", () => {
    const option = {
      ...{ scheme: "exact", network: "base", maxAmountRequired: "20000", resource: "https://s.example/hire" },
      ...{ description: "A mean.", mimeType: "application/json", payTo: PAYEE, maxTimeoutSeconds: 60 },
      ...{ asset: TOKEN, extra: exact.extra },
    };
    expect(requiredBodyV1(required as never, NETWORK)).to.deep.equal({
      ...{ x402Version: 1, error: "Pay.", accepts: [option] },
    });
    const plain = { ...required, error: undefined, resource: { url: "u" } };
    const { error, accepts } = requiredBodyV1(plain as never, SEPOLIA) as { error: string; accepts: Shape[] };
    expect([error, accepts[0]?.description, accepts[0]?.network]).to.deep.equal([
      ...["Payment required", "", "base-sepolia"],
    ]);
  });

  it("are read from such a body as those of version 2", () => {
    for (const [network, long] of [
      [NETWORK, "eip155:8453"],
      [SEPOLIA, "eip155:84532"],
    ] as const) {
      const found = readRequired(none, requiredBodyV1(required as never, network));
      expect(found).to.deep.equal({
        version: 1,
        required: {
          ...{ x402Version: 1, resource: { url: "https://s.example/hire" } },
          accepts: [{ ...exact, network: long }],
        },
      });
    }
    const strange = { x402Version: 1, accepts: [{ network: { toString: 1 }, extra: "x" }, null, 7] };
    expect(readRequired(none, strange)?.required).to.deep.include({
      resource: { url: "" },
      accepts: [
        {
          ...{ scheme: undefined, network: "", asset: undefined, amount: undefined, payTo: undefined },
          ...{ maxTimeoutSeconds: undefined, extra: {} },
        },
      ],
    });
    expect(readRequired(none, { x402Version: 1, accepts: [null] })?.required.resource).to.deep.equal({
      url: "",
    });
    expect(readRequired(none, { x402Version: 1, accepts: [] })?.required.resource).to.deep.equal({ url: "" });
    for (const wrong of [null, "x", [], { x402Version: 2, accepts: [] }, { x402Version: 1, accepts: {} }, {}])
      expect(readRequired(none, wrong)).to.equal(undefined);
  });
});

describe("a payment in x402", () => {
  const payment = { x402Version: 2, accepted: exact, payload: { signature: "0x12" } } as never;
  const terms = { ...exact, amount: "30000" } as never;
  const read = (headers: { [name: string]: string }, network = NETWORK) =>
    readPayment(headersOf(headers), terms, network);

  it("is read as it was written, by version 2", () => {
    const headers = paymentHeaders(payment, 2, NETWORK);
    expect(Object.keys(headers)).to.deep.equal(["PAYMENT-SIGNATURE"]);
    expect(read(headers)).to.deep.equal(payment);
    expect(read({ "X-PAYMENT": headers["PAYMENT-SIGNATURE"] as string })).to.deep.equal(payment);
  });

  it("is read with the seller's present terms, by version 1", () => {
    const headers = paymentHeaders(payment, 1, NETWORK);
    expect(decode(headers["X-PAYMENT"])).to.deep.equal({
      ...{ x402Version: 1, scheme: "exact", network: "base", payload: { signature: "0x12" } },
    });
    expect(Object.keys(headers)).to.deep.equal(["X-PAYMENT"]);
    expect(read(headers)).to.deep.equal({ x402Version: 2, accepted: terms, payload: { signature: "0x12" } });
    expect(read(headers, SEPOLIA)).to.equal("malformed");
    const local = paymentHeaders(payment, 1, OTHER);
    expect(read(local, OTHER)).to.have.property("x402Version", 2);
    expect(read(local)).to.equal("malformed");
  });

  it("is none without a header, and malformed in any other form", () => {
    expect(read({})).to.equal(undefined);
    expect(read({ "PAYMENT-SIGNATURE": "" })).to.equal(undefined);
    const v1 = { x402Version: 1, scheme: "exact", network: "base", payload: {} };
    expect(read({ "X-PAYMENT": encode(v1) })).to.have.property("x402Version", 2);
    for (const wrong of [
      ...[null, "x", [], {}, { ...v1, payload: [] }, { ...v1, payload: null }, { ...v1, x402Version: 3 }],
      ...[
        { ...v1, scheme: "upto" },
        { ...v1, network: undefined },
        { x402Version: 2, payload: {} },
      ],
      { x402Version: 2, payload: {}, accepted: [exact] },
    ])
      expect(read({ "PAYMENT-SIGNATURE": encode(wrong) }), JSON.stringify(wrong)).to.equal("malformed");
    expect(read({ "PAYMENT-SIGNATURE": "%" })).to.equal("malformed");
    // The header of version 2 counts, even if it is malformed.
    expect(read({ "PAYMENT-SIGNATURE": "%", "X-PAYMENT": encode(v1) })).to.equal("malformed");
  });
});

describe("the settlement of a payment in x402", () => {
  const settled = { success: true, transaction: "0x12", network: "eip155:8453", payer: "é" } as never;

  it("is in the headers of both versions", () => {
    const headers = settledHeaders(settled);
    expect(Object.keys(headers)).to.deep.equal(["PAYMENT-RESPONSE", "X-PAYMENT-RESPONSE"]);
    for (const [name, text] of Object.entries(headers))
      expect(readSettled(headersOf({ [name]: text })), name).to.deep.equal(settled);
    const both = { "PAYMENT-RESPONSE": encode({ a: 1 }), "X-PAYMENT-RESPONSE": encode({ a: 2 }) };
    expect(readSettled(headersOf(both))).to.deep.equal({ a: 1 });
  });

  it("is unknown if nothing readable is there", () => {
    expect(readSettled(headersOf({}))).to.equal(undefined);
    for (const wrong of [null, "x", [], 7])
      expect(readSettled(headersOf({ "PAYMENT-RESPONSE": encode(wrong) }))).to.equal(undefined);
    expect(readSettled(headersOf({ "PAYMENT-RESPONSE": "%" }))).to.equal(undefined);
  });

  it("shows a facilitator's reason only in the form of x402's reasons", () => {
    for (const reason of ["insufficient_funds", "a", `a${"b".repeat(79)}`, "a9_"])
      expect(shownReason(reason, "other")).to.equal(reason);
    for (const reason of [
      undefined,
      "",
      "A",
      "9a",
      "_a",
      "a b",
      "a-b",
      "a\n",
      `a${"b".repeat(80)}`,
      "https://k:y@x",
    ])
      expect(shownReason(reason, "other"), reason).to.equal("other");
  });
});
