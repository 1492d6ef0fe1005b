import { createPublicKey, verify } from "node:crypto";
import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { expect } from "chai";
import fc from "fast-check";
import { toBase64 } from "tallystick-protocol/base64";
import {
  cosign,
  cosignedAt,
  cosignerKey,
  formatCosignerKey,
  parseCosignerKey,
} from "tallystick-protocol/note/cosignature";
import {
  formatSignedNote,
  noteKeyId,
  noteVerifierKey,
  parseSignedNote,
} from "tallystick-protocol/note/signedNote";

const SEED = new Uint8Array(32).fill(9);
const NAME = "witness.example.com/w1";
const TEXT = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
const key = cosignerKey(NAME, ed25519.getPublicKey(SEED));

describe("a cosignature", () => {
  it("is valid for its key, and contains its time", () => {
    const note = { text: TEXT, signatures: [cosign(TEXT, NAME, SEED, 1_679_315_147)] };
    expect(cosignedAt(note, key)).to.equal(1_679_315_147);
    expect(cosignedAt(parseSignedNote(formatSignedNote(note)), key)).to.equal(1_679_315_147);
  });

  it("signs the same bytes as C2SP's example, and is valid in another implementation of Ed25519", () => {
    const example = parseSignedNote(
      `${TEXT}\n— ${NAME} jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n`,
    ).signatures[0];
    const { keyId, signature } = cosign(TEXT, NAME, SEED, 1_679_315_147);
    expect(signature.length).to.equal(example?.signature.length);
    expect(signature.subarray(0, 8)).to.deep.equal(example?.signature.subarray(0, 8));
    expect(keyId).to.deep.equal(key.keyId);
    const spki = Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), key.publicKey]);
    const publicKey = createPublicKey({ key: spki, format: "der", type: "spki" });
    const message = Buffer.from(`cosignature/v1\ntime 1679315147\n${TEXT}`);
    expect(verify(null, message, publicKey, signature.subarray(8))).to.equal(true);
  });

  it("is not valid for another text, time, name, key, length or type", () => {
    const mine = cosign(TEXT, NAME, SEED, 1_000);
    const at = (signature: object, text = TEXT) =>
      cosignedAt({ text, signatures: [{ ...mine, ...signature }] }, key);
    expect(at({})).to.equal(1_000);
    expect(at({}, TEXT.replace("20852163", "20852164"))).to.equal(undefined);
    expect(at({ name: "another" })).to.equal(undefined);
    expect(at({ keyId: noteVerifierKey(NAME, key.publicKey).keyId })).to.equal(undefined);
    expect(at({ signature: mine.signature.subarray(0, 71) })).to.equal(undefined);
    expect(at({ signature: new Uint8Array([...mine.signature, 0]) })).to.equal(undefined);
    fc.assert(
      fc.property(fc.nat(71), fc.integer({ min: 1, max: 255 }), (index, flip) => {
        const signature = mine.signature.slice();
        signature[index] = (signature[index] as number) ^ flip;
        expect(at({ signature })).to.equal(undefined);
      }),
      { numRuns: 60 },
    );
  });

  it("is not valid at time 0, or at a time that a number cannot hold exactly", () => {
    for (const time of [0, 2 ** 53]) {
      const note = { text: TEXT, signatures: [cosign(TEXT, NAME, SEED, time)] };
      expect(cosignedAt(note, key), String(time)).to.equal(undefined);
    }
    const last = Number.MAX_SAFE_INTEGER;
    expect(cosignedAt({ text: TEXT, signatures: [cosign(TEXT, NAME, SEED, last)] }, key)).to.equal(last);
  });

  it("gives the newest time if a witness signed several times", () => {
    const signatures = [5, 7, 6].map((time) => cosign(TEXT, NAME, SEED, time));
    expect(cosignedAt({ text: TEXT, signatures }, key)).to.equal(7);
  });
});

describe("the key of a witness", () => {
  it("is the same after it is written and read, and a log's key is not accepted in its place", () => {
    const text = formatCosignerKey(key);
    expect(parseCosignerKey(text)).to.deep.equal(key);
    const log = noteVerifierKey(NAME, key.publicKey);
    expect(log.keyId).to.not.deep.equal(key.keyId);
    /** A key text with the right hash, for any content. */
    const withHash = (name: string, bytes: Uint8Array) =>
      `${name}+${bytesToHex(noteKeyId(name, bytes))}+${toBase64(bytes)}`;
    const ours = Uint8Array.of(4, ...key.publicKey);
    expect(withHash(NAME, ours)).to.equal(text);
    for (const bad of [
      "",
      "a+b+c",
      text.replace("w1", "w2"),
      ` ${text}`,
      `x+${text}`,
      `${text}\n`,
      withHash("a name", ours),
      withHash(NAME, Uint8Array.of(1, ...key.publicKey)),
      withHash(NAME, Uint8Array.of(...ours, 0)),
      withHash(NAME, ours.subarray(0, 32)),
    ]) {
      expect(() => parseCosignerKey(bad, "witness"), bad)
        .to.throw("must be the verifier key of a witness, name+hash+base64, of an Ed25519 key")
        .with.property("field", "witness");
    }
    for (const bad of [text.slice(0, -4), text.replace("+B", "+A")])
      expect(() => parseCosignerKey(bad, "witness"), bad)
        .to.throw()
        .with.property("field", "witness");
    expect(() => parseCosignerKey("a")).to.throw(/^key: /);
  });
});
