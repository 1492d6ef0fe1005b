import { ed25519 } from "@noble/curves/ed25519.js";
import { expect } from "chai";
import {
  formatSignedNote,
  formatVerifierKey,
  isNoteSignedBy,
  noteVerifierKey,
  parseSignedNote,
  parseVerifierKey,
  signNote,
} from "tallystick-protocol/note/signedNote";

/** The example of C2SP signed-note and of Go's sumdb/note package. */
const VKEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const NOTE =
  "If you think cryptography is the answer to your problem,\n" +
  "then you don't know what your problem is.\n" +
  "\n" +
  "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

describe("a signed note", () => {
  it("is accepted in C2SP's own example, with its key", () => {
    const key = parseVerifierKey(VKEY);
    expect(formatVerifierKey(key)).to.equal(VKEY);
    const note = parseSignedNote(NOTE);
    expect(isNoteSignedBy(note, key)).to.equal(true);
    expect(formatSignedNote(note)).to.equal(NOTE);
    expect(isNoteSignedBy({ ...note, text: note.text.replace("If", "Of") }, key)).to.equal(false);
  });

  it("is read also if it has signatures of others and of unknown types", () => {
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

  it("is not signed by bytes of another length, which are no error either", () => {
    const secretKey = new Uint8Array(32).fill(7);
    const text = "origin\n1\nAAAA\n";
    const mine = signNote(text, "me", secretKey);
    const key = noteVerifierKey("me", ed25519.getPublicKey(secretKey));
    const of = (signature: Uint8Array) => ({ text, signatures: [{ ...mine, signature }] });
    expect(isNoteSignedBy(of(mine.signature), key)).to.equal(true);
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

  for (const [what, note] of [
    ["no signatures", "text\n"],
    ["no newline at its end", NOTE.trimEnd()],
    ["a hyphen for the dash", NOTE.replace("— ", "- ")],
    ["bad base 64", NOTE.replace("x08go", "x08g!")],
    ["a tab", NOTE.replace("If you", "If\tyou")],
    ["four bytes for a signature", "text\n\n— a AAAAAA==\n"],
    ["a fourth word in a line of its signatures", "text\n\n— a AAAAAAA= b\n"],
    ["101 signatures", `text\n\n${"— a AAAAAAA=\n".repeat(101)}`],
  ]) {
    it(`is refused with ${what}`, () => {
      expect(() => parseSignedNote(note as string))
        .to.throw()
        .with.property("code", "invalid_input");
    });
  }
});
