import { expect } from "chai";
import { toHex } from "tallystick-protocol/hex";
import {
  type HeadSignature,
  headNoteSignature,
  headSignatureOf,
  MAX_CONTRACT_SIGNATURE_BYTES,
} from "tallystick-protocol/note/headSignature";
import { formatSignedNote, type NoteSignature, parseSignedNote } from "tallystick-protocol/note/signedNote";

const NAME = "tallystick.test/heads";
const WRITER = `0x${"aa".repeat(20)}` as const;
const OTHER = `0x${"bb".repeat(20)}` as const;
const ofLength = (length: number) => toHex(new Uint8Array(length).fill(7));

const noteWith = (...signatures: NoteSignature[]) =>
  parseSignedNote(formatSignedNote({ text: `${NAME}\n1\nAAAA\n`, signatures }));
const line = (word: HeadSignature, writer: typeof WRITER | typeof OTHER = WRITER) =>
  headNoteSignature(NAME, writer, word);
/** A line of a word whose bytes were exchanged for others. */
const withBytes = (word: HeadSignature, length: number) => ({
  ...line(word),
  signature: new Uint8Array(length),
});

describe("the writer's signature", () => {
  const key: HeadSignature = { by: "key", signature: ofLength(65) };
  const contract: HeadSignature = { by: "contract", signature: ofLength(321) };

  it("is read by its kind: 65 bytes of a key, or a contract's of any length up to the limit", () => {
    const longest: HeadSignature = { by: "contract", signature: ofLength(MAX_CONTRACT_SIGNATURE_BYTES) };
    for (const word of [key, contract, { ...contract, signature: ofLength(65) }, longest])
      expect(headSignatureOf(noteWith(line(word)), NAME, WRITER)).to.deep.equal(word);
  });

  it("is of this writer and this log only", () => {
    const note = noteWith(line(key, OTHER), line(contract, OTHER));
    expect(headSignatureOf(note, NAME, WRITER)).to.equal(undefined);
    expect(headSignatureOf(noteWith(line(key)), "tallystick.test/other", WRITER)).to.equal(undefined);
  });

  it("is not written with an impossible length", () => {
    for (const word of [
      { by: "key", signature: ofLength(64) },
      { by: "contract", signature: "0x" },
      { by: "contract", signature: ofLength(MAX_CONTRACT_SIGNATURE_BYTES + 1) },
    ] as const)
      expect(() => line(word))
        .to.throw()
        .with.property("code", "invalid_input");
  });

  for (const [what, lines] of [
    ["twice of one kind", [line(key), line(key)]],
    ["twice, the first of them wrong", [withBytes(key, 65), line(key)]],
    ["as a key's and as a contract's", [line(key), line(contract)]],
    ["in a length that no key's has", [withBytes(key, 66)]],
    ["longer than a contract is asked about", [withBytes(contract, MAX_CONTRACT_SIGNATURE_BYTES + 1)]],
  ] as const) {
    it(`is refused in this place: ${what}`, () => {
      expect(() => headSignatureOf(noteWith(...lines), NAME, WRITER))
        .to.throw()
        .with.property("code", "invalid_input");
    });
  }
});
