import { expect } from "chai";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { batchGas, intrinsicGas, MAX_BATCH_GAS, readBatchOutcome } from "tallystick-sdk/escrow/batch";
import { type EscrowCalls, encodeEscrowCall } from "tallystick-sdk/escrow/escrowCalls";
import { chunksOf, createKeeperBatches, keyOf } from "tallystick-sdk/escrow/keeperBatches";
import {
  encodeAbiParameters,
  encodeErrorResult,
  encodeEventTopics,
  type Hex,
  type TransactionReceipt,
} from "viem";
import { rejection } from "./support/tamper.ts";

const address = (byte: string) => `0x${byte.repeat(20)}` as const;
const hash = (byte: string) => `0x${byte.repeat(32)}` as const;
const ESCROW = address("e5");
const hire: Hire = {
  ...{ hireId: hash("33"), buyer: address("b1"), seller: address("5e"), payee: ZERO_ADDRESS, amount: 7n },
  ...{ fee: 0n, feeRecipient: ZERO_ADDRESS, deadline: 2n ** 40n, arbiter: ZERO_ADDRESS },
};

describe("a batch of calls", () => {
  it("gets the gas that all its items may use, up to the limit of a transaction", () => {
    const call = `0x${"00".repeat(100)}` as Hex;
    expect(batchGas([], 630_000n)).to.equal(60_000n);
    // 630,000 for the item and 1/63 of it, 8,000 around it, and 196 bytes of 40 gas.
    expect(batchGas([call], 630_000n)).to.equal(60_000n + 630_000n + 10_000n + 8_000n + 196n * 40n);
    expect(batchGas([call, call], 630_000n)).to.equal(60_000n + 2n * (648_000n + 196n * 40n));
    expect(batchGas(Array(30).fill(call), 630_000n)).to.equal(MAX_BATCH_GAS);
  });

  it("costs 21,000 gas, and 4 or 16 for each byte of its call, before anything is carried out", () => {
    const selector = 4 * 16;
    // Offset of the list, gas, length, offset and length of the item: 0x40, 0x0493e0, 1, 0x20 and 3.
    const words = [1, 3, 1, 1, 1].reduce((all, bytes) => all + bytes * 16 + (32 - bytes) * 4, 0) - 12;
    const item = 2 * 16 + 30 * 4;
    expect(intrinsicGas(["0x120034"], 300_000n)).to.equal(21_000 + selector + words + item + 12);
    expect(intrinsicGas(["0x123456"], 300_000n)).to.equal(21_000 + selector + words + item + 12 + 12);
  });

  it("is read from the escrow's own events: what failed and why, and what did not run", () => {
    const event = (name: "ItemFailed" | "BatchStopped", at: string, index: bigint, reason?: Hex) => {
      const abi = hireEscrowAbi.filter((item) => item.type === "event" && item.name === name);
      const [{ inputs }] = abi as unknown as [
        { inputs: { indexed?: boolean; type: string; name: string }[] },
      ];
      const values: { [input: string]: unknown } = { index, reason };
      const data = inputs.filter(({ indexed }) => !indexed);
      return {
        address: at,
        topics: encodeEventTopics({ abi: hireEscrowAbi, eventName: name, args: { index } } as never),
        data: encodeAbiParameters(
          data,
          data.map((input) => values[input.name]),
        ),
      };
    };
    const reason = encodeErrorResult({ abi: hireEscrowAbi, errorName: "NotAParty", args: [ESCROW] } as never);
    const logs = [
      event("ItemFailed", ESCROW.toUpperCase().replace("0X", "0x"), 1n, reason),
      event("ItemFailed", ESCROW, 2n, "0x12345678"),
      event("ItemFailed", address("66"), 3n, reason),
      event("BatchStopped", address("66"), 1n),
    ];
    const receipt = {
      logs,
      transactionHash: hash("aa"),
      blockNumber: 7n,
      gasUsed: 5n,
    } as unknown as TransactionReceipt;
    const failed = [
      { index: 1, error: "NotAParty", reason },
      { index: 2, error: undefined, reason: "0x12345678" },
    ];
    const outcome = { transactionHash: hash("aa"), blockNumber: 7n, gasUsed: 5n, failed };
    expect(readBatchOutcome(receipt, ESCROW, 6)).to.deep.equal({ ...outcome, tried: 6 });
    logs.push(event("BatchStopped", ESCROW, 4n));
    expect(readBatchOutcome(receipt, ESCROW, 6)).to.deep.equal({ ...outcome, tried: 4 });
  });
});

describe("the batches of a keeper", () => {
  const idOf = () => hash("1d");

  it("know an item by what it does to which escrow, and a refund also by its signer", () => {
    const signer = address("ab");
    const calls: [Hex, string][] = [
      [encodeEscrowCall("depositWithAuthorization", [hire, 0n, 9n, "0x12"]), "deposit"],
      [encodeEscrowCall("markDelivered", [hire, hash("44"), "0x12"]), "delivered"],
      [encodeEscrowCall("release", [hire, "0x12"]), "release"],
      [encodeEscrowCall("timeoutRefund", [hire]), "watch"],
      [encodeEscrowCall("split", [hire, 3n, "0x12"]), "split"],
    ];
    for (const [call, name] of calls) expect(keyOf(call, { idOf })).to.equal(`${name}/${hash("1d")}`);
    const refund = encodeEscrowCall("refund", [hire, signer, "0x12"]);
    expect(keyOf(refund, { idOf })).to.equal(`refund/${hash("1d")}.${signer}`);
  });

  it("hold their items until they are mined, also those of an earlier process", async () => {
    const [mined, sent] = [0, 1].map(() => Promise.withResolvers<never>());
    const release = encodeEscrowCall("release", [hire, "0x12"]);
    const key = keyOf(release, { idOf });
    let isAway = true;
    let asked = 0;
    const batches = createKeeperBatches({
      idOf,
      unminedBatches: async () => {
        asked++;
        if (isAway) throw new Error("away");
        return [{ items: [release], mined: mined?.promise }];
      },
      batch: (items: readonly Hex[], gasEach: bigint, waitMs: number) => {
        expect([items, gasEach, waitMs]).to.deep.equal([["0x12"], 5n, Number.POSITIVE_INFINITY]);
        return sent?.promise;
      },
    } as unknown as EscrowCalls);
    expect(await rejection(batches.open())).to.include({ message: "away" });
    isAway = false;
    await Promise.all([batches.open(), batches.open()]);
    expect([asked, batches.isOnItsWay(key)]).to.deep.equal([2, true]);
    const sending = batches.send([{ key, call: "0x12" }], 5n);
    mined?.reject(new Error("replaced"));
    await new Promise((resolve) => setImmediate(resolve));
    expect(batches.isOnItsWay(key), "in the second batch").to.equal(true);
    sent?.resolve("outcome" as never);
    expect(await sending).to.equal("outcome");
    expect(batches.isOnItsWay(key)).to.equal(false);
    expect(batches.isOnItsWay("other")).to.equal(false);
  });

  it("have at most the given number of items", () => {
    expect(chunksOf([1, 2, 3, 4, 5], 2)).to.deep.equal([[1, 2], [3, 4], [5]]);
    expect(chunksOf([1, 2], 2)).to.deep.equal([[1, 2]]);
    expect(chunksOf([], 2)).to.deep.equal([]);
  });
});
