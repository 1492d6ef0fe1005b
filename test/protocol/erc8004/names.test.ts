import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { accountIdSchema, formatAccountId } from "tallystick-protocol/erc8004/accountId";
import { chainIdOfNetwork } from "tallystick-protocol/erc8004/chainIdOfNetwork";

const address: Address = `0x${"ab".repeat(20)}`;

describe("an account id of ERC-8004", () => {
  it("has a chain and an address, in lower case after it is read", () => {
    const id = { chainId: 8_453, address };
    expect(formatAccountId(id)).to.equal(`eip155:8453:${address}`);
    for (const text of [`eip155:8453:${address}`, `eip155:8453:0x${"aB".repeat(20)}`])
      expect(accountIdSchema.parse(text)).to.deep.equal(id);
    expect(accountIdSchema.parse(`eip155:9007199254740991:${address}`).chainId).to.equal(2 ** 53 - 1);
  });

  it("is refused in every other form", () => {
    for (const text of [
      "",
      address,
      `eip155:${address}`,
      `eip155:0:${address}`,
      `eip155:01:${address}`,
      `eip155:9007199254740992:${address}`,
      `eip155:8453:${address}0`,
      `eip155:8453:${address.slice(0, -1)}`,
      `xeip155:8453:${address}`,
      `solana:8453:${address}`,
    ])
      expect(accountIdSchema.safeParse(text).error?.issues, text).to.deep.equal([
        { code: "custom", path: [], message: "must be eip155:{chain id}:{address}" },
      ]);
  });
});

describe("the network of a receipt", () => {
  it("has a chain id by its short name or by CAIP-2, if it is an EVM chain", () => {
    for (const [network, chainId] of [
      ["base", 8_453],
      ["base-sepolia", 84_532],
      ["eip155:1", 1],
      ["eip155:8453", 8_453],
      ["eip155:9007199254740991", 2 ** 53 - 1],
    ] as const)
      expect(chainIdOfNetwork(network), network).to.equal(chainId);
    for (const network of [
      "",
      "ethereum",
      "toString",
      "eip155:",
      "eip155:0",
      "eip155:01",
      "eip155:1x",
      "xeip155:1",
      "eip155:9007199254740992",
    ])
      expect(chainIdOfNetwork(network), network).to.equal(undefined);
  });
});
