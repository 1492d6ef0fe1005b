import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import { createEscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { createEscrowSigner } from "tallystick-sdk/escrow/signEscrow";
import { zeroAddress } from "viem";
import type { RolledBackEscrow } from "../../services/auditing/operatorNode.ts";
import { createRefundDesk } from "../../services/auditing/refundDesk.ts";
import { newWallet, type SdkChain, startSdkChain, type Wallet } from "../sdk/support/sdkChain.ts";

const AMOUNT = 500_000n;
const forever = new AbortController().signal;

describe("the refunds of hires that were rolled back", () => {
  let chain: SdkChain;
  const arbiter = newWallet();
  before(async () => {
    chain = await startSdkChain();
  });
  after(() => chain?.close());

  const deployment = () => ({ chainId: chain.network.chainId, escrow: chain.escrow });
  const calls = () => createEscrowCalls({ sender: chain.sender, deployment: deployment() });
  /** A hire whose money the escrow holds. */
  const held = async (changes: Partial<Hire> = {}): Promise<RolledBackEscrow & { buyer: Wallet }> => {
    const buyer = newWallet();
    await chain.mint(buyer, AMOUNT);
    const seller = newWallet().address;
    const hire: Hire = {
      hireId: `0x${buyer.address.slice(2).padStart(64, "0")}` as Hex,
      ...{ buyer: buyer.address, seller, payee: seller, amount: AMOUNT, fee: 0n },
      ...{ feeRecipient: zeroAddress as Address, deadline: BigInt((await chain.now()) + 3_600) },
      arbiter: arbiter.address,
      ...changes,
    };
    const signer = createEscrowSigner({
      account: buyer.account,
      deployment: deployment(),
      network: chain.network,
    });
    await calls().depositWithAuthorization(hire, await signer.authorizeDeposit(hire));
    return { id: calls().idOf(hire), escrow: chain.escrow, hire, buyer };
  };
  const desk = (escrows: Address[] = [chain.escrow]) =>
    createRefundDesk({
      arbiter: arbiter.account,
      network: chain.network,
      escrows,
      sender: chain.sender,
      log: () => {},
    });
  const named = [arbiter.address];

  it("give the buyer its money back, once", async () => {
    const it = await held();
    expect(await desk().round([it], named, forever)).to.equal(1);
    expect(await chain.balanceOf(it.buyer)).to.equal(AMOUNT);
    expect((await calls().state(it.id)).status).to.equal("refunded");
    expect(await desk().round([it], named, forever)).to.equal(0);
  });

  it("find the terms of a hire that names no payee", async () => {
    const it = await held({ payee: zeroAddress as Address });
    const shown = { ...it, hire: { ...it.hire, payee: it.hire.seller } };
    expect(await desk().round([shown], named, forever)).to.equal(1);
  });

  it("are not made for another arbiter, for another contract, or if the parameters do not name this arbiter", async () => {
    const foreign = await held({ arbiter: newWallet().address });
    const it = await held();
    const other = `0x${"5e".repeat(20)}` as Address;
    expect(await desk().round([foreign], named, forever)).to.equal(0);
    expect(await desk([other]).round([it], named, forever)).to.equal(0);
    expect(await desk().round([it], [other], forever)).to.equal(0);
    // If a node names wrong terms of an escrow, this escrow keeps its money, and other escrows do not wait.
    const lie = { ...it, hire: { ...it.hire, amount: AMOUNT - 1n } };
    const honest = await held();
    expect(await desk().round([lie, honest], named, forever)).to.equal(1);
    for (const { id } of [foreign, it]) expect((await calls().state(id)).status).to.equal("held");
  });

  it("change nothing about escrows that were settled meanwhile", async () => {
    const it = await held();
    const signer = createEscrowSigner({
      account: it.buyer.account,
      deployment: deployment(),
      network: chain.network,
    });
    await calls().release(it.hire, await signer.release(it.id));
    expect(await desk().round([it], named, forever)).to.equal(0);
    expect(await chain.balanceOf({ address: it.hire.seller })).to.equal(AMOUNT);
  });
});
