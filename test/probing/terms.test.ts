import { expect } from "chai";
import { checkInput } from "tallystick-capabilities/checkInput";
import { checkCustomInput, readCustomSchemas } from "tallystick-capabilities/customCapability";
import { taxonomy } from "tallystick-capabilities/taxonomy";
import { addressProblem, isPublicAddress } from "tallystick-protocol/net/publicAddress";
import { requiredHeaders } from "tallystick-sdk/x402/paymentHeaders";
import { lookUp } from "../../services/probing/net/lookUp.ts";
import { publicPolicy } from "../../services/probing/net/policy.ts";
import { exampleParams } from "../../services/probing/terms/exampleParams.ts";
import { hasTermsInHeaders, judgeAnswer } from "../../services/probing/terms/judgeAnswer.ts";
import { isOptedOut } from "../../services/probing/terms/robots.ts";
import { sampleOfSchema } from "../../services/probing/terms/sampleOfSchema.ts";
import { hostKeyOf, type Target } from "../../services/probing/terms/target.ts";

const AGENT = `0x${"a1".repeat(20)}` as const;
const PAYEE = `0x${"b2".repeat(20)}` as const;
const OTHER = `0x${"c3".repeat(20)}` as const;
const target: Target = {
  agent: AGENT,
  payee: null,
  capability: "compute.statistics.mean",
  paymentMode: "direct",
  endpoint: "https://seller.example",
  maxLatencyMs: 2_000,
};
const option = (changes: object = {}) => ({
  scheme: "exact",
  network: "eip155:8453",
  asset: OTHER,
  amount: "50000",
  payTo: AGENT,
  maxTimeoutSeconds: 60,
  extra: {},
  ...changes,
});
type Given = { status?: number; text?: string; isCut?: boolean; headers?: { [name: string]: string } };
const answer = ({ status = 402, text = "{}", isCut = false, headers = {} }: Given) => ({
  status,
  text,
  isCut,
  headers: {
    get: (name: string) =>
      Object.entries(headers).find(([key]) => key.toLowerCase() === name.toLowerCase())?.[1] ?? null,
  },
});
const terms = (...accepts: object[]) =>
  requiredHeaders({ x402Version: 2, resource: { url: "https://seller.example/hire" }, accepts } as never);

describe("the answer of an endpoint to a prober", () => {
  it("means up if it has well-formed terms, in the header or in the body of x402's first version", () => {
    expect(judgeAnswer(answer({ headers: terms(option()) }), target)).to.deep.equal({
      up: true,
      serves: true,
    });
    const v1 = {
      ...option(),
      network: "base",
      maxAmountRequired: "50000",
      resource: "https://seller.example/hire",
    };
    const text = JSON.stringify({ x402Version: 1, accepts: [v1] });
    expect(judgeAnswer(answer({ text }), target)).to.deep.equal({ up: true, serves: true });
    expect(judgeAnswer(answer({ text, isCut: true }), target)).to.deep.equal({ up: false, why: "no_terms" });
    expect(hasTermsInHeaders(answer({ headers: terms(option()) }))).to.equal(true);
    expect(hasTermsInHeaders(answer({ text }))).to.equal(false);
  });

  it("means up if it has a free result, but then does not show whether the agent is served", () => {
    const free = answer({ status: 200, text: '{"result": 2}' });
    expect(judgeAnswer(free, target)).to.deep.equal({ up: true, serves: false });
    expect(judgeAnswer(answer({ status: 200, text: '{"a": "', isCut: true }), target)).to.have.property(
      "up",
      true,
    );
    for (const text of ["<html>", "[]", "null", "2", ""])
      expect(judgeAnswer(answer({ status: 200, text }), target)).to.deep.equal({
        up: false,
        why: "no_terms",
      });
  });

  it("means down in all other cases", () => {
    const down = (given: Given) => judgeAnswer(answer(given), target);
    for (const status of [204, 400, 401, 404, 429, 500, 503])
      expect(down({ status, headers: terms(option()) })).to.deep.equal({ up: false, why: "status" });
    for (const status of [301, 302, 307, 308])
      expect(down({ status })).to.deep.equal({ up: false, why: "redirect" });
    for (const broken of [
      { payTo: "nobody" },
      { amount: "-1" },
      { amount: 50_000 },
      { amount: "0.05" },
      { asset: "USDC" },
      { scheme: 1 },
      { network: null },
    ])
      expect(down({ headers: terms(option(broken)) }), JSON.stringify(broken)).to.have.property(
        "why",
        "no_terms",
      );
    expect(down({ headers: terms() })).to.have.property("why", "no_terms");
    expect(down({ headers: { "PAYMENT-REQUIRED": "%%%" } })).to.have.property("why", "no_terms");
    expect(down({})).to.have.property("why", "no_terms");
  });

  it("shows that the agent is served if the terms pay the agent or its payee, or name the agent as seller of an escrow", () => {
    const serves = (changes: object, listing: Partial<Target> = {}) =>
      judgeAnswer(answer({ headers: terms(option(changes)) }), { ...target, ...listing });
    const yes = { up: true, serves: true };
    const no = { up: true, serves: false };
    expect(serves({ payTo: AGENT.toUpperCase().replace("0X", "0x") })).to.deep.equal(yes);
    expect(serves({ payTo: OTHER })).to.deep.equal(no);
    expect(serves({ payTo: PAYEE })).to.deep.equal(no);
    expect(serves({ payTo: PAYEE }, { payee: PAYEE })).to.deep.equal(yes);
    const escrow = { scheme: "hire-escrow", payTo: OTHER };
    expect(serves({ ...escrow, extra: { seller: AGENT } })).to.deep.equal(yes);
    expect(serves({ ...escrow, extra: { seller: PAYEE } }, { payee: PAYEE })).to.deep.equal(no);
    expect(serves({ ...escrow, payTo: AGENT })).to.deep.equal(no);
  });
});

describe("the params of a prober's request", () => {
  it("fit every standard capability", async () => {
    for (const { id, patterns, values } of taxonomy as readonly {
      id: string;
      patterns: readonly string[];
      values: { readonly [name: string]: readonly string[] };
    }[]) {
      for (const pattern of patterns) {
        const all = values as { [name: string]: readonly string[] };
        const capability = pattern.replaceAll(/\{(\w+)\}/g, (_, name) => all[name]?.at(-1) ?? "any");
        await checkInput(capability, exampleParams(capability));
      }
      expect(exampleParams(`custom.${id}`)).to.equal(undefined);
    }
  });

  it("are made from the published schema of a custom capability, if the schema is simple", () => {
    const fits = (input: object) => {
      const schemas = readCustomSchemas("custom.any", { input, output: {} });
      try {
        checkCustomInput(schemas, sampleOfSchema(input));
        return true;
      } catch {
        return false;
      }
    };
    const properties = {
      name: { type: "string", minLength: 12 },
      day: { type: "string", format: "date" },
      kind: { enum: ["a", "b"] },
      list: {
        type: "array",
        minItems: 2,
        items: { anyOf: [{ type: "integer", minimum: 7 }, { type: "null" }] },
      },
      deep: { type: "object", properties: { x: { const: 4 } }, required: ["x"] },
      left_out: { type: "string", pattern: "^x$" },
    };
    const required = ["name", "day", "kind", "list", "deep"];
    expect(fits({ type: "object", properties, required, additionalProperties: false })).to.equal(true);
    expect(fits({})).to.equal(true);
    expect(fits({ type: "object", properties, required: [...required, "left_out"] })).to.equal(false);
    // A stranger's schema may be endless. A sample of the schema has a limited size.
    const round: { [key: string]: unknown } = { type: "object", required: ["a"] };
    round.properties = { a: round };
    expect(JSON.stringify(sampleOfSchema(round)).length).to.be.below(200);
    expect(sampleOfSchema({ type: "array", minItems: 1e9, items: {} })).to.have.length(1_000);
    expect(sampleOfSchema({ type: "string", minLength: 1e9 })).to.have.length(1_000);
    // Nested lists, a long constant in nested lists, and nested objects. These schemas are small, and could need large
    // samples.
    const nested = (inner: object, outer: (it: object) => object) =>
      Array.from({ length: 6 }).reduce<object>(outer, inner);
    const names = Array.from({ length: 100 }, (_, n) => `p${n}`);
    for (const schema of [
      nested({ type: "string" }, (items) => ({ type: "array", minItems: 1e3, items })),
      nested({ const: "c".repeat(1e4) }, (items) => ({ type: "array", minItems: 1e3, items })),
      nested({}, (it) => ({ required: names, properties: Object.fromEntries(names.map((n) => [n, it])) })),
    ]) {
      expect(JSON.stringify(sampleOfSchema(schema)).length).to.be.below(65_536);
    }
  });
});

describe("a robots.txt", () => {
  it("opts out of looks if it names the prober and disallows the whole host", () => {
    for (const text of [
      "User-agent: tallystick-prober\nDisallow: /",
      "user-agent: Tallystick-Prober # us\r\nUser-agent: other\r\ndisallow: /*",
      "User-agent: *\nAllow: /\n\nUser-agent: x\nUser-agent: tallystick-prober\nDisallow: /\n",
    ])
      expect(isOptedOut(text), text).to.equal(true);
    for (const text of [
      "",
      "<html>",
      "User-agent: *\nDisallow: /",
      "User-agent: tallystick-prober\nDisallow:",
      "User-agent: tallystick-prober\nDisallow: /private",
      "User-agent: tallystick-prober\nAllow: /\nUser-agent: *\nDisallow: /",
      "User-agent: tallystick-prober-2\nDisallow: /",
      `${"x\n".repeat(5_000)}User-agent: tallystick-prober\nDisallow: /`,
    ])
      expect(isOptedOut(text), text.slice(0, 60)).to.equal(false);
  });

  it("is read in a moment, also if its lines are long and full of spaces", () => {
    // These lines cost 300 ms each when a regular expression read them. U+2028 is no end of a line for it.
    const text = `a:${" ".repeat(490)}#\u2028\n`.repeat(131);
    const before = performance.now();
    expect(isOptedOut(text)).to.equal(false);
    expect(performance.now() - before).to.be.below(5_000);
  });
});

describe("the address that a prober asks", () => {
  it("has the same host and port for every spelling of an endpoint", () => {
    expect(hostKeyOf("https://Seller.Example./a/b")).to.equal("seller.example:443");
    expect(hostKeyOf("https://seller.example:8443")).to.equal("seller.example:8443");
    expect(hostKeyOf("http://seller.example")).to.equal("seller.example:80");
    expect(hostKeyOf("https://[2001:DB8::1]/")).to.equal("[2001:db8::1]:443");
    for (const endpoint of ["", "seller.example", "https://-a-/", `https://${"a.".repeat(150)}example/`])
      expect(hostKeyOf(endpoint), endpoint).to.equal(undefined);
  });

  it("is never private, even if the name also has public addresses", async () => {
    expect(publicPolicy).to.deep.equal({ problemOf: addressProblem, isPublic: isPublicAddress });
    const to = (...addresses: string[]) => lookUp("seller.example", publicPolicy, async () => addresses);
    expect(await to("2606:4700::1", "93.184.215.14", "8.8.8.8")).to.deep.equal({
      addresses: ["8.8.8.8", "93.184.215.14"],
    });
    for (const address of [
      "127.0.0.1",
      "10.0.0.1",
      "169.254.169.254",
      "::1",
      "::ffff:127.0.0.1",
      "64:ff9b::7f00:1",
    ])
      expect(await to("8.8.8.8", address), address).to.deep.equal({ refused: "private_address" });
    expect(await to()).to.deep.equal({ refused: "no_address" });
    expect(await lookUp("127.0.0.1", publicPolicy, async () => ["8.8.8.8"])).to.deep.equal({
      refused: "private_address",
    });
    const failing = lookUp("seller.example", publicPolicy, async () => Promise.reject(new Error("SERVFAIL")));
    expect(await failing).to.deep.equal({ refused: "no_address" });
  });
});
