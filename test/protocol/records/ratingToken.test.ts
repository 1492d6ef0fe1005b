import { createHash } from "node:crypto";
import { expect } from "chai";
import { ratingToken } from "tallystick-protocol/records/ratingToken";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The token in another way: it writes the hash as one number in base 32. */
function expected(receipt: string, side: string): string {
  // 256 bits and four zero bits make 52 digits of five bits.
  let number =
    BigInt(
      `0x${createHash("sha256")
        .update(receipt + side)
        .digest("hex")}`,
    ) << 4n;
  let text = "";
  for (let i = 0; i < 52; i++) {
    text = ALPHABET[Number(number & 31n)] + text;
    number >>= 5n;
  }
  return `rtt_${text.slice(0, 26)}`;
}

describe("the rating token", () => {
  const receipt = "ab".repeat(32);

  it("is rtt_ and the first 26 characters of SHA-256(entry hash, side) in Crockford's base 32", () => {
    for (const side of ["buyer", "seller"] as const) {
      expect(ratingToken(receipt, side)).to.equal(expected(receipt, side));
      expect(ratingToken(receipt, side)).to.match(/^rtt_[0-9A-HJKMNP-TV-Z]{26}$/);
    }
  });

  it("is different for every receipt and side", () => {
    const tokens = [receipt, "cd".repeat(32)].flatMap((hash) =>
      (["buyer", "seller"] as const).map((side) => ratingToken(hash, side)),
    );
    expect(new Set(tokens).size).to.equal(4);
  });
});
