import { expect } from "chai";
import { type SendOnceParameters, sendOnce } from "tallystick-sdk/erc8004/sendOnce";
import { parseAbi, parseTransaction } from "viem";
import { newWallet } from "./support/sdkChain.ts";

const CONTRACT = `0x${"c0".repeat(20)}` as const;
const HASH = `0x${"ab".repeat(32)}` as const;

type Replaced = "repriced" | "replaced" | "cancelled";

describe("a transaction that must be on the chain only once", () => {
  const { account } = newWallet();

  /**
   * Sends a call. Each time that it is sent, another transaction takes its nonce for the next of these reasons. `found`:
   * what the searches find, in turn.
   */
  async function send(reasons: Replaced[], found: (string | undefined)[] = []) {
    const nonces: (number | undefined)[] = [];
    let nonce = 7;
    const client = {
      getBlockNumber: async () => 1n,
      getTransactionCount: async () => nonce,
      getChainId: async () => 31_337,
      estimateContractGas: async () => 100_000n,
      estimateFeesPerGas: async () => ({ maxFeePerGas: 2n, maxPriorityFeePerGas: 1n }),
      readContract: async () => 0n,
      sendRawTransaction: async ({ serializedTransaction }: { serializedTransaction: `0x${string}` }) => {
        nonces.push(parseTransaction(serializedTransaction).nonce);
        return HASH;
      },
      waitForTransactionReceipt: async ({
        onReplaced,
      }: {
        onReplaced: (of: { reason: Replaced }) => void;
      }) => {
        const reason = reasons.shift();
        nonce++;
        if (reason !== undefined) onReplaced({ reason });
        return { status: "success", transactionHash: HASH };
      },
    };
    const sent = await sendOnce<string>({
      ...{ client: client as unknown as SendOnceParameters<string>["client"], account, chainId: 31_337 },
      call: { address: CONTRACT, abi: parseAbi(["function say()"]), functionName: "say", args: [] },
      find: async () => found.shift(),
      agree: () => true,
    }).catch((error: unknown) => error);
    return { sent, nonces };
  }

  it("counts as sent if it is mined, also at another price", async () => {
    for (const reasons of [[], ["repriced"]] as Replaced[][]) {
      const { sent, nonces } = await send(reasons);
      expect(sent).to.include({ status: "sent" });
      expect(nonces).to.deep.equal([7]);
    }
  });

  it("does not count as sent if another transaction took its nonce: it is looked for, and sent again", async () => {
    for (const reason of ["replaced", "cancelled"] as const) {
      const again = await send([reason]);
      expect(again.sent, reason).to.include({ status: "sent" });
      expect(again.nonces).to.deep.equal([7, 8]);
      const { sent, nonces } = await send([reason], [undefined, "it is there"]);
      expect(sent).to.deep.equal({ status: "found", found: "it is there" });
      expect(nonces).to.deep.equal([7]);
    }
    const { sent, nonces } = await send(["replaced", "replaced", "replaced"]);
    expect(sent).to.include({ name: "ChainError", code: "transaction_pending" });
    expect(nonces).to.deep.equal([7, 8, 9]);
  });
});
