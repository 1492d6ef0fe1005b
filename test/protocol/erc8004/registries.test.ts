import { expect } from "chai";
import { identityRegistryAbi } from "tallystick-protocol/erc8004/identityRegistryAbi";
import { PUBLISHED_REGISTRIES, registriesSetting } from "tallystick-protocol/erc8004/registries";
import { reputationRegistryAbi } from "tallystick-protocol/erc8004/reputationRegistryAbi";
import { type Abi, toEventSelector } from "viem";

/** The event topics from abis/*.json of the repository erc-8004-contracts, at commit b9e466c. */
const TOPICS = {
  MetadataSet: "0x2c149ed548c6d2993cd73efe187df6eccabe4538091b33adbd25fafdb8a1468b",
  Registered: "0xca52e62c367d81bb2e328eb795f7c7ba24afb478408a26c0e201d155c449bc4a",
  Transfer: "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
  URIUpdated: "0x3a2c7fffc2cba7582c690e3b82c453ea02a308326a98a3ad7576c606336409fb",
  Upgraded: "0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b",
  FeedbackRevoked: "0x25156fd3288212246d8b008d5921fde376c71ed14ac2e072a506eb06fde6d09d",
  NewFeedback: "0x6a4a61743519c9d648a14e6493f47dbe3ff1aa29e7785c96c8326a205e58febc",
  ResponseAppended: "0xb1c6be0b5b8aef6539e2fac0fd131a2faa7b49edf8e505b5eb0ad487d56051d4",
};

const topicsOf = (abi: Abi) =>
  Object.fromEntries(
    abi.flatMap((item) => (item.type === "event" ? [[item.name, toEventSelector(item)]] : [])),
  );

describe("the registries of ERC-8004", () => {
  it("have the same events as the published contracts", () => {
    const ours = { ...topicsOf(identityRegistryAbi), ...topicsOf(reputationRegistryAbi) };
    expect(ours).to.deep.equal(TOPICS);
  });

  it("are set by the name of a chain, or by two addresses in upper or lower case", () => {
    expect(registriesSetting.parse("base")).to.equal(PUBLISHED_REGISTRIES.base);
    const [identity, reputation] = [`0x${"aB".repeat(20)}`, `0x${"01".repeat(20)}`];
    expect(registriesSetting.parse(`${identity}=${reputation}`)).to.deep.equal({
      identity: identity.toLowerCase(),
      reputation,
      chainId: null,
      firstBlock: null,
    });
    const same = `${identity}=${identity.toLowerCase()}`;
    const pair = `${identity}=${reputation}`;
    for (const text of ["", "ethereum", "toString", identity, `${identity}=`, same, `x${pair}`, `${pair}0`]) {
      expect(registriesSetting.safeParse(text).error?.issues, text).to.deep.equal([
        {
          code: "custom",
          path: [],
          message: "must be one of base, base-sepolia, or IDENTITY=REPUTATION with two addresses",
        },
      ]);
    }
  });
});
