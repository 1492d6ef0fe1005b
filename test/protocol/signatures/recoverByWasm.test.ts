import { secp256k1 } from "@noble/curves/secp256k1.js";
import { expect } from "chai";
import fc from "fast-check";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { type RecoverPublicKey, recoverByNoble } from "tallystick-protocol/signatures/recoverPublicKey";

const bytes32 = fc.uint8Array({ minLength: 32, maxLength: 32 });
const ORDER = secp256k1.Point.Fn.ORDER;
/**
 * The numbers at which implementations may differ: small numbers, numbers near half of the order and near the order, and
 * the largest number.
 */
const edges = [0n, 1n, 2n, ORDER / 2n, ORDER / 2n + 1n, ORDER - 1n, ORDER, ORDER + 1n, (1n << 256n) - 1n].map(
  (value) => Uint8Array.from(Buffer.from(value.toString(16).padStart(64, "0"), "hex")),
);

describe("key recovery by WebAssembly", () => {
  let recoverFast: RecoverPublicKey;
  before(async () => {
    recoverFast = await recoverByWasm();
  });

  const answer = (recover: RecoverPublicKey, ...input: Parameters<RecoverPublicKey>): string => {
    try {
      return Buffer.from(recover(...input)).toString("hex");
    } catch {
      return "refused";
    }
  };

  it("is compiled only once in a process", async () => {
    expect(await recoverByWasm()).to.equal(recoverFast);
  });

  it("finds the key that made a signature", () => {
    fc.assert(
      fc.property(bytes32, bytes32, (secret, hash) => {
        fc.pre(secp256k1.utils.isValidSecretKey(secret));
        const signed = secp256k1.sign(hash, secret, { prehash: false, format: "recovered" });
        const found = recoverFast(hash, signed.subarray(1), signed[0] as 0 | 1);
        expect([...found]).to.deep.equal([...secp256k1.getPublicKey(secret, false)]);
      }),
      { numRuns: 50 },
    );
  });

  it("gives the same answer as plain JavaScript for any bytes", () => {
    const number = fc.oneof(bytes32, fc.constantFrom(...edges));
    fc.assert(
      fc.property(number, number, number, fc.constantFrom(0 as const, 1 as const), (hash, r, s, recovery) => {
        const signature = Uint8Array.from([...r, ...s]);
        expect(answer(recoverFast, hash, signature, recovery)).to.equal(
          answer(recoverByNoble, hash, signature, recovery),
        );
      }),
      { numRuns: 150 },
    );
  });
});
