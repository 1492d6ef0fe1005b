import { expect } from "chai";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { type EscrowDeployment, escrowId, type Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { createEscrowCalls, type EscrowCalls, encodeEscrowCall } from "tallystick-sdk/escrow/escrowCalls";
import { createEscrowSigner, type EscrowSigner } from "tallystick-sdk/escrow/signEscrow";
import { newWallet, type SdkChain, startSdkChain, type Wallet } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";

const AMOUNT = 500_000n;

describe("packages/sdk/escrow", () => {
  let chain: SdkChain;
  let deployment: EscrowDeployment;
  /** An account that sends what others signed. It is not a party of any hire. */
  let relay: EscrowCalls;
  let [buyer, seller, arbiter]: Wallet[] = [];
  let signers: { buyer: EscrowSigner; seller: EscrowSigner; arbiter: EscrowSigner };
  let number = 0;

  before(async function () {
    this.timeout(180_000);
    chain = await startSdkChain();
    deployment = { chainId: chain.network.chainId, escrow: chain.escrow };
    relay = createEscrowCalls({ sender: chain.sender, deployment });
  });
  after(() => chain.close());
  beforeEach(async () => {
    [buyer, seller, arbiter] = [newWallet(), newWallet(), newWallet()];
    await chain.mint(buyer, AMOUNT);
    const signer = ({ account }: Wallet) =>
      createEscrowSigner({ account, deployment, network: chain.network });
    signers = { buyer: signer(buyer), seller: signer(seller), arbiter: signer(arbiter) };
  });

  const hireOf = async (changes: Partial<Hire> = {}): Promise<Hire> => ({
    hireId: `0x${String(++number).padStart(64, "0")}`,
    buyer: buyer!.address,
    seller: seller!.address,
    payee: ZERO_ADDRESS,
    amount: AMOUNT,
    fee: 0n,
    feeRecipient: ZERO_ADDRESS,
    deadline: BigInt((await chain.now()) + 1_000),
    arbiter: arbiter!.address,
    ...changes,
  });
  const held = async (changes: Partial<Hire> = {}): Promise<Hire> => {
    const hire = await hireOf(changes);
    await relay.depositWithAuthorization(hire, await signers.buyer.authorizeDeposit(hire));
    return hire;
  };
  const balances = async () => [await chain.balanceOf(buyer!), await chain.balanceOf(seller!)];

  it("computes the same id of a hire as the contract", async () => {
    const hire = await held();
    expect(await relay.state(escrowId(hire, deployment))).to.deep.equal({
      status: "held",
      delivered: false,
      amount: AMOUNT,
    });
    expect(relay.idOf(hire)).to.equal(escrowId(hire, deployment));
  });

  it("relays a mark of delivery and a split with the signatures of the parties", async () => {
    const hire = await held();
    const id = relay.idOf(hire);
    const resultHash = `0x${"12".repeat(32)}` as const;
    await relay.markDelivered(hire, resultHash, await signers.seller.markDelivered(id, resultHash));
    expect(await relay.state(id)).to.include({ delivered: true });
    await relay.split(hire, 200_000n, await signers.buyer.split(id, 200_000n));
    expect(await relay.state(id)).to.deep.equal({ status: "split", delivered: true, amount: 0n });
    expect(await balances()).to.deep.equal([300_000n, 200_000n]);
  });

  it("relays refunds by buyer, seller and arbiter, each only with the signature of this party", async () => {
    for (const who of ["buyer", "seller", "arbiter"] as const) {
      const hire = await held();
      const id = relay.idOf(hire);
      const other = who === "buyer" ? "seller" : "buyer";
      const wrong = await rejection(
        relay.refund(hire, signers[other].address, await signers[who].refund(id)),
      );
      expect(wrong).to.include({ code: "call_refused", reason: "InvalidSignature" });
      await relay.refund(hire, signers[who].address, await signers[who].refund(id));
      expect(await balances()).to.deep.equal([AMOUNT, 0n]);
    }
  });

  it("deposits by permit, with the buyer's signature over the terms", async () => {
    const hire = await hireOf();
    const args = [buyer!.address] as const;
    const nonce = await chain.client.readContract({
      address: chain.token,
      abi: testUsdcAbi,
      functionName: "nonces",
      args,
    });
    await relay.depositWithPermit(hire, await signers.buyer.permitDeposit(hire, nonce));
    expect(await relay.state(hire)).to.include({ status: "held", amount: AMOUNT });
  });

  it("lets the parties send transactions themselves, without signatures", async () => {
    await chain.client.setBalance({ address: buyer!.address, value: 10n ** 18n });
    const { chainId } = deployment;
    const sender = createTransactionSender({
      account: buyer!.account,
      chainId,
      rpc: chain.transport,
      pollingMs: 10,
    });
    const own = createEscrowCalls({ sender, deployment });
    const args = [chain.escrow, AMOUNT];
    await sender.sendAndWait({ address: chain.token, abi: testUsdcAbi, functionName: "approve", args });
    const hire = await hireOf();
    await own.deposit(hire);
    await own.release(hire);
    expect(await balances()).to.deep.equal([0n, AMOUNT]);
  });

  it("settles many hires in one batch, and skips impossible items", async () => {
    await chain.mint(buyer!, 2n * AMOUNT);
    const [first, second, third] = [await held(), await held(), await held()];
    const sign = async (hire: Hire) => ({ hire, signature: await signers.buyer.release(relay.idOf(hire)) });
    const release = ({ hire, signature }: { hire: Hire; signature: Hex }) =>
      encodeEscrowCall("release", [hire, signature]);
    const outcome = await relay.batch([
      release(await sign(first)),
      release({ hire: second, signature: (await sign(first)).signature }),
      release(await sign(third)),
    ]);
    expect(outcome.tried).to.equal(3);
    expect(outcome.failed.map(({ index, error }) => [index, error])).to.deep.equal([[1, "InvalidSignature"]]);
    expect(await balances()).to.deep.equal([0n, 2n * AMOUNT]);
    expect((await relay.state(second)).status).to.equal("held");
    await chain.passTo(Number(second.deadline));
    const late = await relay.batch([first, second].map((hire) => encodeEscrowCall("timeoutRefund", [hire])));
    expect(late.failed.map(({ index, error }) => [index, error])).to.deep.equal([[0, "WrongStatus"]]);
    expect(await balances()).to.deep.equal([AMOUNT, 2n * AMOUNT]);
    expect(await relay.findEvent(relay.idOf(second), "settlement")).to.match(/^0x[0-9a-f]{64}$/);
  });

  it("reports how many items of a batch were tried before the gas ended", async () => {
    await chain.mint(buyer!, AMOUNT);
    const hire = await held();
    const release = encodeEscrowCall("release", [hire, await signers.buyer.release(relay.idOf(hire))]);
    expect(await relay.batch([release], 2n ** 256n - 1n)).to.include({ tried: 0 });
    expect((await relay.state(hire)).status).to.equal("held");
    expect(await relay.batch([release, "0x"])).to.deep.include({
      tried: 2,
      failed: [{ index: 1, error: undefined, reason: "0x" }],
    });
    expect((await relay.state(hire)).status).to.equal("released");
  });

  it("finds the transaction of a settlement also if the node that gives the newest block is behind", async () => {
    const hire = await held();
    await relay.release(hire, await signers.buyer.release(relay.idOf(hire)));
    const settled = await relay.findEvent(relay.idOf(hire), "settlement");
    const head = await chain.client.getBlockNumber();
    const client = { ...chain.sender.client, getBlockNumber: async () => head - 1n };
    const behind = createEscrowCalls({ sender: { ...chain.sender, client } as never, deployment });
    expect(await behind.findEvent(relay.idOf(hire), "settlement")).to.equal(settled);
  });

  it("gives the contract's reason for a refusal, and sends no call that the contract would refuse", async () => {
    const hire = await held();
    const nonce = () => chain.client.getTransactionCount({ address: chain.sender.address });
    const before = await nonce();
    for (const [work, reason] of [
      [relay.timeoutRefund(hire), "DeadlineNotReached"],
      [relay.release(hire), "NotAuthorized"],
      [relay.withdraw(buyer!.address), "NothingToWithdraw"],
      [relay.pause(60n), "NotAuthorized"],
      [relay.unpause(), "NotAuthorized"],
    ] as const) {
      expect(await rejection(work)).to.include({ code: "call_refused", reason });
    }
    expect(await nonce()).to.equal(before);
  });
});
