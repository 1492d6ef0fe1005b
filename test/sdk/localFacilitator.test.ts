import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { createLocalFacilitator } from "tallystick-sdk/x402/localFacilitator";
import { concatHex, type Hex, numberToHex } from "viem";
import { newWallet, type SdkChain, startSdkChain, type Wallet } from "./support/sdkChain.ts";

const PRICE = 20_000n;

/**
 * The code of a contract wallet that accepts every signature. If a contract asks, such as the token, it first makes this
 * many turns of 26 gas each.
 */
const walletCode = (turns: number): Hex =>
  concatHex([
    "0x3315601257", // jumps to the end if nobody asks, as in an eth_call
    concatHex(["0x62", numberToHex(turns, { size: 3 })]),
    "0x5b60019003806009575b631626ba7e60e01b60005260206000f3",
  ]);

describe("a facilitator in the seller's process", () => {
  let chain: SdkChain;
  let gasWallet: Wallet;
  let facilitator: ReturnType<typeof createLocalFacilitator>;
  /** The most gas that each sent payment may have. */
  const limits: (bigint | undefined)[] = [];
  const payee = newWallet();
  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
    gasWallet = newWallet();
    await chain.client.setBalance({ address: gasWallet.address, value: 10n ** 20n });
    const { chainId } = chain.network;
    const rpc = { chainId, rpc: chain.transport, pollingMs: 10 };
    const sender = createTransactionSender({ ...rpc, account: gasWallet.account });
    const noting: typeof sender = {
      ...sender,
      send: (call) => {
        limits.push(call.maxGas);
        return sender.send(call);
      },
    };
    facilitator = createLocalFacilitator({ sender: noting, chainId });
  });
  after(() => chain.close());

  /** A payment by a contract wallet that has the money. */
  async function paymentOf(turns: number) {
    const { address } = newWallet();
    await chain.client.setCode({ address, bytecode: walletCode(turns) });
    await chain.mint({ address }, PRICE);
    const { chainId, token, name, version } = chain.network;
    const requirements = {
      ...{ scheme: "exact", network: `eip155:${chainId}` as const, asset: token, amount: String(PRICE) },
      ...{ payTo: payee.address, maxTimeoutSeconds: 60, extra: { name, version } },
    } as const;
    const authorization = {
      ...{ from: address, to: payee.address as Address, value: String(PRICE), validAfter: "0" },
      ...{ validBefore: String((await chain.now()) + 100_000), nonce: `0x${"0a".repeat(32)}` },
    };
    // Longer than a key's signature, so that only the wallet can know it.
    const payload = { signature: `0x${"5a".repeat(66)}`, authorization };
    return { payload: { x402Version: 2, accepted: requirements, payload } as never, requirements };
  }

  it("pays the gas for a contract wallet that checks its signature", async () => {
    const { payload, requirements } = await paymentOf(1_000);
    expect(await facilitator.verify(payload, requirements)).to.include({ isValid: true });
    expect(await facilitator.settle(payload, requirements)).to.include({ success: true });
    expect(await chain.balanceOf(payee)).to.equal(PRICE);
    // The wallet may burn gas only when the payment is sent.
    expect(limits).to.deep.equal([500_000n]);
  });

  it("refuses a payment by a contract wallet that burns gas: before the work, and before anything is sent", async () => {
    const { payload, requirements } = await paymentOf(200_000);
    const before = await chain.client.getBalance({ address: gasWallet.address });
    expect(await facilitator.verify(payload, requirements)).to.include({ isValid: false });
    expect(await facilitator.settle(payload, requirements)).to.include({ success: false, transaction: "" });
    expect(await chain.client.getBalance({ address: gasWallet.address })).to.equal(before);
  });
});
