import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";
import type { RecordBody, RecordJson } from "tallystick-protocol/json/recordBody";
import {
  auditConsent,
  checkListing,
  checkPayeeSignature,
  isHttpsEndpoint,
  listingPayee,
  parseListing,
} from "tallystick-protocol/records/listing";
import { signBody, signRecord } from "tallystick-protocol/records/record";
import { privateKeyToAccount } from "viem/accounts";
import { readVectors } from "../../vectors/vectors.ts";

const seller = privateKeyToAccount(`0x${"11".repeat(32)}`);
const payee = privateKeyToAccount(`0x${"22".repeat(32)}`);
const body: RecordBody = {
  agent_id: seller.address.toLowerCase(),
  capability: "text.translate.en.it",
  price_usdc: "0.50",
  max_latency_ms: 8000,
  endpoint: "https://seller.example/hire",
};

describe("listings", () => {
  it("are accepted in the form in which existing Swarmwage SDKs sign them", () => {
    const { records } = readVectors<{ records: { body: RecordBody }[] }>("records.json");
    const listing = parseListing(records[0]!.body);
    expect(listing.first_call_free).to.equal(true);
    expect(listing.currency).to.equal("USDC");
  });

  it("are direct, paid, public and live by default", () => {
    const { payment_mode, first_call_free, private_metrics, clarification_supported, retired } =
      parseListing(body);
    expect([payment_mode, first_call_free, private_metrics, clarification_supported, retired]).to.deep.equal([
      "direct",
      false,
      false,
      false,
      false,
    ]);
  });

  it("may have unknown fields, which are not removed", () => {
    expect(parseListing({ ...body, future_field: { a: [1] } }).future_field).to.deep.equal({ a: [1] });
  });

  it("may have a price of up to twelve digits and six decimals", () => {
    const price_usdc = "999999999999.999999";
    expect(parseListing({ ...body, price_usdc }).price_usdc).to.equal(price_usdc);
  });

  const wrong: [string, RecordJson | undefined, string][] = [
    ["agent_id", undefined, "missing"],
    ["agent_id", seller.address, "with a checksum in capitals"],
    ["agent_id", "0x1234", "too short"],
    ["capability", "Text.translate", "in capitals"],
    ["capability", "translate", "of one segment"],
    ["capability", "text..en", "with an empty segment"],
    ["capability", "text.tr\u0430nslate", "with a Cyrillic letter"],
    ["capability", `text.${"a".repeat(124)}`, "of 129 characters"],
    ["price_usdc", 0.5 as RecordJson, "as a number"],
    ["price_usdc", "0.1234567", "with seven decimals"],
    ["price_usdc", "-1", "below zero"],
    ["price_usdc", ".5", "without a whole part"],
    ["price_usdc", "1e3", "with an exponent"],
    ["price_usdc", `1${"0".repeat(12)}`, "of 10^12 USDC"],
    ["price_usdc", "01", "with a leading zero"],
    ["max_latency_ms", 0, "zero"],
    ["max_latency_ms", "8000", "as text"],
    ["endpoint", `https://${"a".repeat(246)}.example`, "at a host of 254 characters"],
    ["endpoint", "https://\u6f22.example", "at a host of another script"],
    ["endpoint", "https://a\u3164b.example", "at a host that only some versions of Unicode allow"],
    ["endpoint", "https://a%2eb.example", "at a host with an escape"],
    ["endpoint", "https://127.1", "at a number that some read as an address"],
    ["payment_mode", "custom_escrow:https://escrow.example/\u6f22", "with a URL outside of ASCII"],
    [
      "payment_mode",
      "custom_escrow:https://escrow.example/\u007f",
      "with a URL that has a control character",
    ],
    ["endpoint", "ftp://seller.example", "with another scheme"],
    ["endpoint", "https://user:pass@seller.example", "with a password"],
    ["endpoint", "https://user@seller.example", "with a user"],
    ["endpoint", "https://:pass@seller.example", "with a password and no user"],
    ["endpoint", "https://seller.example/a b", "with a space in it"],
    ["endpoint", "https://seller.example/\n", "with a line break behind it"],
    ["endpoint", "https://seller.example\\hire", "with a backslash"],
    ["endpoint", "xhttps://seller.example", "with a scheme that only ends like https"],
    ["endpoint", "https:seller.example", "without slashes"],
    ["endpoint", "https://seller.example:99999", "with a port that does not exist"],
    ["endpoint", "https://", "without a host"],
    ["endpoint", " https://seller.example", "with a space before it"],
    ["endpoint", "seller.example/hire", "without a scheme"],
    ["endpoint", `https://seller.example/${"a".repeat(2048)}`, "too long"],
    ["payment_mode", "escrow", "unknown"],
    ["payment_mode", "platform_escrow:", "without a provider"],
    ["payment_mode", `platform_escrow:${"a".repeat(32)}`, "with a provider of 32 bytes"],
    ["first_call_free", "yes", "no boolean"],
    ["payee", "0x0", "no address"],
    ["payee_signature", "sig", "no hex"],
    ["payee_signature", "0x", "without bytes"],
    ["issued_at", -1, "negative"],
    ["retired", 1, "no boolean"],
  ];
  for (const [field, value, how] of wrong) {
    it(`are refused with ${field} ${how}`, () => {
      const changed = { ...body, [field]: value } as RecordBody;
      expect(() => parseListing(changed))
        .to.throw(InvalidInputError)
        .with.property("issues")
        .satisfies((issues: { field: string }[]) => issues.every((issue) => issue.field === `body.${field}`));
    });
  }

  it("accept every payment mode of the protocol", () => {
    for (const mode of ["direct", "platform_escrow:community-A", "custom_escrow:https://escrow.example/v1"]) {
      expect(parseListing({ ...body, payment_mode: mode }).payment_mode).to.equal(mode);
    }
  });

  it("may have a host of 253 characters, a name in the form of DNS, and a path in any script", () => {
    for (const endpoint of [
      `https://${"a".repeat(245)}.example`,
      "https://xn--p8s.example/\u6f22",
      // One platform's `URL` takes this name, another's does not.
      "https://xn--ab-7j70c.example",
      "https://xn--a.example",
    ])
      expect(parseListing({ ...body, endpoint }).endpoint).to.equal(endpoint);
  });

  it("agree to the audits of one operator, until they are retired", () => {
    const operator = payee.address.toLowerCase();
    const consent = (more: RecordBody) => auditConsent(parseListing({ ...body, ...more }));
    expect(consent({ audit: { operator } })).to.equal(operator);
    for (const more of [
      {},
      { audit: { operator }, retired: true },
      { audit: { operator: payee.address } },
      { audit: { operator, more: 1 } },
      { audit: {} },
      { audit: operator },
      { audit: null },
    ] as RecordBody[])
      expect(consent(more), JSON.stringify(more)).to.equal(null);
  });

  it("distinguish endpoints with and without TLS", () => {
    expect(isHttpsEndpoint({ ...parseListing(body), endpoint: "https" })).to.equal(false);
    expect(isHttpsEndpoint(parseListing(body))).to.equal(true);
    expect(isHttpsEndpoint(parseListing({ ...body, endpoint: "http://127.0.0.1:4000/" }))).to.equal(false);
  });

  it("are signed by the agent itself", async () => {
    expect(checkListing(await signRecord({ type: "listing", body, account: seller })).agent_id).to.equal(
      body.agent_id,
    );
    const foreign = await signRecord({ type: "listing", body, account: payee });
    expect(() => checkListing(foreign)).to.throw(InvalidInputError, /^signer: must be the agent itself/);
  });

  it("have another payee only with the payee's own signature over the body without this signature", async () => {
    const withPayee = { ...body, payee: payee.address.toLowerCase() };
    expect(checkPayeeSignature(body)).to.equal(true);
    expect(checkPayeeSignature({ ...body, payee: body.agent_id as Address })).to.equal(true);
    expect(checkPayeeSignature(withPayee)).to.equal(false);
    const signature = await signBody(withPayee, { account: payee });
    expect(checkPayeeSignature({ ...withPayee, payee_signature: signature })).to.equal(true);
    expect(checkPayeeSignature({ ...withPayee, price_usdc: "5", payee_signature: signature })).to.equal(
      false,
    );
    const own = await signBody(withPayee, { account: seller });
    expect(checkPayeeSignature({ ...withPayee, payee_signature: own })).to.equal(false);
    // Nobody made the signature, and there is no payee: this is not the same account.
    expect(checkPayeeSignature({ ...body, payee: null, payee_signature: "0x00" })).to.equal(false);
    expect(listingPayee(parseListing(withPayee))).to.equal(withPayee.payee);
    expect(listingPayee(parseListing(body))).to.equal(body.agent_id);
  });
});
