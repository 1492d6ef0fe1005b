import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { expect } from "chai";
import { toBase64 } from "tallystick-protocol/base64";
import { InvalidInputError } from "tallystick-protocol/errors";
import {
  formatSignedNote,
  formatVerifierKey,
  isNoteKeyName,
  isNoteSignedBy,
  noteKeyId,
  noteVerifierKey,
  parseSignedNote,
  parseVerifierKey,
  signNote,
} from "tallystick-protocol/note/signedNote";

/** The example in the C2SP specification of signed notes, and in Go's package sumdb/note. */
const VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const NOTE =
  "If you think cryptography is the answer to your problem,\n" +
  "then you don't know what your problem is.\n" +
  "\n" +
  "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

describe("a signed note", () => {
  it("is valid in C2SP's own example, with the example's key", () => {
    const key = parseVerifierKey(VKEY);
    expect(formatVerifierKey(key)).to.equal(VKEY);
    const note = parseSignedNote(NOTE);
    expect(isNoteSignedBy(note, key)).to.equal(true);
    expect(formatSignedNote(note)).to.equal(NOTE);
    expect(isNoteSignedBy({ ...note, text: note.text.replace("If", "Of") }, key)).to.equal(false);
  });

  it("is read also if it has signatures of other keys and of unknown types", () => {
    const secretKey = new Uint8Array(32).fill(7);
    const text = "origin\n1\nAAAA\n";
    const mine = signNote(text, "me", secretKey);
    const foreign = {
      name: "witness.example/w1",
      keyId: Uint8Array.of(1, 2, 3, 4),
      signature: new Uint8Array(72),
    };
    const note = parseSignedNote(formatSignedNote({ text, signatures: [foreign, mine] }));
    expect(note.signatures).to.have.length(2);
    const key = parseVerifierKey(VKEY);
    expect(isNoteSignedBy(note, { ...noteVerifierKey("me", key.publicKey), keyId: mine.keyId })).to.equal(
      false,
    );
    expect(isNoteSignedBy(note, key)).to.equal(false);
  });

  it("is not valid, without an error, if a signature has another length, name or key id", () => {
    const secretKey = new Uint8Array(32).fill(7);
    const text = "origin\n1\nAAAA\n";
    const mine = signNote(text, "me", secretKey);
    const key = noteVerifierKey("me", ed25519.getPublicKey(secretKey));
    const of = (signature: Uint8Array) => ({ text, signatures: [{ ...mine, signature }] });
    expect(isNoteSignedBy(of(mine.signature), key)).to.equal(true);
    const other = (change: object) => ({ text, signatures: [{ ...mine, ...change }] });
    expect(isNoteSignedBy(other({ name: "you" }), key)).to.equal(false);
    expect(isNoteSignedBy(other({ keyId: Uint8Array.of(1, 2, 3, 4) }), key)).to.equal(false);
    for (const length of [1, 63, 65, 128]) {
      const other = new Uint8Array(length);
      other.set(mine.signature.subarray(0, length));
      expect(isNoteSignedBy(of(other), key), String(length)).to.equal(false);
    }
  });

  it("may have a hundred signatures", () => {
    const lines = "— a AAAAAAA=\n".repeat(100);
    expect(parseSignedNote(`text\n\n${lines}`).signatures).to.have.length(100);
  });

  it("has its signatures after the last empty line, so its text may have empty lines too", () => {
    const note = parseSignedNote("one\n\ntwo\n\n— a AAAAAAA=\n");
    expect(note.text).to.equal("one\n\ntwo\n");
    expect(note.signatures).to.deep.equal([
      { name: "a", keyId: new Uint8Array(4), signature: new Uint8Array(1) },
    ]);
  });

  it("may have a million characters", () => {
    const longest = `${"x".repeat(1_000_000 - 15)}\n\n— a AAAAAAA=\n`;
    expect(longest).to.have.length(1_000_000);
    expect(parseSignedNote(longest).signatures).to.have.length(1);
    expect(() => parseSignedNote(`x${longest}`)).to.throw("note: must have at most 1000000 characters");
  });

  const NONE = "has a line among its signatures that is not a signature";
  for (const [what, note, words] of [
    ["no signatures", "text\n", "has no signatures behind an empty line"],
    ["an empty line at its end", "text\n\n", NONE],
    ["no newline at its end", NOTE.trimEnd(), "has no signatures behind an empty line"],
    ["a hyphen in place of the dash", NOTE.replace("— ", "- "), NONE],
    ["no base 64 after a name", "text\n\n— a\n", NONE],
    ["bad base 64", NOTE.replace("x08go", "x08g!"), "base 64"],
    ["a tab", NOTE.replace("If you", "If\tyou"), "has a control character"],
    ["half a character", NOTE.replace("If you", "If\ud800you"), "has a control character"],
    ["four bytes for a signature", "text\n\n— a AAAAAA==\n", "has a signature without bytes"],
    ["a fourth word in a line of its signatures", "text\n\n— a AAAAAAA= b\n", NONE],
    ["a plus sign in a name", "text\n\n— a+b AAAAAAA=\n", NONE],
    ["no name", "text\n\n—  AAAAAAA=\n", NONE],
    ["101 signatures", `text\n\n${"— a AAAAAAA=\n".repeat(101)}`, "must have at most 100 signatures"],
  ] as const) {
    it(`is refused with ${what}`, () => {
      expect(() => parseSignedNote(note, "checkpoint"))
        .to.throw(InvalidInputError, words)
        .with.property("field", "checkpoint");
    });
  }
});

describe("the verifier key of a note", () => {
  const { publicKey } = parseVerifierKey(VKEY);

  it("has a name without spaces, plus signs and control characters", () => {
    for (const name of ["a", "log.example/1", "Käufer"]) expect(isNoteKeyName(name), name).to.equal(true);
    for (const name of ["", " a", "a b", "a ", "a\u00a0b", "a+b", "a\u0000", "a\u009f"])
      expect(isNoteKeyName(name), JSON.stringify(name)).to.equal(false);
  });

  it("is refused when its hash, type, length or name is wrong", () => {
    /** A key text with the right hash, for any content. */
    const text = (name: string, key: Uint8Array) =>
      `${name}+${bytesToHex(noteKeyId(name, key))}+${toBase64(key)}`;
    const right = text("PeterNeumann", Uint8Array.of(1, ...publicKey));
    expect(right).to.equal(VKEY);
    for (const bad of [
      "",
      VKEY.replace("c74f20a3", "c74f20a4"),
      VKEY.replace("c74f20a3", "C74F20A3"),
      ` ${VKEY}`,
      `x+${VKEY}`,
      `${VKEY}\n`,
      text("PeterNeumann", Uint8Array.of(4, ...publicKey)),
      text("PeterNeumann", Uint8Array.of(1, ...publicKey, 0)),
      text("PeterNeumann", Uint8Array.of(1, ...publicKey.subarray(1))),
      text("Peter Neumann", Uint8Array.of(1, ...publicKey)),
    ])
      expect(() => parseVerifierKey(bad, "keys.0"), bad)
        .to.throw(InvalidInputError, "must be a verifier key, name+hash+base64, of an Ed25519 key")
        .with.property("field", "keys.0");
    expect(() => parseVerifierKey(VKEY.replace("ARpc", "AR!c"), "keys.0")).to.throw(/^keys\.0: .*base 64/);
    expect(() => parseVerifierKey("a")).to.throw(/^key: /);
  });
});
