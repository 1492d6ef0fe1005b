import { expect } from "chai";
import * as fc from "fast-check";
import { offersOf, readClarifyAnswer } from "tallystick-protocol/clarification/clarifyAnswer";
import {
  CLARIFY_PROTOCOL,
  MAX_BRIEF_BYTES,
  readClarifyRequest,
  signClarifyRequest,
} from "tallystick-protocol/clarification/clarifyRequest";
import {
  checkQuote,
  isQuotedPrice,
  type QuoteTerms,
  type QuoteToken,
  quotePriceUsdc,
  readQuoteToken,
  signQuote,
} from "tallystick-protocol/clarification/quote";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import { paramsHash } from "tallystick-protocol/hire/paramsHash";
import { recoverBodySigner } from "tallystick-protocol/records/record";
import { privateKeyToAccount } from "viem/accounts";

const account = privateKeyToAccount(`0x${"11".repeat(32)}`);
const buyerAccount = privateKeyToAccount(`0x${"22".repeat(32)}`);
const seller = account.address.toLowerCase() as `0x${string}`;
const buyer = buyerAccount.address.toLowerCase() as `0x${string}`;
const NOW = 1_800_000_000;
const terms: QuoteTerms = {
  seller,
  buyer,
  capability: "custom.acme.research",
  params: { words: 500, ratio: 0.5, topics: ["EIP-3009"] },
  price: 3_000_000n,
  estimatedLatencyMs: 45_000,
  expiresAt: NOW + 600,
  round: `0x${"ab".repeat(8)}`,
};

function codeOf(run: () => unknown): string {
  try {
    run();
  } catch (error) {
    expect(error).to.be.instanceOf(TallystickError);
    return (error as TallystickError).code;
  }
  return "none";
}

describe("a quote", () => {
  it("is valid for the same params in any JSON spelling, until it expires", async () => {
    const token = await signQuote(terms, { account });
    const spelled = JSON.parse('{"topics":["EIP\\u002d3009"],"ratio":5e-1,"words":500.0}');
    const checked = checkQuote(token, { ...terms, params: spelled }, NOW + 599);
    expect("quote" in checked && checked.quote.price).to.equal(3_000_000n);
    expect(checkQuote(token, terms, NOW + 600)).to.deep.equal({ problem: "expired_quote" });
  });

  it("is for one buyer, one capability and one set of params", async () => {
    const token = await signQuote(terms, { account });
    for (const changes of [
      { params: { ...terms.params, words: 501 } },
      { params: { ...terms.params, extra: null } },
      { params: {} },
      { buyer: seller },
      { capability: "custom.acme.other" },
      { seller: buyer },
    ]) {
      expect(checkQuote(token, { ...terms, ...changes }, NOW)).to.deep.equal({ problem: "tampered_quote" });
    }
  });

  it("is refused after a change of any character, and so is any other text", async () => {
    const token = await signQuote(terms, { account });
    expect(token.length).to.be.at.most(256);
    const changed = fc
      .tuple(fc.nat(token.length - 1), fc.constantFrom(..."AZaz09-_"))
      .map(([at, sign]) => token.slice(0, at) + sign + token.slice(at + 1))
      .filter((text) => text !== token);
    fc.assert(
      fc.property(changed, (text) => "problem" in checkQuote(text, terms, NOW)),
      { numRuns: 60 },
    );
    // The signature's last byte is 27 or 28. The bytes 0 and 1 mean the same, but a quote with them is refused.
    for (const last of "ABab".replace(token.at(-1) ?? "", "")) {
      const text = token.slice(0, -1) + last;
      expect("problem" in checkQuote(text, terms, NOW), text).to.equal(true);
    }
    const others = ["", "qt_1", `qt_${"A".repeat(123)}`, token.toUpperCase()];
    for (const text of [...others, `x${token}`, `${token}A`, `${token}AAAA`, `${token}\n`]) {
      expect(checkQuote(text, terms, NOW), text).to.deep.equal({ problem: "unknown_quote" });
    }
  });

  it("has the seller's signature over its terms, like a record", async () => {
    const { signature } = readQuoteToken(await signQuote(terms, { account })) as QuoteToken;
    const signed = {
      type: "quote",
      seller,
      buyer,
      capability: terms.capability,
      params_hash: paramsHash(terms.params),
      price_usdc: "3.00",
      estimated_latency_ms: 45_000,
      expires_at: NOW + 600,
      round: terms.round,
    };
    expect(recoverBodySigner(signed, signature)).to.equal(seller);
  });

  it("has a price in USDC, which an answer may write in any spelling", async () => {
    const quote = readQuoteToken(await signQuote(terms, { account })) as QuoteToken;
    expect(quotePriceUsdc(quote)).to.equal("3.00");
    expect(["3", "3.0", "3.00", "3.000001", "2.99"].map((it) => isQuotedPrice(quote, it))).to.deep.equal([
      true,
      true,
      true,
      false,
      false,
    ]);
  });

  it("is not made for a round of another length", async () => {
    const error = await signQuote({ ...terms, round: "0xab" }, { account }).catch((thrown) => thrown);
    expect(error).to.be.instanceOf(InvalidInputError).with.property("field", "round");
  });

  it("is the same token, whether the seller's wallet writes v as 27 and 28 or as 0 and 1", async () => {
    for (const round of ["01", "02", "03", "04", "05", "06"]) {
      const asked = { ...terms, round: `0x${round.repeat(8)}` as const };
      const signMessage: typeof account.signMessage = async (message) => {
        const signature = await account.signMessage(message);
        return `0x${signature.slice(2, -2)}${signature.endsWith("1b") ? "00" : "01"}`;
      };
      const token = await signQuote(asked, { account: { ...account, signMessage } });
      expect(token).to.equal(await signQuote(asked, { account }));
      expect(checkQuote(token, asked, NOW)).to.have.property("quote");
    }
  });

  it("has exactly the signed figures after it is read", async () => {
    const figures = fc.record({
      price: fc.bigInt({ min: 0n, max: 2n ** 53n }),
      estimatedLatencyMs: fc.integer({ min: 1, max: 2 ** 40 }),
      expiresAt: fc.integer({ min: 0, max: 2 ** 40 }),
    });
    await fc.assert(
      fc.asyncProperty(figures, async (given) => {
        const read = readQuoteToken(await signQuote({ ...terms, ...given }, { account }));
        expect(read).to.include(given);
      }),
      { numRuns: 20 },
    );
  });
});

describe("a request for clarification", () => {
  const asked = {
    buyer_id: buyer,
    capability: "custom.acme.research",
    brief: "500 words on EIP-3009, for buyers.",
    nonce: `0x${"01".repeat(16)}`,
  };

  it("has a signature over all its fields", async () => {
    const request = await signClarifyRequest({ ...asked, params: { ratio: 0.5 } }, { account: buyerAccount });
    expect(readClarifyRequest(JSON.parse(JSON.stringify(request))).signed).to.equal(true);
    for (const changes of [
      { brief: "free work" },
      { params: {} },
      { nonce: `0x${"02".repeat(16)}` },
      { x: 1 },
    ]) {
      expect(codeOf(() => readClarifyRequest({ ...request, ...changes }))).to.equal("invalid_signature");
    }
    const { signature: _, ...unsigned } = request;
    expect(readClarifyRequest(unsigned).signed).to.equal(false);
  });

  it("has a brief of at most 2 KB, in bytes", () => {
    const protocol = CLARIFY_PROTOCOL;
    const fits = { ...asked, protocol, brief: "é".repeat(MAX_BRIEF_BYTES / 2) };
    expect(readClarifyRequest(fits).request.brief).to.have.length(MAX_BRIEF_BYTES / 2);
    expect(codeOf(() => readClarifyRequest({ ...fits, brief: `${fits.brief}x` }))).to.equal("invalid_input");
  });

  it("has version v0.4, and is only for custom capabilities", () => {
    expect(codeOf(() => readClarifyRequest({ ...asked, protocol: "swarmwage/v0.3" }))).to.equal(
      "unsupported_protocol",
    );
    const standard = { ...asked, protocol: CLARIFY_PROTOCOL, capability: "text.translate.en.it" };
    expect(codeOf(() => readClarifyRequest(standard))).to.equal("clarification_not_supported");
    for (const value of [null, [], "x", 1])
      expect(codeOf(() => readClarifyRequest(value))).to.equal("invalid_input");
  });

  it("is signed without undefined fields, and its params are empty if it has none", async () => {
    const request = await signClarifyRequest(
      { ...asked, max_price_usdc: undefined, max_latency_ms: 5 },
      { account: buyerAccount },
    );
    const { signature: _, ...rest } = request;
    expect(rest).to.deep.equal({ ...asked, protocol: CLARIFY_PROTOCOL, max_latency_ms: 5, params: {} });
    const { params: __, ...bare } = request;
    expect(readClarifyRequest(bare)).to.deep.equal({ request, signed: true });
    const other = await signClarifyRequest(asked, { account });
    expect(codeOf(() => readClarifyRequest(other))).to.equal("invalid_signature");
  });

  it("is refused with the wrong field and with advice", async () => {
    const refused = (change: object) => {
      try {
        readClarifyRequest({ ...asked, protocol: CLARIFY_PROTOCOL, ...change });
      } catch (error) {
        const { code, message, field, hint } = error as TallystickError;
        return { code, message, field, hint };
      }
      throw new Error("nothing was refused");
    };
    expect(refused({ protocol: "swarmwage/v0.3" })).to.deep.equal({
      code: "unsupported_protocol",
      message: "protocol: must be swarmwage/v0.4",
      field: "protocol",
      hint: "Clarification needs this version. Only hires use the earlier version.",
    });
    expect(refused({ capability: "text.translate.en.it" })).to.deep.equal({
      code: "clarification_not_supported",
      message: "text.translate.en.it is a standard capability: its schema says everything.",
      field: "capability",
      hint: "Hire it.",
    });
    expect(refused({ signature: `0x${"00".repeat(65)}` })).to.include({
      code: "invalid_signature",
      message: `signature: is not a signature of ${buyer} over this request`,
      field: "signature",
    });
    expect(refused({ nonce: "0x01" })).to.include({ code: "invalid_input", field: "nonce" });
    const unsigned = await signClarifyRequest({ ...asked, nonce: "0x01" }, { account: buyerAccount }).catch(
      (thrown) => thrown,
    );
    expect(unsigned).to.be.instanceOf(InvalidInputError).with.property("field", "nonce");
    const noText = await signClarifyRequest(
      { ...asked, brief: undefined as unknown as string },
      { account: buyerAccount },
    ).catch((thrown) => thrown);
    expect(noText).to.be.instanceOf(InvalidInputError).with.property("field", "brief");
  });
});

describe("an answer", () => {
  const about = { seller, buyer, capability: terms.capability, now: NOW };
  const offer = async (changes: object = {}) => ({
    quote_token: await signQuote(terms, { account }),
    price_usdc: "3.00",
    estimated_latency_ms: terms.estimatedLatencyMs,
    expires_at: terms.expiresAt,
    params: terms.params,
    ...changes,
  });

  it("has no offer if it declines", () => {
    const declined = { protocol: CLARIFY_PROTOCOL, outcome: "decline", reason: "Too busy." };
    const answer = readClarifyAnswer(declined, about);
    expect(answer).to.deep.equal(declined);
    expect(offersOf(answer)).to.deep.equal([]);
  });

  it("is refused with the wrong field, or with the fault of the offer's token", async () => {
    const refused = (value: unknown) => {
      try {
        readClarifyAnswer(value, about);
      } catch (error) {
        const { code, message, field, hint } = error as TallystickError;
        return { code, message, field, hint };
      }
      throw new Error("nothing was refused");
    };
    expect(refused({ protocol: CLARIFY_PROTOCOL, outcome: "decline" })).to.include({
      code: "invalid_input",
      field: "answer.reason",
    });
    const quote = await offer({ quote_token: "qt_1" });
    expect(refused({ protocol: CLARIFY_PROTOCOL, outcome: "quote", quote })).to.deep.equal({
      code: "bad_quote",
      message: "The quote is not a valid promise of this seller (unknown_quote).",
      field: undefined,
      hint: "Do not hire with this offer: the seller does not have to keep it.",
    });
  });

  it("may have one to three options", async () => {
    const counter = async (count: number) => ({
      protocol: CLARIFY_PROTOCOL,
      outcome: "counter",
      counter: { reason: "Too wide.", options: Array(count).fill(await offer()) },
    });
    const answer = readClarifyAnswer(await counter(3), about);
    expect(answer.outcome).to.equal("counter");
    expect(offersOf(answer)).to.have.length(3);
    for (const count of [0, 4]) {
      const value = await counter(count);
      expect(() => readClarifyAnswer(value, about)).to.throw(InvalidInputError);
    }
  });

  it("is refused when an offer differs from its quote token, or has expired", async () => {
    const quote = async (changes: object) => ({
      protocol: CLARIFY_PROTOCOL,
      outcome: "quote",
      quote: await offer(changes),
    });
    expect(readClarifyAnswer(await quote({}), about).outcome).to.equal("quote");
    for (const changes of [
      { price_usdc: "2.99" },
      { expires_at: NOW + 601 },
      { estimated_latency_ms: 1 },
      { params: {} },
      { quote_token: "qt_1" },
    ]) {
      const value = await quote(changes);
      expect(
        codeOf(() => readClarifyAnswer(value, about)),
        JSON.stringify(changes),
      ).to.equal("bad_quote");
    }
    const late = await quote({});
    expect(codeOf(() => readClarifyAnswer(late, { ...about, now: NOW + 600 }))).to.equal("bad_quote");
  });
});
