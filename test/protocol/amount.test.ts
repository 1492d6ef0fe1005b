import { expect } from "chai";
import * as fc from "fast-check";
import { addressSchema, ZERO_ADDRESS } from "tallystick-protocol/address";
import { atomicSchema, formatUsdc, parseUsdc, priceUsdcSchema } from "tallystick-protocol/amount";
import { isCapability, isCustomCapability } from "tallystick-protocol/capability";
import { capabilitySchema } from "tallystick-protocol/capabilitySchema";
import { InvalidInputError } from "tallystick-protocol/errors";

describe("amounts of USDC", () => {
  it("are read exactly from decimals, as atomic units", () => {
    const cases: [string, bigint][] = [
      ["0.50", 500_000n],
      ["0", 0n],
      ["1", 1_000_000n],
      ["0.000001", 1n],
      ["123456789012345678901234567890.123456", 123456789012345678901234567890123456n],
    ];
    for (const [text, atomic] of cases) expect(parseUsdc(text)).to.equal(atomic);
  });

  it("are printed with at least two decimals and without needless zeros", () => {
    const cases: [bigint, string][] = [
      [500_000n, "0.50"],
      [0n, "0.00"],
      [1n, "0.000001"],
      [1_000_000n, "1.00"],
      [1_230_000n, "1.23"],
      [1_234_000n, "1.234"],
      [-500_000n, "-0.50"],
    ];
    for (const [atomic, text] of cases) expect(formatUsdc(atomic)).to.equal(text);
  });

  it("are the same after they are printed and read", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 128n }), (atomic) => {
        expect(parseUsdc(formatUsdc(atomic))).to.equal(atomic);
        expect(priceUsdcSchema.safeParse(formatUsdc(atomic)).success).to.equal(true);
      }),
    );
  });

  it("are refused with the field's name if they are not a plain decimal", () => {
    for (const text of ["", ".5", "1.", "1.0000000", "-1", "+1", "1e3", "01", "1,5", " 1", "0x1", "\u0661"]) {
      expect(() => parseUsdc(text, "max_price_usdc"))
        .to.throw(InvalidInputError)
        .with.property("field", "max_price_usdc");
      expect(priceUsdcSchema.safeParse(text).success, text).to.equal(false);
    }
    expect(() => parseUsdc("1e3")).to.throw(
      'price_usdc: must be a decimal amount of USDC with at most 6 decimals, like "0.50"',
    );
  });

  it("are also read as atomic units, in decimal strings below 2^256", () => {
    for (const good of ["0", "1", (2n ** 256n - 1n).toString()])
      expect(atomicSchema.safeParse(good).success).to.equal(true);
    for (const bad of ["", "00", "-1", "1.0", 1, (2n ** 256n).toString(), "9".repeat(79)]) {
      expect(atomicSchema.safeParse(bad).success, String(bad)).to.equal(false);
    }
  });
});

describe("capability ids (SHP §5.1)", () => {
  it("are dotted lower-case segments", () => {
    const good = [
      "image.generate.photorealistic.png",
      "audio.transcribe.it.json-with-timestamps",
      "a.b",
      "custom.acme_1.ocr",
      `a.${"b".repeat(126)}`,
    ];
    const bad = [
      "",
      "a",
      "ab",
      "abc",
      "a..b",
      ".a.b",
      "a.b.",
      "A.b",
      "a.b c",
      "a.-b",
      "a._b",
      "a.\u0456",
      "a.b\n",
      `a.${"b".repeat(127)}`,
    ];
    for (const id of good) expect(isCapability(id), id).to.equal(true);
    for (const id of bad) expect(isCapability(id), id).to.equal(false);
    for (const id of [...good, ...bad])
      expect(capabilitySchema.safeParse(id).success, id).to.equal(isCapability(id));
  });
});

describe("custom capabilities", () => {
  it("begin with custom. and follow the grammar of all capability ids", () => {
    for (const id of ["custom.a", "custom.acme.ocr"]) expect(isCustomCapability(id), id).to.equal(true);
    for (const id of ["custom", "custom.", "custom.A", "customs.a", "text.custom.", "text.custom.a"])
      expect(isCustomCapability(id), id).to.equal(false);
  });
});

describe("agent ids (SHP §4.1)", () => {
  it("are 0x and 40 lower-case hex digits", () => {
    expect(addressSchema.safeParse(ZERO_ADDRESS).success).to.equal(true);
    for (const bad of [
      ZERO_ADDRESS.slice(2),
      `${ZERO_ADDRESS}0`,
      ZERO_ADDRESS.replace("0x", "0X"),
      `0x${"A".repeat(40)}`,
      1,
    ]) {
      expect(addressSchema.safeParse(bad).success, String(bad)).to.equal(false);
    }
  });
});
