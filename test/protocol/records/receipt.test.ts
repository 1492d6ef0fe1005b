import { expect } from "chai";
import * as fc from "fast-check";
import { InvalidInputError } from "tallystick-protocol/errors";
import { ZERO_HASH } from "tallystick-protocol/hex";
import type { RecordBody, RecordJson } from "tallystick-protocol/json/recordBody";
import { isPlainReceipt } from "tallystick-protocol/records/plainReceipt";
import {
  checkBuyerSignature,
  checkReceipt,
  completedAtSeconds,
  isFreeReceipt,
  parseReceipt,
  receiptSchema,
} from "tallystick-protocol/records/receipt";
import { signRecord } from "tallystick-protocol/records/record";
import { privateKeyToAccount } from "viem/accounts";
import { readVectors } from "../../vectors/vectors.ts";

const seller = privateKeyToAccount(`0x${"11".repeat(32)}`);
const { records } = readVectors<{ records: { body: RecordBody }[] }>("records.json");
const body = records[1]!.body;
const countersigned = records[2]!.body;

const issuesOf = async (changed: RecordBody): Promise<string[]> => {
  try {
    checkReceipt(await signRecord({ type: "receipt", body: changed, account: seller }));
    return [];
  } catch (error) {
    return (error as InvalidInputError).issues.map(({ field }) => field);
  }
};

describe("receipts", () => {
  it("are accepted in the form in which existing Swarmwage SDKs sign them", () => {
    expect(parseReceipt(body).verification.checks).to.deep.equal({ non_empty: true, lang_is_it: true });
  });

  it("with a check twice in their list pass this check only if it passed both times", () => {
    const of = (...results: boolean[]) => {
      const checks = results.map((passed) => ({ name: "same", passed }));
      return parseReceipt({ ...body, verification: { all_passed: true, checks } }).verification.checks;
    };
    expect([of(true, true), of(true, false), of(false, true)]).to.deep.equal([
      { same: true },
      { same: false },
      { same: false },
    ]);
  });

  const wrong: [string, RecordJson | undefined, string][] = [
    ["agent_id", "0xABCDEF0000000000000000000000000000000000", "in capitals"],
    ["buyer", undefined, "missing"],
    ["capability", "translate", "of one segment"],
    ["hire_id", "", "empty"],
    ["hire_id", "a".repeat(129), "of 129 characters"],
    ["tx_hash", "0xfeed", "of two bytes"],
    ["log_index", -1, "negative"],
    ["amount_usdc_atomic", 500000, "as a number"],
    ["amount_usdc_atomic", "0.5", "with a point"],
    ["amount_usdc_atomic", "-1", "below zero"],
    ["amount_usdc_atomic", (2n ** 256n).toString(), "of 2^256"],
    ["network", "", "empty"],
    ["completed_at", "yesterday", "no time"],
    ["completed_at", "2026-02-31T00:00:00Z", "on a day that does not exist"],
    ["completed_at", "2026-01-31T12:00:00", "without a zone"],
    ["completed_at", "2026-01-31T24:00:00Z", "at an hour that does not exist"],
    ["completed_at", -1, "negative"],
    ["protocol_version", 3, "as a number"],
    ["verification", { all_passed: "yes", checks: {} }, "without a verdict"],
    ["verification", { all_passed: true, checks: { a: 1 } }, "with a check that is not a boolean"],
    ["verification", { all_passed: true }, "without checks"],
    [
      "verification",
      { all_passed: true, checks: [{ name: "a" }] },
      "with a check in a list without a result",
    ],
    ["verification", { all_passed: true, checks: ["a"] }, "with a list of names"],
    ["escrow_id", "0x01", "too short"],
    ["latency_ms", -5, "negative"],
    ["payee", "someone", "no address"],
    ["buyer_signature", 1, "no hex"],
  ];
  for (const [field, value, how] of wrong) {
    it(`are refused with ${field} ${how}`, () => {
      expect(() => parseReceipt({ ...body, [field]: value } as RecordBody))
        .to.throw(InvalidInputError)
        .with.property("issues")
        .satisfies((issues: { field: string }[]) =>
          issues.every((issue) => issue.field.startsWith(`body.${field}`)),
        );
    });
  }

  it("are called plain only if the schema returns them unchanged", () => {
    const texts = [
      "",
      "x",
      "a".repeat(64),
      "a".repeat(65),
      "a".repeat(128),
      "a".repeat(129),
      "\u{1f9fe}".repeat(40),
    ];
    const numbers = [0, 7, -1, -0, 1.5, 2 ** 53 - 1, 2 ** 53, null, true];
    const amounts = [
      "0",
      "00",
      "01",
      "-1",
      "500000",
      "1e3",
      (2n ** 256n - 1n).toString(),
      "9".repeat(77),
      "9".repeat(78),
    ];
    const hashes = [
      `0x${"ab".repeat(32)}`,
      `0x${"AB".repeat(32)}`,
      `0x${"ab".repeat(32)}\n`,
      `0x${"ab".repeat(20)}`,
      "0x",
      "0xabc",
    ];
    const words = [
      "direct",
      "platform_escrow:acme",
      "custom_escrow:https://a.example",
      "text.translate",
      "Text.translate",
      "text",
    ];
    const verifications = [
      {},
      { a: true },
      { a: 1 },
      [],
      [{ name: "a", passed: true }],
      null,
      JSON.parse('{"__proto__":true}'),
      undefined,
    ].flatMap((checks) => [
      { all_passed: true, ...(checks !== undefined && { checks }) },
      { all_passed: "yes", checks },
      { all_passed: false, checks, more: 1 },
      ...(checks === undefined ? [] : [checks]),
    ]);
    const times = ["2026-01-31T12:00:00Z", "2026-02-31T12:00:00Z"];
    const ids = [seller.address.toLowerCase(), seller.address];
    const single = [...texts, ...amounts, ...hashes, ...words, ...times, ...ids];
    const any = [...single, ...single.map((it) => [it]), ...numbers, ...verifications] as RecordJson[];
    const fields = [...Object.keys(receiptSchema.shape), "more", "__proto__"];
    for (const base of [body, countersigned])
      for (const field of fields)
        for (const value of any) {
          const changed = Object.fromEntries([...Object.entries(base), [field, value]]);
          if (!isPlainReceipt(changed)) continue;
          const read = receiptSchema.safeParse(changed);
          expect(read.success && read.data, `${field}: ${JSON.stringify(value)}`).to.deep.equal(changed);
        }
    const change = fc.tuple(fc.constantFrom(...fields), fc.constantFrom(undefined, ...any));
    let [plain, others] = [0, 0];
    fc.assert(
      fc.property(
        fc.constantFrom(body, countersigned),
        fc.array(change, { maxLength: 3 }),
        (base, changes) => {
          const entries = new Map(Object.entries(base));
          for (const [field, value] of changes)
            if (value === undefined) entries.delete(field);
            else entries.set(field, value);
          const changed = Object.fromEntries(entries);
          const read = receiptSchema.safeParse(changed);
          if (!isPlainReceipt(changed)) {
            others++;
            return;
          }
          plain++;
          expect(read.success && read.data).to.deep.equal(changed);
        },
      ),
      { numRuns: 1_500 },
    );
    expect(Math.min(plain, others)).to.be.greaterThan(50);
    expect([body, countersigned].map(isPlainReceipt)).to.deep.equal([true, true]);
  });

  it("are called plain with every known field, with the longest texts and with the highest and lowest numbers", () => {
    const hash = `0x${"ab".repeat(32)}`;
    const whole: RecordBody = {
      ...body,
      hire_id: "h".repeat(128),
      amount_usdc_atomic: "9".repeat(77),
      network: "n".repeat(64),
      protocol_version: "p".repeat(64),
      completed_at: 0,
      verification: { all_passed: false, checks: {} },
      log_index: 0,
      payment_mode: "direct",
      escrow_provider: "e".repeat(64),
      escrow_id: hash,
      latency_ms: 0,
      verification_version: "v".repeat(64),
      payee: seller.address.toLowerCase(),
      params_hash: hash,
      result_hash: hash,
      buyer_signature: "0x00",
    };
    expect(Object.keys(receiptSchema.shape).filter((field) => !Object.hasOwn(whole, field))).to.deep.equal(
      [],
    );
    expect(isPlainReceipt(whole)).to.equal(true);
    expect(parseReceipt(whole)).to.deep.equal(whole);
    for (const change of [
      { escrow_provider: null },
      { escrow_id: null },
      { completed_at: "2026-01-31T12:00:00Z" },
      { log_index: Number.MAX_SAFE_INTEGER },
      { amount_usdc_atomic: "0" },
      { verification: { all_passed: true, checks: { a: true, b: false } } },
    ] as RecordBody[])
      expect(isPlainReceipt({ ...whole, ...change }), JSON.stringify(change)).to.equal(true);
    // The schema decides about unknown fields.
    expect(isPlainReceipt({ ...whole, more: 1 })).to.equal(false);
    const verification = { all_passed: true, checks: {}, more: 1 };
    expect(isPlainReceipt({ ...whole, verification })).to.equal(false);
  });

  it("give their time in unix seconds, from a number or an ISO time", () => {
    const at = (completed_at: RecordJson) => completedAtSeconds(parseReceipt({ ...body, completed_at }));
    expect(at(1769860800)).to.equal(1769860800);
    expect(at("2026-01-31T12:00:00.000Z")).to.equal(1769860800);
    expect(at("2026-01-31T12:00:00.999Z")).to.equal(1769860800);
    expect(at("2026-01-31T13:30:00+01:30")).to.equal(1769860800);
    expect(at("2026-01-31T11:00:00-01:00")).to.equal(1769860800);
    expect(at("2026-01-31T12:00Z")).to.equal(1769860800);
    // A receipt that nobody read can have another text.
    expect(() => completedAtSeconds({ ...parseReceipt(body), completed_at: "later" }))
      .to.throw(InvalidInputError, "is not a time")
      .with.property("field", "body.completed_at");
  });

  it("give the right time for every ISO time that JavaScript writes", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4102444800 }), (seconds) => {
        const completed_at = new Date(seconds * 1000).toISOString();
        expect(completedAtSeconds(parseReceipt({ ...body, completed_at }))).to.equal(seconds);
      }),
    );
  });

  it("are signed by the seller", async () => {
    const foreign = privateKeyToAccount(`0x${"22".repeat(32)}`);
    const record = await signRecord({ type: "receipt", body, account: foreign });
    expect(() => checkReceipt(record)).to.throw(InvalidInputError, /^signer: /);
    expect(await issuesOf(body)).to.deep.equal([]);
  });

  it("are refused with each fault", async () => {
    const foreign = privateKeyToAccount(`0x${"22".repeat(32)}`);
    const own = { ...body, buyer: body.agent_id!, amount_usdc_atomic: "0" };
    const record = await signRecord({ type: "receipt", body: own, account: foreign });
    expect(() => checkReceipt(record))
      .to.throw(InvalidInputError)
      .with.property("issues")
      .that.deep.equals([
        { field: "signer", message: `must be the agent itself, ${body.agent_id}` },
        { field: "body.buyer", message: "must not be the seller: hiring oneself is not a hire" },
        { field: "body.tx_hash", message: "must be 32 zero bytes when amount_usdc_atomic is 0" },
      ]);
  });

  it("are refused for a hire with oneself", async () => {
    expect(await issuesOf({ ...body, buyer: body.agent_id! })).to.deep.equal(["body.buyer"]);
  });

  it("must have the zero transaction when they are free (SHP §11)", async () => {
    const free = { ...body, amount_usdc_atomic: "0" };
    expect(await issuesOf(free)).to.deep.equal(["body.tx_hash"]);
    expect(await issuesOf({ ...free, tx_hash: ZERO_HASH })).to.deep.equal([]);
    expect(isFreeReceipt(parseReceipt(free))).to.equal(true);
    expect(isFreeReceipt(parseReceipt(body))).to.equal(false);
  });

  it("are confirmed only by the buyer's signature over the same body without this signature", () => {
    expect(checkBuyerSignature(countersigned)).to.equal(true);
    expect(checkBuyerSignature(body)).to.equal(false);
    expect(checkBuyerSignature({ ...countersigned, hire_id: "another" })).to.equal(false);
    expect(checkBuyerSignature({ ...countersigned, buyer: body.agent_id! })).to.equal(false);
    // Nobody made the signature, and there is no buyer: this is not the same account.
    expect(checkBuyerSignature({ ...countersigned, buyer: null, buyer_signature: "0x00" })).to.equal(false);
  });
});
