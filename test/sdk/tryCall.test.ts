import { expect } from "chai";
import { encodeEscrowCall } from "tallystick-sdk/escrow/escrowCalls";
import { tryCall } from "tallystick-sdk/escrow/tryCall";
import { createPublicClient, custom, type Hex } from "viem";
import { hostileWallet, MOODS } from "../../tools/bench/keeper/hostileWallet.ts";
import { type SdkChain, startSdkChain } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";

const GAS = 150_000n;
const QUESTION: Hex = `0x1626ba7e${"00".repeat(96)}`;

describe("a simulated call", () => {
  let chain: SdkChain;
  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
  });
  after(() => chain.close());

  const deploy = async (data: Hex) => {
    const hash = await chain.client.sendTransaction({ chain: null, data });
    const { contractAddress } = await chain.client.waitForTransactionReceipt({ hash, pollingInterval: 10 });
    return contractAddress?.toLowerCase() as Hex;
  };

  it("has a result for any behaviour of the contract, and costs the provider no more than the given gas", async () => {
    const outcomes: { [mood: string]: [boolean, boolean] } = {};
    for (const [mood, number] of Object.entries(MOODS)) {
      const to = await deploy(hostileWallet(chain.token, number));
      const { done, gasUsed, error } = await tryCall(chain.client as never, { to, data: QUESTION, gas: GAS });
      expect(error, mood).to.equal(undefined);
      expect(Number(gasUsed), mood).to.be.lessThan(Number(GAS) + 5_000);
      outcomes[mood] = [done, gasUsed >= GAS];
    }
    expect(outcomes).to.deep.equal({
      saysYes: [true, false],
      burnsGas: [false, true],
      reverts: [false, false],
      hitsInvalidOpcode: [false, true],
      answersMegabytes: [false, true],
      saysNo: [true, false],
    });
  });

  it("gives the escrow's own error", async () => {
    const data = encodeEscrowCall("withdraw", [chain.escrow]);
    expect(await tryCall(chain.client as never, { to: chain.escrow, data, gas: GAS })).to.include({
      done: false,
      error: "NothingToWithdraw",
    });
  });

  it("does not count as refused if the provider fails, lowers the gas, or gives a malformed answer", async () => {
    const words = (...numbers: bigint[]) =>
      `0x${numbers.map((n) => n.toString(16).padStart(64, "0")).join("")}`;
    const answers: (() => unknown)[] = [
      () => [],
      () => null,
      () => "0x",
      () => "0x01",
      () => words(0n, 90_000n, 0n, 100_000n),
      () => {
        throw Object.assign(new Error("execution reverted"), { code: -32603 });
      },
      () => {
        throw new TypeError("fetch failed");
      },
    ];
    for (const answer of answers) {
      const transport = custom({ request: async () => answer() }, { retryCount: 0 });
      const client = createPublicClient({ transport });
      const asked = tryCall(client, { to: chain.escrow, data: QUESTION, gas: GAS });
      expect(await rejection(asked), String(answer)).to.have.property("code", "chain_unreachable");
    }
  });
});
