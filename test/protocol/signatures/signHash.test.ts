import { expect } from "chai";
import * as fc from "fast-check";
import { InvalidInputError } from "tallystick-protocol/errors";
import { fromHex, type Hex, toHex } from "tallystick-protocol/hex";
import { addressOf, signHash } from "tallystick-protocol/signatures/signHash";
import { privateKeyToAccount } from "viem/accounts";

const bytes32 = () => fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => toHex(bytes));
const privateKeys = () => bytes32().filter((key) => BigInt(key) > 0n && BigInt(key) < 1n << 255n);

describe("a signature by a private key", () => {
  it("equals the signature of viem's account for the same key", async () => {
    await fc.assert(
      fc.asyncProperty(privateKeys(), bytes32(), async (key, hash) => {
        const account = privateKeyToAccount(key);
        expect(signHash(fromHex(hash), key)).to.equal(await account.sign({ hash }));
        expect(addressOf(key)).to.equal(account.address.toLowerCase());
      }),
      { numRuns: 30 },
    );
  });

  it("is refused with the field's name if the key is not valid", () => {
    for (const key of ["0x", "0x01", `0x${"g".repeat(64)}`, "1".repeat(64)] as Hex[]) {
      const name = (run: () => unknown) => expect(run, key).to.throw(InvalidInputError, "privateKey");
      name(() => signHash(new Uint8Array(32), key));
      name(() => addressOf(key));
    }
    expect(() => addressOf(`0x${"0".repeat(64)}`)).to.throw();
  });
});
