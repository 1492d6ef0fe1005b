import { expect } from "chai";
import * as fc from "fast-check";
import { InvalidInputError } from "tallystick-protocol/errors";
import { type Hire, hireTypedData } from "tallystick-protocol/escrow/hire";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { anchorTypedData, headTypedData, ledgerId } from "tallystick-protocol/ledger/anchor";
import { abiWord, type FlatTypedData, typedDataHash } from "tallystick-protocol/signatures/typedDataHash";
import { encodeAbiParameters, hashTypedData, keccak256 } from "viem";

const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((it): Hex => toHex(it));
const address = () => bytes(20);
const bytes32 = () => bytes(32);
const uint = (bits: bigint) =>
  fc.oneof(fc.bigInt(0n, (1n << bits) - 1n), fc.constantFrom(0n, (1n << bits) - 1n));
const chainId = () => fc.nat();
const text = (minLength: number) => fc.string({ unit: "grapheme", minLength, maxLength: 200 });

/** Our hash and viem's hash of the same data must be equal. */
function agree(data: FlatTypedData): void {
  expect(typedDataHash(data)).to.equal(hashTypedData(data as Parameters<typeof hashTypedData>[0]));
}

describe("the hash of typed data", () => {
  it("equals viem's for every hire", () => {
    const hire = fc.record({
      hireId: bytes32(),
      buyer: address(),
      seller: address(),
      payee: address(),
      amount: uint(128n),
      fee: uint(128n),
      feeRecipient: address(),
      deadline: uint(64n),
      arbiter: address(),
    });
    fc.assert(
      fc.property(hire, chainId(), address(), (terms: Hire, chain, escrow) =>
        agree(hireTypedData(terms, { chainId: chain, escrow })),
      ),
    );
  });

  it("equals viem's for every head and anchor", () => {
    const word = fc.record({ id: bytes32(), seq: uint(64n), size: uint(64n), root: bytes32() });
    fc.assert(
      fc.property(word, chainId(), address(), ({ id, seq, size, root }, chain, contract) => {
        agree(headTypedData({ ledgerId: id, size, root }, { chainId: chain, contract }));
        const anchor = { ledgerId: id, seq, newSize: size, newRoot: root };
        agree(anchorTypedData(anchor, { chainId: chain, contract }));
      }),
    );
  });

  it("equals viem's for domains with any text", () => {
    fc.assert(
      // viem leaves an empty text out of the domain, so the texts here are not empty.
      fc.property(text(1), text(1), (name, version) =>
        agree({
          domain: { name, version, chainId: 1, verifyingContract: `0x${"ab".repeat(20)}` },
          types: { Note: [{ name: "text", type: "string" }] },
          primaryType: "Note",
          message: { text: version },
        }),
      ),
    );
  });

  it("is that of a struct without fields if the types do not list the struct", () => {
    const domain = {
      name: "n",
      version: "1",
      chainId: 1,
      verifyingContract: `0x${"ab".repeat(20)}`,
    } as const;
    const empty = { domain, primaryType: "Empty", message: {} };
    const hash = hashTypedData({ ...empty, types: { Empty: [] } } as Parameters<typeof hashTypedData>[0]);
    expect(typedDataHash({ ...empty, types: {} })).to.equal(hash);
  });

  it("is refused with the field's name for a value of a wrong type", () => {
    const wrong: [type: string, value: unknown][] = [
      ["uint8", 256n],
      ["uint64", 1n << 64n],
      ["uint256", 1n << 256n],
      ["uint128", -1n],
      ["uint128", 1.5],
      ["uint128", 2 ** 60],
      ["uint128", "1"],
      ["uint128", undefined],
      ["uint264", 1n],
      ["int8", 1n],
      ["uint8[]", 1n],
      ["xuint8", 1n],
      ["uint", 1n],
      ["bytes", "0x"],
      ["address", `0x${"0".repeat(38)}`],
      ["address", undefined],
      ["bytes32", `0x${"0".repeat(66)}`],
    ];
    for (const [type, value] of wrong)
      expect(() => abiWord(type, value, "at_fault"), `${type} ${value}`).to.throw(
        InvalidInputError,
        "at_fault",
      );
  });
});

describe("the id of a ledger", () => {
  it("is the hash of Solidity's encoding, for any name", () => {
    const types = ["uint256", "address", "address", "address", "string"].map((type) => ({ type }));
    fc.assert(
      fc.property(
        chainId(),
        address(),
        address(),
        address(),
        text(0),
        (chain, contract, writer, guardian, name) => {
          const encoded = encodeAbiParameters(types, [BigInt(chain), contract, writer, guardian, name]);
          const id = ledgerId({ chainId: chain, contract, writer, guardian, origin: name });
          expect(id).to.equal(keccak256(encoded));
        },
      ),
    );
  });

  it("is refused with the name of the part that cannot be encoded", () => {
    const parts = {
      chainId: 8453,
      contract: `0x${"cc".repeat(20)}`,
      writer: `0x${"11".repeat(20)}`,
      guardian: `0x${"99".repeat(20)}`,
      origin: "tallystick.test/main",
    } as const;
    for (const [field, bad] of [
      ["chainId", -1],
      ["chainId", 0.5],
      ["contract", "0x11"],
      ["writer", "0x11"],
      ["guardian", ""],
    ] as const)
      expect(() => ledgerId({ ...parts, [field]: bad }), `${field} ${bad}`)
        .to.throw(InvalidInputError)
        .with.property("field", field);
  });
});
