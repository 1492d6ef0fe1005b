import { expect } from "chai";
import { InvalidInputError } from "tallystick-protocol/errors";
import { fromHex } from "tallystick-protocol/hex";
import {
  CREATEX,
  RELEASE_SALT,
  releaseAddress,
  releaseAddressOfHash,
} from "tallystick-protocol/releaseAddress";
import { getContractAddress, keccak256 } from "viem";

describe("the address of a release", () => {
  it("is that of CREATE2 by CreateX, with the hash of the salt", () => {
    const other = `0x${"5a".repeat(32)}` as const;
    for (const initCode of ["0x", "0x6001600155", `0x${"fe".repeat(5_000)}`] as const)
      for (const salt of [undefined, RELEASE_SALT, other]) {
        const expected = getContractAddress({
          opcode: "CREATE2",
          from: CREATEX,
          salt: keccak256(salt ?? RELEASE_SALT),
          bytecode: initCode,
        }).toLowerCase();
        expect(releaseAddress(fromHex(initCode), salt)).to.equal(expected);
        expect(releaseAddressOfHash(fromHex(keccak256(initCode)), salt)).to.equal(expected);
      }
  });

  it("needs a salt of 32 bytes", () => {
    expect(() => releaseAddress(new Uint8Array(1), "0x11"))
      .to.throw(InvalidInputError)
      .with.property("field", "salt");
  });
});
