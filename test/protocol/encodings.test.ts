import { createHash, hash } from "node:crypto";
import { expect } from "chai";
import * as fc from "fast-check";
import { base32 } from "tallystick-protocol/base32";
import { fromBase64, toBase64 } from "tallystick-protocol/base64";
import type { InvalidInputError } from "tallystick-protocol/errors";
import { bytesEqual, fromHex, isHex, toBareHex, toHex } from "tallystick-protocol/hex";
import { sha256By, sha256ByNoble } from "tallystick-protocol/sha256";

const issueOf = (read: () => unknown): object | undefined => {
  try {
    read();
  } catch (error) {
    return (error as InvalidInputError).issues[0];
  }
  return undefined;
};

describe("bytes as text", () => {
  it("are read from hex in upper and lower case, of a required length", () => {
    expect(toHex(fromHex("0xAbcD"))).to.equal("0xabcd");
    expect(toBareHex(fromHex("0x"))).to.equal("");
    expect([isHex("0xab", 1), isHex("0xab", 2), isHex("0xabc"), isHex("ab"), isHex(171)]).to.deep.equal([
      true,
      false,
      false,
      false,
      false,
    ]);
    for (const none of ["", "x0xab", "0xabg", "0Xab", "0xab\n", ["0xab"], null])
      expect(isHex(none), String(none)).to.equal(false);
    expect([isHex("0x"), isHex("0x", 0), isHex("0xAbcD", 2)]).to.deep.equal([true, true, true]);
    expect(issueOf(() => fromHex("0xa"))).to.deep.equal({
      field: "hex",
      message: "must be 0x and an even number of hex digits",
    });
    expect(issueOf(() => fromHex("0xab", 32, "root"))).to.deep.equal({
      field: "root",
      message: "must be 0x and 64 hex digits",
    });
  });

  it("are equal only if all bytes and the lengths are equal", () => {
    const bytes = (...all: number[]) => Uint8Array.from(all);
    expect(bytesEqual(bytes(), bytes())).to.equal(true);
    expect(bytesEqual(bytes(1, 2), bytes(1, 2))).to.equal(true);
    // Bytes are not equal to their own beginning.
    for (const [a, b] of [
      [bytes(1), bytes(1, 2)],
      [bytes(1, 2), bytes(1)],
      [bytes(1, 2), bytes(1, 3)],
      [bytes(0, 2), bytes(1, 2)],
      [bytes(), bytes(0)],
    ] as const)
      expect(bytesEqual(a, b), `${a} | ${b}`).to.equal(false);
  });

  it("are read from base 64 in only one spelling", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const text = toBase64(bytes);
        expect(text).to.equal(Buffer.from(bytes).toString("base64"));
        expect(fromBase64(text)).to.deep.equal(bytes);
      }),
    );
    for (const text of ["YQ", "YQ=", "YR==", "Y Q==", "_w==", "YQ==\n", "é"])
      expect(
        issueOf(() => fromBase64(text, "note")),
        text,
      ).to.deep.equal({
        field: "note",
        message: "must be base 64 with padding",
      });
    expect(issueOf(() => fromBase64("?"))).to.include({ field: "base64" });
  });

  it("are written in Crockford's base 32, with five bits for each character, from the first bit on", () => {
    const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, "0")).join("");
        const wanted = (bits.match(/.{1,5}/g) ?? []).map(
          (five) => alphabet[Number.parseInt(five.padEnd(5, "0"), 2)],
        );
        expect(base32(bytes)).to.equal(wanted.join(""));
      }),
      {
        examples: [
          [new Uint8Array()],
          [Uint8Array.of(255)],
          [new Uint8Array(5).fill(255)],
          [Uint8Array.of(0, 1)],
        ],
      },
    );
  });
});

describe("SHA-256", () => {
  it("has the same digest by a platform's function as in plain JavaScript, of bytes and of text", () => {
    const byNode = sha256By(hash);
    for (const data of ["", "a", "é🤝", "x".repeat(1_000), Uint8Array.of(), Uint8Array.of(0, 255)]) {
      const digest = Uint8Array.from(createHash("sha256").update(data).digest());
      expect(sha256ByNoble(data)).to.deep.equal(digest);
      expect(byNode(data)).to.deep.equal(digest);
    }
  });
});
