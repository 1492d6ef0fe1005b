import { expect } from "chai";
import { chainReads } from "tallystick-sdk/buyer/chainReads";
import { walletAsker } from "tallystick-sdk/chain/askWallet";
import {
  base,
  baseSepolia,
  networkId,
  shortNetworkName,
  tokenDomainOf,
} from "tallystick-sdk/chain/paymentNetwork";
import { isPaymentUsed, readPaymentState, settledBlock } from "tallystick-sdk/chain/paymentState";
import { readEscrowState } from "tallystick-sdk/escrow/readEscrowState";
import type { PublicClient } from "viem";
import { rejection } from "./support/tamper.ts";

const address = (byte: string) => `0x${byte.repeat(20)}` as const;
const hash = (byte: string) => `0x${byte.repeat(32)}` as const;

describe("what the SDK reads from a chain", () => {
  let asked: { [field: string]: unknown }[];
  let head: bigint;
  let answer: unknown;
  beforeEach(() => {
    [asked, head, answer] = [[], 100n, true];
  });
  const client = {
    getBlockNumber: async (how: object) => {
      expect(how).to.deep.equal({ cacheTime: 0 });
      return head;
    },
    getBlock: async ({ blockNumber }: { blockNumber: bigint }) => ({ timestamp: blockNumber * 10n }),
    readContract: async ({ abi: _, ...question }: { [field: string]: unknown }) => {
      asked.push(question);
      return answer;
    },
  } as unknown as PublicClient;
  const question = { payer: address("b1"), nonce: hash("11") };
  const about = {
    address: base.token,
    functionName: "authorizationState",
    args: [question.payer, hash("11")],
  };

  it("is as of the last block with enough confirmations, the block itself included", async () => {
    const cases = [
      [-1, 100n],
      [0, 100n],
      [1, 100n],
      [1.9, 100n],
      [2, 99n],
      [100, 1n],
      [101, 0n],
      [102, 0n],
      [1_000, 0n],
    ] as const;
    for (const [confirmations, block] of cases)
      expect(await settledBlock(client, confirmations), String(confirmations)).to.equal(block);
  });

  it("shows whether an authorization is used: now, or in a settled block with its time", async () => {
    expect(await isPaymentUsed(client, base, question)).to.equal(true);
    expect(await readPaymentState(client, base, question, 3)).to.deep.equal({ isUsed: true, time: 980 });
    expect(asked).to.deep.equal([about, { ...about, blockNumber: 98n }]);
  });

  it("is asked for together with the number of the chain, and not shown by another chain", async () => {
    const chain = Promise.withResolvers<number>();
    // The number comes after the other question.
    const slow = {
      getChainId: () => chain.promise,
      readContract: async () => {
        chain.resolve(base.chainId);
        return true;
      },
    } as unknown as PublicClient;
    expect(await chainReads(slow, base, 1).isPaid(question.payer, question.nonce)).to.equal(true);
    const other = chainReads({ ...client, getChainId: async () => 1 } as PublicClient, base, 1);
    const refused = await rejection(other.isPaid(question.payer, question.nonce));
    expect(refused).to.include({ code: "wrong_chain" });
  });

  it("shows the state of an escrow: now, or in a settled block", async () => {
    const names = ["none", "held", "released", "split", "refunded", "timedOut", "none"];
    for (const [status, name] of names.entries()) {
      answer = { status, delivered: true, amount: 7n };
      const state = { status: name, delivered: true, amount: 7n };
      expect(await readEscrowState(client, address("e5"), hash("1d"))).to.deep.equal(state);
    }
    asked = [];
    const stateOf = { address: address("e5"), functionName: "stateOf", args: [hash("1d")] };
    const now = await readEscrowState(client, address("e5"), hash("1d"));
    const settled = await readEscrowState(client, address("e5"), hash("1d"), 2);
    expect(settled, "with the time of its block").to.deep.equal({ ...now, time: 990 });
    expect(asked).to.deep.equal([stateOf, { ...stateOf, blockNumber: 99n }]);
  });

  it("is a wallet's yes or no about a signature, and unknown if the chain fails or is silent for five seconds", async () => {
    const asking = (call: () => Promise<unknown>) =>
      walletAsker({ call } as never)({ signer: address("cc"), hash: hash("22"), signature: "0x12" });
    const answers = new Set<string>();
    for (let word = 0n; word < 8n; word++)
      answers.add(await asking(async () => ({ data: `0x${word.toString(16).padStart(64, "0")}` })));
    expect([...answers].sort()).to.deep.equal(["no", "unknown", "yes"]);
    expect(await asking(() => Promise.reject(new Error("away")))).to.equal("unknown");
    const real = globalThis.setTimeout;
    const waits: number[] = [];
    globalThis.setTimeout = ((run: () => void, ms: number) => {
      waits.push(ms);
      return real(run, 0);
    }) as never;
    try {
      expect(await asking(() => new Promise(() => {}))).to.equal("unknown");
    } finally {
      globalThis.setTimeout = real;
    }
    expect(waits).to.deep.equal([5_000]);
  });
});

describe("the name of a chain", () => {
  it("is its CAIP-2 id, and short where x402 v1 has a short name", () => {
    expect([base, baseSepolia, { chainId: 31_337 }].map(networkId)).to.deep.equal([
      ...["eip155:8453", "eip155:84532", "eip155:31337"],
    ]);
    expect([base, baseSepolia, { chainId: 31_337 }].map(shortNetworkName)).to.deep.equal([
      ...["base", "base-sepolia", "eip155:31337"],
    ]);
    expect(tokenDomainOf({ ...base, more: 1 } as typeof base)).to.deep.equal(base);
  });
});
