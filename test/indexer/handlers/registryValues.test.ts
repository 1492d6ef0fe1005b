import { keccak_256 } from "@noble/hashes/sha3.js";
import { expect } from "chai";
import { type Hex, toHex } from "tallystick-protocol/hex";
import { encodeAbiParameters } from "viem";
import { metadataOf, ofRegistry, textsOf } from "../../../indexer/src/handlers/registryValues.ts";

const hexOf = (text: string) => toHex(new TextEncoder().encode(text));

/** An event of a registry, with values that are not indexed. */
function eventOf(types: readonly string[], values: readonly unknown[]) {
  const data = encodeAbiParameters(
    types.map((type) => ({ type })),
    values,
  );
  return {
    block: { number: 7n, timestamp: 70n },
    log: { address: `0x${"AB".repeat(20)}`, logIndex: 3, data },
    transaction: { hash: `0x${"cd".repeat(32)}` as Hex },
  };
}

describe("the values of a registry's events", () => {
  it("give a text, with its length and hash if its bytes are not UTF-8 or are too many", () => {
    const broken: Hex = "0x61ff62";
    const types = ["uint64", "int128", "uint8", "bytes", "bytes", "bytes", "bytes", "bytes32"];
    const long = "x".repeat(1_000);
    const texts = [hexOf("starred"), broken, hexOf(""), hexOf(long)];
    const event = eventOf(types, [1n, -5n, 18, ...texts, `0x${"00".repeat(32)}`]);
    const given = ["uint256", "uint256", "uint256", "bytes", "bytes", "bytes", "bytes", "bytes32"] as const;
    expect(textsOf(event, given)).to.deep.equal([
      "starred",
      { text: "a\ufffdb", bytes: 3, hash: toHex(keccak_256(Uint8Array.of(0x61, 0xff, 0x62))) },
      "",
      { text: "x".repeat(256), bytes: 1_000, hash: toHex(keccak_256(new TextEncoder().encode(long))) },
    ]);
    expect(ofRegistry(event)).to.deep.equal({
      ...{ block: 7, time: 70, log: 3, registry: `0x${"ab".repeat(20)}`, tx: `0x${"cd".repeat(32)}` },
    });
  });

  it("give a metadata's key as text and its value as bytes", () => {
    const wallet: Hex = `0x${"0a".repeat(20)}`;
    const event = eventOf(["string", "bytes"], ["agentWallet", wallet]);
    expect(metadataOf(event)).to.deep.equal({ key: "agentWallet", value: wallet });
  });
});
