import { secp256k1 } from "@noble/curves/secp256k1.js";
import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { fromHex, type Hex, toHex } from "tallystick-protocol/hex";
import type { RecoverPublicKey } from "tallystick-protocol/signatures/recoverPublicKey";
import { recoverSigner } from "tallystick-protocol/signatures/recoverSigner";
import {
  messageHash,
  signerOfDigest,
  signerOfText,
  textDigest,
} from "tallystick-protocol/signatures/signedText";
import { addressOf, signHash } from "tallystick-protocol/signatures/signHash";

const privateKey = `0x${"11".repeat(32)}` as const;
const signer = addressOf(privateKey);
const hash = new Uint8Array(32).fill(7);
const signature = signHash(hash, privateKey);

const refusal = (read: () => unknown): InvalidInputError => {
  try {
    read();
  } catch (error) {
    expect(error).to.be.instanceOf(InvalidInputError);
    return error as InvalidInputError;
  }
  throw new Error("nothing was refused");
};

/** A signature with these halves: r is that of a real one. */
const withS = (s: bigint, v: number): Hex =>
  `${signature.slice(0, 66)}${s.toString(16).padStart(64, "0")}${v.toString(16).padStart(2, "0")}` as Hex;

describe("the signer of 32 bytes", () => {
  it("is the same for v as 27 or 28 and for v as 0 or 1", () => {
    const v = Number.parseInt(signature.slice(-2), 16);
    const short = `${signature.slice(0, -2)}0${v - 27}`;
    expect([signature, short].map((it) => recoverSigner(hash, it))).to.deep.equal([signer, signer]);
    expect(recoverSigner(hash, withS(1n, 27))).not.to.equal(recoverSigner(hash, withS(1n, 28)));
  });

  it("has an s in the lower half of the order; the middle belongs to it", () => {
    const { ORDER } = secp256k1.Point.Fn;
    const half = ORDER / 2n;
    expect(recoverSigner(hash, withS(half, 27))).to.match(/^0x[0-9a-f]{40}$/);
    for (const s of [half + 1n, ORDER - 1n]) {
      const error = refusal(() => recoverSigner(hash, withS(s, 27)));
      expect(error.code).to.equal("invalid_signature");
      expect(error.issues).to.deep.equal([
        {
          field: "signature",
          message: "is not a secp256k1 signature: s is in the upper half of the curve order",
        },
      ]);
      expect(error.cause).to.be.instanceOf(RangeError);
    }
    // Only a higher digit decides, whatever the lower digits are.
    expect(() => recoverSigner(hash, withS(half - 1n, 27))).not.to.throw();
    expect(() => recoverSigner(hash, withS(BigInt(`0x${"7e"}${"ff".repeat(31)}`), 27))).not.to.throw();
  });

  it("is refused with the name of the field and what is wrong", () => {
    for (const v of [2, 26, 29, 255])
      expect(refusal(() => recoverSigner(hash, withS(1n, v), "word")).issues, `${v}`).to.deep.equal([
        { field: "word", message: "must end in v = 27 or 28 (or 0 or 1)" },
      ]);
    expect(refusal(() => recoverSigner(hash, "0x00", "word")).field).to.equal("word");
    expect(refusal(() => recoverSigner(hash, "0x00")).field).to.equal("signature");
    for (const [thrown, reason] of [
      [new Error("no key"), "no key"],
      ["no text", "no text"],
    ] as const) {
      const broken: RecoverPublicKey = () => {
        throw thrown;
      };
      const error = refusal(() => recoverSigner(hash, signature, "word", broken));
      expect(error.issues).to.deep.equal([
        { field: "word", message: `is not a secp256k1 signature: ${reason}` },
      ]);
      expect(error.cause).to.equal(thrown);
    }
  });

  it("of a text signed its digest as a message; null if nobody signed it", () => {
    const digest = textDigest("a text é");
    const signed = signHash(messageHash(digest), privateKey);
    expect(signerOfText("a text é", signed)).to.equal(signer);
    expect(signerOfDigest(digest, signed)).to.equal(signer);
    expect(signerOfText("another text", signed)).not.to.equal(signer);
    expect(signerOfText("a text é", "0x00")).to.equal(null);
    expect(signerOfDigest(digest, `0x${"00".repeat(65)}`)).to.equal(null);
    expect(toHex(fromHex(signed)).length).to.equal(132);
    const broken: RecoverPublicKey = () => {
      throw new Error("no key");
    };
    expect(signerOfText("a text é", signed, broken)).to.equal(null);
  });
});
