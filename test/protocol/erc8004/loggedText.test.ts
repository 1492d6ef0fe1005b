import { keccak_256 } from "@noble/hashes/sha3.js";
import { expect } from "chai";
import fc from "fast-check";
import { loggedBytes, loggedText } from "tallystick-protocol/erc8004/loggedText";
import { toHex } from "tallystick-protocol/hex";

const bytesOf = (text: string) => new TextEncoder().encode(text);
const hashOf = (raw: Uint8Array) => toHex(keccak_256(raw));

describe("a stranger's text in the event log", () => {
  it("is unchanged up to 256 bytes; a longer text becomes its beginning, length and hash", () => {
    expect(loggedText(bytesOf(""))).to.equal("");
    expect(loggedText(bytesOf("é".repeat(128)))).to.equal("é".repeat(128));
    const long = bytesOf("a".repeat(257));
    expect(loggedText(long)).to.deep.equal({ text: "a".repeat(256), bytes: 257, hash: hashOf(long) });
  });

  it("is never cut within a character", () => {
    for (const [letter, before] of [
      ["é", 255],
      ["字", 254],
      ["🜲", 253],
      ["🜲", 255],
    ] as const) {
      const raw = bytesOf("a".repeat(before) + letter + letter);
      expect(loggedText(raw), letter).to.deep.include({ text: "a".repeat(before), bytes: raw.length });
    }
  });

  it("is cut after 256 bytes if these bytes are no character", () => {
    for (const letters of [0, 252, 253]) {
      const raw = new Uint8Array(300).fill(0x80).fill(97, 0, letters);
      expect(loggedText(raw)).to.deep.include({ text: "a".repeat(letters) + "\ufffd".repeat(256 - letters) });
    }
  });

  it("has U+FFFD for each control character and each byte that is not UTF-8, and the hash of the original bytes", () => {
    for (const raw of [bytesOf("a\u0000b"), bytesOf("a\nb"), bytesOf("a\u009bb"), Uint8Array.of(97, 255, 98)])
      expect(loggedText(raw)).to.deep.equal({ text: "a\ufffdb", bytes: raw.length, hash: hashOf(raw) });
    expect(loggedText(bytesOf("\ufeffa"))).to.equal("\ufeffa");
    // A text that contains U+FFFD itself is unchanged.
    expect(loggedText(bytesOf("a\ufffdb"))).to.equal("a\ufffdb");
  });

  it("has a limited size for any input, and is a plain string only if it gives the same bytes again", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 600 }), (raw) => {
        const logged = loggedText(raw);
        const text = typeof logged === "string" ? logged : logged.text;
        expect(text.length).to.be.at.most(256);
        expect(text).not.to.match(/[\p{Cc}\p{Cs}]/u);
        if (typeof logged === "string") expect(bytesOf(logged)).to.deep.equal(raw);
        else expect(logged).to.deep.include({ bytes: raw.length, hash: hashOf(raw) });
      }),
      { numRuns: 200 },
    );
  });

  it("is hex if the stranger gave bytes", () => {
    expect(loggedBytes(Uint8Array.of(0, 1))).to.equal("0x0001");
    expect(loggedBytes(new Uint8Array(256))).to.equal(`0x${"00".repeat(256)}`);
    const long = new Uint8Array(257);
    expect(loggedBytes(long)).to.deep.equal({ bytes: 257, hash: hashOf(long) });
  });
});
