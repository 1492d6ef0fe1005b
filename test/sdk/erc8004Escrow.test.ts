import { expect } from "chai";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { EscrowDeployment, Hire } from "tallystick-protocol/escrow/hire";
import type { Receipt } from "tallystick-protocol/records/receipt";
import { checkPayment } from "tallystick-sdk/erc8004/checkPayment";
import { createEscrowCalls, type EscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { createEscrowSigner } from "tallystick-sdk/escrow/signEscrow";
import { newWallet, type SdkChain, startSdkChain } from "./support/sdkChain.ts";

const AMOUNT = 500_000n;

describe("the check of a payment in an escrow", () => {
  let chain: SdkChain;
  let deployment: EscrowDeployment;
  let relay: EscrowCalls;
  let number = 0;

  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
    deployment = { chainId: chain.network.chainId, escrow: chain.escrow };
    relay = createEscrowCalls({ sender: chain.sender, deployment });
  });
  after(() => chain?.close());

  /** Whether the payment holds, and why, after the buyer gave this part of its deposit to the seller. */
  async function paid({ toSeller = AMOUNT, fee = 0n }): Promise<string> {
    const [buyer, seller] = [newWallet(), newWallet()];
    await chain.mint(buyer, AMOUNT);
    const hire: Hire = {
      hireId: `0x${String(++number).padStart(64, "0")}`,
      buyer: buyer.address,
      seller: seller.address,
      payee: ZERO_ADDRESS,
      amount: AMOUNT,
      fee,
      feeRecipient: fee === 0n ? ZERO_ADDRESS : buyer.address,
      deadline: BigInt((await chain.now()) + 1_000),
      arbiter: ZERO_ADDRESS,
    };
    const signer = createEscrowSigner({ account: buyer.account, deployment, network: chain.network });
    const id = relay.idOf(hire);
    const tx = await relay.depositWithAuthorization(hire, await signer.authorizeDeposit(hire));
    if (toSeller === AMOUNT) await relay.release(hire, await signer.release(id));
    else if (toSeller > 0n) await relay.split(hire, toSeller, await signer.split(id, toSeller));
    const receipt = {
      ...{ buyer: buyer.address, agent_id: seller.address, amount_usdc_atomic: String(AMOUNT) },
      ...{ tx_hash: tx, escrow_id: id, network: `eip155:${deployment.chainId}` },
    } as Receipt;
    const { finding } = await checkPayment(chain.sender.client, receipt, {
      ...deployment,
      token: chain.network.token,
    });
    return `${finding.holds}: ${finding.detail}`;
  }

  it("holds if the seller got all of the deposit, or all but a small fee", async () => {
    expect(await paid({})).to.match(/^true: .*released$/);
    expect(await paid({ fee: 5_000n })).to.match(/^true: .*a fee of 5000 went to /);
    expect(await paid({ fee: AMOUNT / 2n })).to.match(/^true: /);
  });

  it("does not hold if the money is held, was split, or went to somebody else as a fee", async () => {
    expect(await paid({ toSeller: 0n })).to.match(/^false: .*is held/);
    for (const toSeller of [1n, AMOUNT - 1n])
      expect(await paid({ toSeller })).to.match(/^false: .*was split/);
    for (const fee of [AMOUNT / 2n + 1n, AMOUNT])
      expect(await paid({ fee })).to.match(
        new RegExp(`^false: .*${fee} of it went to 0x[0-9a-fA-F]{40} as a fee`),
      );
  });
});
