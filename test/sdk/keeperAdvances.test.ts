import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { createEscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { openGasAccounts } from "tallystick-sdk/escrow/gasAccounts";
import { type AdvancesParameters, createAdvances } from "tallystick-sdk/escrow/keeperAdvances";
import { memoryStore } from "tallystick-sdk/store/keyValueStore";
import { rejection } from "./support/tamper.ts";

const address = (byte: string) => `0x${byte.repeat(20)}` as Address;
const hash = (byte: string) => `0x${byte.repeat(32)}` as const;
const [UNLUCKY, LUCKY] = [address("01"), address("02")];

describe("the gas that a keeper pays before its fee, while its provider fails", () => {
  const sent: string[] = [];
  /** A provider that fails when it is asked for the code of one account. */
  const client = {
    getCode: async ({ address: of }: { address: Address }) => {
      if (of === UNLUCKY) throw new Error("too many requests");
      return undefined;
    },
  };
  const calls = {
    ...createEscrowCalls({
      sender: { client } as never,
      deployment: { chainId: 31_337, escrow: address("e5") },
    }),
    tryItem: async () => ({ done: true, gasUsed: 100_000n, error: undefined }),
  };
  const advances = createAdvances({
    ...{ calls, gasPerBuyer: 1_000_000, gasPerWallet: 200_000, batchMs: 5_000 },
    accounts: { reserve: () => ({ giveBack: () => {}, lose: async () => {} }) },
    batches: {
      isOnItsWay: () => false,
      send: async ([{ key }]: [{ key: string }]) => {
        sent.push(key);
        return { failed: [], gasUsed: 100_000n, transactionHash: hash("ab") };
      },
    },
  } as unknown as AdvancesParameters);
  const hireOf = (seller: Address): Hire => ({
    ...{ hireId: hash("11"), buyer: address("b1"), seller, payee: seller, amount: 1n, fee: 0n },
    ...{ feeRecipient: address("00"), deadline: 2_000_000_000n, arbiter: address("00") },
  });
  const deliver = (seller: Address) => advances.markDelivered(hireOf(seller), hash("22"), "0x");

  it("is not paid for an item that cannot be checked; other items are sent now, and this item later", async () => {
    const [failed, done] = await Promise.all([rejection(deliver(UNLUCKY)), deliver(LUCKY)]);
    expect(failed).to.include({ name: "ChainError", code: "chain_unreachable" });
    expect(failed.message).to.contain(UNLUCKY);
    expect(done).to.equal(hash("ab"));
    expect(sent).to.have.length(1);
    client.getCode = async () => undefined;
    expect(await deliver(UNLUCKY)).to.equal(hash("ab"));
  });
});

describe("the gas account of a buyer at a keeper", () => {
  it("always has room for the mark of delivery of a hire that the keeper deposited, and for nothing more", async () => {
    const client = { getCode: async () => undefined };
    const calls = {
      ...createEscrowCalls({
        sender: { client } as never,
        deployment: { chainId: 31_337, escrow: address("e5") },
      }),
      tryItem: async () => ({ done: true, gasUsed: 100_000n, error: undefined }),
    };
    const advances = createAdvances({
      ...{ calls, gasPerBuyer: 200_000, gasPerWallet: 200_000, batchMs: 5_000 },
      accounts: await openGasAccounts(memoryStore()),
      batches: {
        isOnItsWay: () => false,
        send: async () => ({ failed: [], tried: 1, gasUsed: 100_000n, transactionHash: hash("ab") }),
      },
    } as unknown as AdvancesParameters);
    const hireOf = (byte: string): Hire => ({
      ...{ hireId: hash(byte), buyer: address("b1"), seller: LUCKY, payee: LUCKY, amount: 1n, fee: 0n },
      ...{ feeRecipient: address("00"), deadline: 2_000_000_000n, arbiter: address("00") },
    });
    const authorization = { validAfter: 0n, validBefore: 2_000_000_000n, signature: "0x12" } as const;
    const mark = (hire: Hire) => advances.markDelivered(hire, hash("22"), "0x12");
    const [own, others] = [hireOf("11"), hireOf("12")];
    await advances.deposit(own, authorization);
    expect(await rejection(advances.deposit(others, authorization))).to.include({ code: "gas_limit" });
    expect(await rejection(mark(others))).to.include({ code: "gas_limit" });
    expect(await mark(own)).to.equal(hash("ab"));
    expect(await rejection(mark(own)), "only once").to.include({ code: "gas_limit" });
  });
});
