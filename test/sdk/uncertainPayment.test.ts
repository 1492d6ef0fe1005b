import type { FacilitatorClient } from "@x402/core/server";
import { expect } from "chai";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import { parseUsdc } from "tallystick-protocol/amount";
import type { Hex } from "tallystick-protocol/hex";
import { directMode } from "tallystick-sdk/seller/directMode";
import { type FindPayment, findPaymentOnChain } from "tallystick-sdk/seller/findPayment";
import type { Job } from "tallystick-sdk/seller/job";
import { PaymentInvalidError } from "tallystick-sdk/seller/sellerErrors";
import { parseSignature } from "viem";
import { MEAN, mean } from "./support/market.ts";
import { newWallet, type Wallet } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";
import { useMarket } from "./support/useMarket.ts";

const ORDER = { capability: MEAN, params: { data: [1, 2, 6] }, maxPriceUsdc: "0.10", maxLatencyMs: 60_000 };
const PRICE = parseUsdc("0.05");
const LISTING = { capability: MEAN, price_usdc: "0.05", max_latency_ms: 30_000 };

describe("a direct payment whose settlement has an unknown outcome", () => {
  const { chain, market } = useMarket();

  it("is not called failed: the seller looks again until the chain shows it, and delivers", async () => {
    const onChain = findPaymentOnChain(chain.client as never, chain.network);
    const answers: unknown[] = [];
    let looks = 0;
    const seller = await market.openSeller({
      listings: [LISTING],
      handlers: { [MEAN]: mean },
      facilitator: {
        ...chain.facilitator,
        settle: async (...given) => {
          const settled = await chain.facilitator.settle(...given);
          answers.push(settled.success);
          if (answers.length === 1) throw new Error("socket hang up");
          return settled;
        },
      },
      // The chain shows the payment late.
      findPayment: async (payment) => (++looks < 3 ? undefined : await onChain(payment)),
    });
    const buyer = await market.openBuyer();
    expect(await buyer.hire(ORDER)).to.include({ money: "paid" });
    // The facilitator refuses the payment that it has sent.
    expect(answers).to.deep.equal([true, false, false]);
    expect(looks).to.equal(3);
    expect(await chain.balanceOf(seller.wallet)).to.equal(PRICE);
  });

  it("has failed after one run when the buyer canceled it during the work", async () => {
    const buyer = await market.openBuyer();
    let runs = 0;
    const seller = await market.openSeller({
      listings: [LISTING],
      client: chain.client as never,
      facilitator: {
        ...chain.facilitator,
        settle: (...given) => {
          runs++;
          return chain.facilitator.settle(...given);
        },
      },
      handlers: {
        [MEAN]: async (params, { hireId }) => {
          await cancel(buyer.wallet, hireId as Hex);
          return mean(params);
        },
      },
    });
    const error = await rejection(buyer.hire(ORDER));
    expect(error).to.have.nested.property("words.code", "authorization_spent");
    expect(error.words.text).to.contain("canceled");
    const { store } = seller.parameters;
    const [key = ""] = await store.keys("job");
    expect(await store.get(key)).to.include({ stage: "failed" });
    // Nobody takes the job up again.
    expect(await store.keys("lease")).to.deep.equal([]);
    expect(runs).to.equal(1);
  });

  /** Cancels an authorization on the chain, in the way that its payer can. */
  async function cancel({ account, address }: Wallet, nonce: Hex): Promise<void> {
    const { chainId, token, name, version } = chain.network;
    const signature = await account.signTypedData({
      domain: { chainId, name, version, verifyingContract: token },
      types: {
        CancelAuthorization: [
          { name: "authorizer", type: "address" },
          { name: "nonce", type: "bytes32" },
        ],
      },
      primaryType: "CancelAuthorization",
      message: { authorizer: address, nonce },
    });
    const { r, s, yParity } = parseSignature(signature);
    await chain.sender.sendAndWait({
      address: token,
      abi: testUsdcAbi,
      functionName: "cancelAuthorization",
      args: [address, nonce, yParity + 27, r, s],
    });
  }

  /** A job that waits for a payment to `seller`. */
  const jobOf = (validBefore: number): Job => {
    const [buyer, seller] = [newWallet(), newWallet()];
    const authorization = {
      from: buyer.address,
      to: seller.address,
      value: "5",
      nonce: `0x${"66".repeat(32)}`,
    };
    return {
      payment: {
        requirements: { payTo: seller.address, amount: "5" },
        payload: {
          payload: { signature: "0x", authorization: { ...authorization, validBefore: String(validBefore) } },
        },
      },
    } as unknown as Job;
  };
  const refusing = (errorReason: string, transaction = ""): FacilitatorClient => ({
    ...chain.facilitator,
    settle: async () => ({ success: false, errorReason, transaction, network: "eip155:31337" }),
  });
  const modeOf = (facilitator: FacilitatorClient, findPayment?: FindPayment) =>
    directMode({ network: chain.network, facilitator, findPayment, shownWithinMs: 0 });

  it("has failed at once only if it was never sent before, and the reason shows that it was not sent now", async () => {
    const unknown: FindPayment = async () => undefined;
    const later = Math.floor(Date.now() / 1000) + 300;
    const cases = [
      ["insufficient_funds", true, true],
      ["invalid_exact_evm_insufficient_balance", true, true],
      ["invalid_exact_evm_payload_authorization_valid_before", true, true],
      ["invalid_exact_evm_signature", true, true],
      ["invalid_exact_evm_insufficient_balance", false, false],
      ["invalid_exact_evm_nonce_already_used", true, false],
      ["invalid_exact_evm_nonce_already_used", false, false],
      ["invalid_exact_evm_transaction_failed", true, false],
      ["invalid_transaction_state", true, false],
      ["unexpected_settle_error", true, false],
    ] as const;
    for (const find of [unknown, undefined]) {
      for (const [reason, isFirst, isFinal] of cases) {
        const work = modeOf(refusing(reason), find).collect(jobOf(later), { isFirst });
        const error = await rejection(work);
        expect(error instanceof PaymentInvalidError, `${reason} ${isFirst}`).to.equal(isFinal);
        expect(error.code, reason).to.equal(isFinal ? reason : "settlement_unconfirmed");
      }
    }
    const sent = refusing("insufficient_funds", `0x${"ab".repeat(32)}`);
    const error = await rejection(modeOf(sent, unknown).collect(jobOf(later), { isFirst: true }));
    expect(error).to.include({ code: "settlement_unconfirmed" });
  });

  it("is looked up even if the facilitator does not answer any more", async () => {
    const away: FacilitatorClient = {
      ...chain.facilitator,
      settle: () => Promise.reject(new Error("connect ECONNREFUSED")),
    };
    const later = Math.floor(Date.now() / 1000) + 300;
    const tx: Hex = `0x${"cd".repeat(32)}`;
    expect(await modeOf(away, async () => tx).collect(jobOf(later), { isFirst: false })).to.deep.equal({
      tx,
    });
    for (const find of [undefined, async () => undefined] as const) {
      const error = await rejection(modeOf(away, find).collect(jobOf(later), { isFirst: true }));
      expect(error).to.include({ code: "facilitator_unavailable" });
    }
  });

  it("has failed when a block with enough confirmations shows it unused after its time", async () => {
    const end = (await chain.now()) + 100;
    const find = findPaymentOnChain(chain.client as never, chain.network, { confirmations: 3 });
    const collect = () =>
      rejection(modeOf(refusing("unexpected_settle_error"), find).collect(jobOf(end), { isFirst: false }));
    await chain.passTo(end);
    expect(await collect()).to.include({ code: "settlement_unconfirmed" });
    await chain.client.mine({ blocks: 1 });
    expect(await collect()).to.include({ code: "settlement_unconfirmed" });
    await chain.client.mine({ blocks: 1 });
    expect(await collect())
      .to.be.instanceOf(PaymentInvalidError)
      .and.include({ code: "authorization_expired" });
  });
});
