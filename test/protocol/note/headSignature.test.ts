import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { InvalidInputError } from "tallystick-protocol/errors";
import { fromHex, toHex } from "tallystick-protocol/hex";
import { headTypedData } from "tallystick-protocol/ledger/anchor";
import {
  type HeadSignature,
  headNoteSignature,
  headSignatureOf,
  isHeadSignedBy,
  MAX_CONTRACT_SIGNATURE_BYTES,
} from "tallystick-protocol/note/headSignature";
import { formatSignedNote, type NoteSignature, parseSignedNote } from "tallystick-protocol/note/signedNote";
import { privateKeyToAccount } from "viem/accounts";

const NAME = "tallystick.test/heads";
const WRITER = `0x${"aa".repeat(20)}` as const;
const OTHER = `0x${"bb".repeat(20)}` as const;
const ofLength = (length: number) => toHex(new Uint8Array(length).fill(7));

const noteWith = (...signatures: NoteSignature[]) =>
  parseSignedNote(formatSignedNote({ text: `${NAME}\n1\nAAAA\n`, signatures }));
const line = (word: HeadSignature, writer: typeof WRITER | typeof OTHER = WRITER) =>
  headNoteSignature(NAME, writer, word);
/** The signature line of a word, with other signature bytes. */
const withBytes = (word: HeadSignature, length: number) => ({
  ...line(word),
  signature: new Uint8Array(length),
});

describe("the writer's signature", () => {
  const key: HeadSignature = { by: "key", signature: ofLength(65) };
  const contract: HeadSignature = { by: "contract", signature: ofLength(321) };

  it("is read as a key's signature of 65 bytes, or as a contract's signature of any length up to the limit", () => {
    const longest: HeadSignature = { by: "contract", signature: ofLength(MAX_CONTRACT_SIGNATURE_BYTES) };
    for (const word of [key, contract, { ...contract, signature: ofLength(65) }, longest])
      expect(headSignatureOf(noteWith(line(word)), NAME, WRITER)).to.deep.equal(word);
  });

  it("is not found for another writer or another log", () => {
    const note = noteWith(line(key, OTHER), line(contract, OTHER));
    expect(headSignatureOf(note, NAME, WRITER)).to.equal(undefined);
    expect(headSignatureOf(noteWith(line(key)), "tallystick.test/other", WRITER)).to.equal(undefined);
    const named = { ...line(key), name: "tallystick.test/other" };
    expect(headSignatureOf(noteWith(named), NAME, WRITER)).to.equal(undefined);
  });

  it("cannot be written with an impossible length", () => {
    for (const [word, words] of [
      [{ by: "key", signature: ofLength(64) }, "of 64 bytes; a key's signature has 65 bytes"],
      [{ by: "contract", signature: "0x" }, "of 0 bytes; a contract's signature has 1 to 40000 bytes"],
      [
        { by: "contract", signature: ofLength(MAX_CONTRACT_SIGNATURE_BYTES + 1) },
        "of 40001 bytes; a contract's signature has 1 to 40000 bytes",
      ],
    ] as const)
      expect(() => line(word)).to.throw(`signature: has a writer's signature ${words}`);
    expect(line({ by: "contract", signature: "0x07" }).signature).to.deep.equal(Uint8Array.of(7));
  });

  it("is not valid, without an error, if no key can have made it", () => {
    const head = { ledgerId: ofLength(32), size: 1n, root: ofLength(32) };
    const deployment = { chainId: 1, contract: OTHER };
    for (const signature of ["0x", ofLength(64), ofLength(65)] as const)
      expect(isHeadSignedBy(WRITER, head, deployment, signature), signature).to.equal(false);
  });

  it("is valid only in the spelling that the contract accepts as evidence, with v = 27 or 28", async () => {
    const account = privateKeyToAccount(ofLength(32));
    const writer = account.address.toLowerCase() as Address;
    const head = { ledgerId: ofLength(32), size: 1n, root: ofLength(32) };
    const deployment = { chainId: 1, contract: OTHER };
    const signature = await account.signTypedData(headTypedData(head, deployment));
    expect(isHeadSignedBy(writer, head, deployment, signature)).to.equal(true);
    const bytes = fromHex(signature);
    bytes[64] = (bytes[64] ?? 0) - 27;
    expect(isHeadSignedBy(writer, head, deployment, toHex(bytes))).to.equal(false);
  });

  const TWO = "has two signatures of one writer; one is enough";
  for (const [what, lines, words] of [
    ["if it is there twice", [line(key), line(key)], TWO],
    ["if it is there twice and the first is wrong", [withBytes(key, 65), line(key)], TWO],
    ["if it is there as a key's and as a contract's", [line(key), line(contract)], TWO],
    ["if a key's signature has 66 bytes", [withBytes(key, 66)], "a writer's signature of 66 bytes"],
    [
      "if a contract's signature is above the limit",
      [withBytes(contract, MAX_CONTRACT_SIGNATURE_BYTES + 1)],
      "a writer's signature of 40001 bytes",
    ],
  ] as const) {
    it(`is refused ${what}`, () => {
      expect(() => headSignatureOf(noteWith(...lines), NAME, WRITER))
        .to.throw(InvalidInputError, words)
        .with.property("field", "checkpoint");
      expect(() => headSignatureOf(noteWith(...lines), NAME, WRITER, "head")).to.throw(/^head: /);
    });
  }
});
