import { expect } from "chai";
import fc from "fast-check";
import { sha256HexByNoble } from "tallystick-derive/sha256Hex";
import { sha256ByNoble } from "tallystick-protocol/sha256";
import { sha256ByNode } from "tallystick-runtime/hashing/sha256ByNode";
import { sha256HexByNode } from "tallystick-runtime/hashing/sha256HexByNode";

describe("hashing by Node", () => {
  it("gives the same hash as plain JavaScript, for texts and bytes", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.uint8Array(), (text, bytes) => {
        const hex = Buffer.from(bytes).toString("hex");
        expect(sha256ByNode(text)).to.deep.equal(sha256ByNoble(text));
        expect(sha256ByNode(bytes)).to.deep.equal(sha256ByNoble(bytes));
        expect(sha256HexByNode(text, "utf8")).to.equal(sha256HexByNoble(text, "utf8"));
        expect(sha256HexByNode(hex, "hex")).to.equal(sha256HexByNoble(hex, "hex"));
      }),
    );
  });
});
