import { expect } from "chai";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { base } from "tallystick-sdk/chain/paymentNetwork";
import { ChainError } from "tallystick-sdk/errors";
import type { EscrowRelay } from "tallystick-sdk/escrow/escrowRelay";
import { toEscrowPayload } from "tallystick-sdk/escrow/escrowScheme";
import { escrowStatuses } from "tallystick-sdk/escrow/readEscrowState";
import { escrowMode } from "tallystick-sdk/seller/escrowMode";
import type { Job, PaymentTerms } from "tallystick-sdk/seller/job";
import { HireRefusedError, PaymentInvalidError } from "tallystick-sdk/seller/sellerErrors";
import { newWallet } from "./support/sdkChain.ts";
import { rejection } from "./support/tamper.ts";

const address = (byte: string) => `0x${byte.repeat(20)}` as const;

const seller = newWallet();
const hire: Hire = {
  ...{ hireId: `0x${"33".repeat(32)}` as const, buyer: address("b1"), seller: seller.address },
  ...{ payee: ZERO_ADDRESS, amount: 1_000_000n, fee: 0n, feeRecipient: ZERO_ADDRESS },
  ...{ deadline: 2n ** 40n, arbiter: ZERO_ADDRESS },
};
const authorization = { validAfter: 0n, validBefore: 9n, signature: "0x12" } as const;
const payment = { payload: { payload: toEscrowPayload({ hire, authorization }) } };
const job = { id: "job", payment } as unknown as Job;

describe("a deposit that a seller's relay refuses", () => {
  /** What the buyer is told if the relay fails so, and if this is the state of the escrow. */
  const told = async (
    fault: Error,
    state: EscrowRelay["state"],
    log: (...line: unknown[]) => void = () => {},
  ) => {
    const relay = { deposit: () => Promise.reject(fault), state } as Partial<EscrowRelay> as EscrowRelay;
    const { account } = seller;
    const mode = escrowMode({ account, network: base, escrow: address("e5"), relay, log });
    return await rejection(mode.secure(job));
  };
  const stateOf = (status: string) => async () => ({ status, delivered: false, amount: 0n }) as never;
  const used = new ChainError({ code: "call_refused", message: "no", reason: "WrongStatus" });

  it("because it was made before may be in the escrow, so the seller sends it back if it can", async () => {
    const away = async () => Promise.reject(new Error("away"));
    for (const state of [stateOf("none"), stateOf("held"), away]) {
      const error = await told(used, state);
      // A seller gives the money of a failed job back, unless the payment was invalid.
      expect(error).to.be.instanceOf(HireRefusedError);
      expect(error).to.include({ code: "deposit_unconfirmed", status: 504 });
    }
    const paid = await told(used, stateOf("released"));
    expect(paid).to.include({ code: "deposit_unconfirmed" });
    expect(paid.message).to.match(/^The buyer has released the money/);
    expect(await told(used, stateOf("refunded"))).to.include({ code: "payment_taken_back" });
  });

  it("for another reason is not in the escrow", async () => {
    const poor = new ChainError({ code: "call_refused", message: "no", reason: "NotEnough" });
    const error = await told(poor, stateOf("none"));
    expect(error).to.be.instanceOf(PaymentInvalidError);
    expect(error).to.include({ code: "deposit_refused", message: "The deposit was refused: NotEnough" });
  });

  it("does not show the buyer what a relay or an RPC says", async () => {
    const said = "POST https://rpc.example/key-123 answered 401";
    const lines: unknown[][] = [];
    for (const reason of [undefined, said]) {
      const fault = new ChainError({ code: "call_refused", message: said, reason });
      const error = await told(fault, stateOf("none"), (...line) => lines.push(line));
      expect(error).to.include({ code: "deposit_refused" });
      expect(error.message).not.to.contain("key-123");
    }
    expect(lines.map((line) => JSON.stringify(line).includes("key-123"))).to.deep.equal([true, true]);
  });
});

/** A seller that reads this state and this token of the escrow from a chain with this number. */
const reading = (
  state: object,
  getChainId = async () => base.chainId,
  token = async (): Promise<string> => base.token,
) => {
  const block = { getBlockNumber: async () => 1n, getBlock: async () => ({ timestamp: 1n }) };
  const readContract = async ({ functionName }: { functionName: string }) =>
    functionName === "token" ? await token() : state;
  const client = { ...block, getChainId, readContract } as never;
  const relay = { deposit: async () => "0x12" } as Partial<EscrowRelay> as EscrowRelay;
  const { account } = seller;
  return escrowMode({ account, network: base, escrow: address("e5"), relay, client, shownWithinMs: 0 });
};

describe("a deposit that a buyer has ended before the seller looks at the chain", () => {
  const statusOf = (name: string) => escrowStatuses.indexOf(name as "none");
  const ended = (name: string) => reading({ status: statusOf(name), delivered: false, amount: 0n });

  it("is with the seller, which works, if the buyer released it", async () => {
    expect(await ended("released").secure(job)).to.include({ tx: "0x12" });
  });

  it("is called taken back, and not missing, if it is with the buyer", async () => {
    for (const name of ["refunded", "timedOut", "split"])
      expect(await rejection(ended(name).secure(job)), name).to.include({ code: "payment_taken_back" });
    expect(await rejection(ended("none").secure(job))).to.include({ code: "deposit_unconfirmed" });
  });
});

describe("a seller in escrow mode whose RPC is of another chain", () => {
  const offer = { listing: { max_latency_ms: 1 }, price: 1n } as PaymentTerms["offer"];
  const held = { status: 1, delivered: false, amount: 1_000_000n };

  it("gives no terms to sign, and believes no deposit that it sees there", async () => {
    let [chain, isAway] = [1, true];
    const mode = reading(held, async () => (isAway ? Promise.reject(new Error("away")) : chain));
    expect(await mode.requirements(offer), "an RPC that is away stops no hire").to.include({ amount: "1" });
    isAway = false;
    expect(await rejection(mode.requirements(offer))).to.include({ code: "wrong_chain" });
    expect(await rejection(mode.secure(job))).to.include({ code: "chain_unreachable" });
    chain = base.chainId;
    expect(await mode.secure(job)).to.include({ tx: "0x12" });
  });
});

describe("a seller in escrow mode whose escrow holds another token", () => {
  const offer = { listing: { max_latency_ms: 1 }, price: 1n } as PaymentTerms["offer"];
  const held = { status: 1, delivered: false, amount: 1_000_000n };

  it("gives no terms to sign, and does not work for a deposit of it", async () => {
    let [token, isAway] = [address("0f") as string, true];
    const its = async () => (isAway ? Promise.reject(new Error("away")) : token);
    const mode = reading(held, undefined, its);
    expect(await mode.requirements(offer), "an RPC that is away stops no hire").to.include({ amount: "1" });
    expect(await rejection(mode.secure(job)), "nobody knows what was deposited").to.include({
      code: "chain_unreachable",
    });
    isAway = false;
    expect(await rejection(mode.requirements(offer))).to.include({ code: "wrong_token" });
    expect(await rejection(mode.secure(job))).to.include({ code: "chain_unreachable" });
    token = base.token.toUpperCase().replace("0X", "0x");
    expect(await mode.requirements(offer)).to.include({ asset: base.token });
    expect(await mode.secure(job)).to.include({ tx: "0x12" });
  });
});
