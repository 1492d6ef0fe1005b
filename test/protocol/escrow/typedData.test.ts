import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import {
  receiveWithAuthorizationTypedData,
  transferWithAuthorizationTypedData,
} from "tallystick-protocol/escrow/authorization";
import {
  escrowId,
  type Hire,
  markDeliveredTypedData,
  refundTypedData,
  releaseTypedData,
  splitTypedData,
} from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import { anchorTypedData, headTypedData, ledgerId } from "tallystick-protocol/ledger/anchor";
import { hashTypedData, recoverTypedDataAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { readVectors } from "../../vectors/vectors.ts";

type Vectors = {
  chainId: number;
  escrow: Address;
  anchoredLedger: Address;
  hire: { [key in keyof Hire]: string };
  escrowId: Hex;
  release: Hex;
  split: { toSeller: string; digest: Hex };
  refund: { signer: Address; digest: Hex };
  markDelivered: { resultHash: Hex; digest: Hex };
  ledger: { writer: Address; guardian: Address; origin: string; ledgerId: Hex };
  anchor: { seq: string; newSize: string; newRoot: Hex; digest: Hex };
  head: { size: string; root: Hex; digest: Hex };
};

describe("typed data (EIP-712)", () => {
  const vectors = readVectors<Vectors>("eip712.json");
  const { chainId, escrow } = vectors;
  const deployment = { chainId, escrow };
  const contract = { chainId, contract: vectors.anchoredLedger };
  const { amount, fee, deadline, ...rest } = vectors.hire;
  const hire = { ...rest, amount: BigInt(amount), fee: BigInt(fee), deadline: BigInt(deadline) } as Hire;
  const id = vectors.escrowId;

  it("gives a hire the escrowId of the golden vectors, and another escrowId on another chain or with other terms", () => {
    expect(escrowId(hire, deployment)).to.equal(id);
    expect(escrowId(hire, { chainId: chainId + 1, escrow })).not.to.equal(id);
    expect(escrowId({ ...hire, arbiter: hire.seller }, deployment)).not.to.equal(id);
  });

  it("hashes the words of buyer, seller and arbiter as the golden vectors do", () => {
    const { release, split, refund, markDelivered } = vectors;
    expect(hashTypedData(releaseTypedData(id, deployment))).to.equal(release);
    expect(hashTypedData(splitTypedData(id, BigInt(split.toSeller), deployment))).to.equal(split.digest);
    expect(hashTypedData(refundTypedData(id, refund.signer, deployment))).to.equal(refund.digest);
    const delivered = markDeliveredTypedData(id, deployment, markDelivered.resultHash);
    expect(hashTypedData(delivered)).to.equal(markDelivered.digest);
  });

  it("hashes a ledger's id, anchors and heads as the golden vectors do", () => {
    const { writer, guardian, origin, ledgerId: expected } = vectors.ledger;
    expect(ledgerId({ ...contract, writer, guardian, origin })).to.equal(expected);
    const { seq, newSize, newRoot } = vectors.anchor;
    const anchor = { ledgerId: expected, seq: BigInt(seq), newSize: BigInt(newSize), newRoot };
    expect(hashTypedData(anchorTypedData(anchor, contract))).to.equal(vectors.anchor.digest);
    const head = { ledgerId: expected, size: BigInt(vectors.head.size), root: vectors.head.root };
    expect(hashTypedData(headTypedData(head, contract))).to.equal(vectors.head.digest);
  });

  it("lets a buyer sign EIP-3009 authorizations, with different hashes for transfer and receive", async () => {
    const buyer = privateKeyToAccount(`0x${"22".repeat(32)}`);
    const from = buyer.address.toLowerCase() as Address;
    const authorization = {
      from,
      to: escrow,
      value: 500000n,
      validAfter: 0n,
      validBefore: 2n ** 64n,
      nonce: id,
    };
    const domain = { name: "USD Coin", version: "2", chainId, token: vectors.anchoredLedger };
    const receive = receiveWithAuthorizationTypedData(authorization, domain);
    const signature = await buyer.signTypedData(receive);
    expect(await recoverTypedDataAddress({ ...receive, signature })).to.equal(buyer.address);
    const transfer = transferWithAuthorizationTypedData(authorization, domain);
    expect(await recoverTypedDataAddress({ ...transfer, signature })).not.to.equal(buyer.address);
  });
});
