import { expect } from "chai";
import type { TransactionSender } from "tallystick-sdk/chain/transactionSender";
import { createPoolTransfers, type SignedTransfer } from "../../services/auditing/poolTransfers.ts";
import { newWallet } from "../sdk/support/sdkChain.ts";

const NONCE = `0x${"01".repeat(32)}` as const;
const TX = `0x${"02".repeat(32)}` as const;

describe("a transfer that a pool's process has sent", () => {
  it("is on its way while its transaction is known and has not failed", async () => {
    const away = () => Promise.reject(new Error("not found"));
    for (const [known, receipt, isUnmined, isOnItsWay] of [
      [async () => ({}), away, false, true],
      [async () => ({}), async () => ({ status: "success" }), false, true],
      [async () => ({}), async () => ({ status: "reverted" }), false, false],
      [away, away, false, false],
      // The sender sent the transfer again at another gas price, so its transaction has another hash.
      [away, away, true, true],
    ] as const) {
      const client = { getTransaction: known, getTransactionReceipt: receipt };
      const transfers = createPoolTransfers({
        pool: newWallet().account,
        network: { chainId: 1, token: `0x${"70".repeat(20)}`, name: "USD Coin", version: "2" },
        sender: { client, send: async () => TX, isUnmined: () => isUnmined } as unknown as TransactionSender,
        ...{ validSeconds: 60, log: () => {} },
      });
      expect(await transfers.isOnItsWay(NONCE), "never sent").to.equal(false);
      const transfer = { auditor: `0x${"a1".repeat(20)}`, amount: "5", nonce: NONCE, validBefore: 60 };
      await transfers.send({ ...transfer, signature: "0x" } as SignedTransfer);
      expect(await transfers.isOnItsWay(NONCE)).to.equal(isOnItsWay);
      transfers.forget(NONCE);
      expect(await transfers.isOnItsWay(NONCE), "forgotten").to.equal(false);
    }
  });
});
