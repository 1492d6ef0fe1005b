import { expect } from "chai";
import { custom, type EIP1193RequestFn, type Hex } from "viem";
import { contractSignature } from "../../../settlement/anchoring/contractSignature.ts";
import { type Chain, freshChain } from "../../contracts/support/chain.ts";

const WALLET = `0x${"c0".repeat(20)}` as const;
const hash = `0x${"12".repeat(32)}` as const;

/** Code that answers every call with these four bytes, padded to a word. */
const answering = (bytes: string): Hex => `0x63${bytes}60e01b60005260206000f3`;

describe("signatures of contract wallets (ERC-1271)", () => {
  let chain: Chain;
  before(async () => {
    chain = await freshChain();
  });
  after(() => chain.close());

  const ask = (request: EIP1193RequestFn = chain.provider.request.bind(chain.provider) as EIP1193RequestFn) =>
    contractSignature((options) => custom({ request })({ ...options, retryCount: 0 }))({
      signer: WALLET,
      hash,
      signature: "0x1234",
    });

  const cases: [string, Hex, boolean][] = [
    ["believes a wallet that gives the magic value", answering("1626ba7e"), true],
    ["does not believe one that gives another value", answering("ffffffff"), false],
    ["does not believe one that reverts", "0x60006000fd", false],
    ["does not believe one that gives nothing", "0x00", false],
    ["does not believe an address without code", "0x", false],
  ];
  for (const [what, code, expected] of cases) {
    it(what, async () => {
      await chain.provider.request({ method: "hardhat_setCode", params: [WALLET, code] });
      expect(await ask()).to.equal(expected);
    });
  }

  it("does not take a dead RPC for a no", async () => {
    await chain.provider.request({ method: "hardhat_setCode", params: [WALLET, answering("1626ba7e")] });
    const failing = (failOn: string) =>
      ask((async (request: { method: string }) => {
        if (request.method === failOn) throw new Error("connect ECONNREFUSED");
        return chain.provider.request(request as never);
      }) as EIP1193RequestFn);
    for (const method of ["eth_getCode", "eth_call"]) {
      await failing(method).then(
        () => expect.fail("it answered"),
        (error) => expect(error).to.have.property("code", "chain_unavailable"),
      );
    }
  });
});
