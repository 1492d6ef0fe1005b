import { expect } from "chai";
import {
  CallExecutionError,
  decodeFunctionData,
  ExecutionRevertedError,
  type Hex,
  HttpRequestError,
  parseAbi,
} from "viem";
import { type ChainReader, contractSignature } from "../../../indexer/src/segments/contractSignature.ts";
import { recordSigningHash, type SignedRecord, signRecord } from "../../../protocol/records/record.ts";
import { newWallet } from "../support/localChain.ts";

const YES: Hex = `0x1626ba7e${"00".repeat(28)}`;
const abi = parseAbi(["function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)"]);
const wallet = `0x${"c0".repeat(20)}` as const;

/** A chain with one contract that answers as told. */
function chain(answer: (to: Hex, data: Hex) => Hex, code: Hex | undefined = "0x60"): ChainReader {
  return { getCode: async () => code, call: async ({ to, data }) => ({ data: answer(to, data) }) };
}

const unasked = chain(() => expect.fail("the contract was asked"));

describe("contractSignature (ERC-1271)", () => {
  let byKey: SignedRecord;
  let byContract: SignedRecord;

  before(async () => {
    byKey = await signRecord({ type: "listing", body: { a: 1 }, privateKey: newWallet().privateKey });
    byContract = { ...byKey, signer: wallet };
  });

  it("asks nobody when the signer's own key signed", async () => {
    expect(await contractSignature(unasked, byKey)).to.equal(undefined);
  });

  it("leaves a signer without code to its key", async () => {
    for (const code of [undefined, "0x"] as const) {
      const empty: ChainReader = { ...unasked, getCode: async () => code };
      expect(await contractSignature(empty, byContract)).to.equal(undefined);
    }
  });

  it("asks the signer about the hash that a wallet signs", async () => {
    const asked = chain((to, data) => {
      expect(to).to.equal(wallet);
      const { args } = decodeFunctionData({ abi, data });
      expect(args).to.deep.equal([recordSigningHash(byContract.body), byContract.signature]);
      return YES;
    });
    expect(await contractSignature(asked, byContract)).to.equal(true);
  });

  it("takes anything but the magic value for a no", async () => {
    for (const answer of [
      "0x",
      "0x1626ba7e",
      `0xffffffff${"00".repeat(28)}`,
      `0x${"00".repeat(32)}`,
    ] as const) {
      expect(
        await contractSignature(
          chain(() => answer),
          byContract,
        ),
      ).to.equal(false);
    }
  });

  it("takes a revert for a no, and a chain that does not answer for nothing", async () => {
    const failing = (cause: Error) =>
      chain(() => {
        throw new CallExecutionError(cause as ExecutionRevertedError, { to: wallet });
      });
    expect(await contractSignature(failing(new ExecutionRevertedError({})), byContract)).to.equal(false);
    const offline = failing(new HttpRequestError({ url: "http://localhost", details: "refused" }));
    const error = await contractSignature(offline, byContract).catch((it) => it);
    expect(error).to.be.instanceOf(CallExecutionError);
  });
});
