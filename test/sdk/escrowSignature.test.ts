import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import fc from "fast-check";
import { isByKey, unwrapSignature } from "tallystick-sdk/escrow/escrowSignature";
import { concatHex, encodeAbiParameters, type Hex, numberToHex, sliceHex } from "viem";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { newWallet, type SdkChain, startSdkChain } from "./support/sdkChain.ts";

const MAGIC: Hex = `0x${"6492".repeat(16)}`;
const wrap = (inner: Hex, call: Hex = "0x"): Hex => {
  const types = [{ type: "address" }, { type: "bytes" }, { type: "bytes" }] as const;
  return concatHex([encodeAbiParameters(types, [`0x${"11".repeat(20)}`, call, inner]), MAGIC]);
};

describe("the signer of a signature", () => {
  let chain: SdkChain;
  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
  });
  after(() => chain.close());

  it("is a key if the contract recovers this key, from the one valid form of a signature, wrapped or not", async () => {
    const { account, address } = newWallet();
    const digest: Hex = `0x${"d1".repeat(32)}`;
    const signature = await account.sign({ hash: digest });
    const about = { signer: address, digest };
    expect(isByKey({ ...about, signature })).to.equal(true);
    expect(
      isByKey({ ...about, signature: unwrapSignature(wrap(signature, `0x${"ff".repeat(3_000)}`)) }),
    ).to.equal(true);
    expect(isByKey({ ...about, signer: newWallet().address, signature })).to.equal(false);
    // The contract recovers no key from these. It would ask the account's code (EIP-7702).
    const v = Number(sliceHex(signature, 64));
    for (const other of [
      concatHex([sliceHex(signature, 0, 64), numberToHex(v - 27, { size: 1 })]),
      concatHex([signature, "0x00"]),
      sliceHex(signature, 0, 64),
      `0x${"00".repeat(65)}` as Hex,
    ]) {
      expect(isByKey({ ...about, signature: other }), other).to.equal(false);
    }
  });

  it("is read from a wrapper just like the contract reads it, even if the wrapper is malformed", async () => {
    const file = path.join(
      repositoryRoot,
      "artifacts/contracts/test/LibrariesHarness.sol/LibrariesHarness.json",
    );
    const { abi, bytecode } = JSON.parse(readFileSync(file, "utf8"));
    const hash = await chain.client.deployContract({ chain: null, abi, bytecode } as never);
    const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash, pollingInterval: 10 });
    const byContract = (signature: Hex) =>
      chain.client.readContract({
        address: contractAddress as Hex,
        abi,
        functionName: "unwrap",
        args: [signature],
      });
    const bytes = (max: number) =>
      fc.uint8Array({ maxLength: max }).map((array): Hex => `0x${Buffer.from(array).toString("hex")}`);
    const word = fc.oneof(
      fc.integer({ min: 0, max: 0x140 }).map((n) => numberToHex(n, { size: 32 })),
      fc.constant<Hex>(`0x${"ff".repeat(32)}`),
    );
    const broken = fc
      .array(word, { minLength: 2, maxLength: 9 })
      .map((words) => concatHex([...words, MAGIC]));
    const whole = fc.tuple(bytes(70), bytes(40)).map(([inner, call]) => wrap(inner, call));
    await fc.assert(
      fc.asyncProperty(fc.oneof(bytes(200), broken, whole), async (signature) => {
        expect(unwrapSignature(signature)).to.equal(await byContract(signature));
      }),
      { numRuns: 150, seed: 20 },
    );
  });
});
