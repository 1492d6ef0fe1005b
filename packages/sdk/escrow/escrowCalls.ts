import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Address } from "tallystick-protocol/address";
import { type EscrowDeployment, escrowId, type Hire } from "tallystick-protocol/escrow/hire";
import { type Hex, ZERO_HASH } from "tallystick-protocol/hex";
import {
  type ContractFunctionArgs,
  type ContractFunctionName,
  decodeFunctionData,
  type EncodeFunctionDataParameters,
  encodeFunctionData,
} from "viem";
import { chainCheck } from "../chain/chainCheck.ts";
import type { TransactionSender } from "../chain/transactionSender.ts";
import { ChainError } from "../errors.ts";
import { type BatchOutcome, batchGas, GAS_EACH, readBatchOutcome } from "./batch.ts";
import { findNewest } from "./findNewest.ts";
import { type EscrowState, readEscrowStateAt } from "./readEscrowState.ts";
import type { DepositAuthorization, DepositPermit } from "./signEscrow.ts";
import { tokenCheck } from "./tokenCheck.ts";
import { type TriedCall, tryCall, unreachable } from "./tryCall.ts";

export type { EscrowState };

/** The events that report a deposit or a settlement. A split counts as a release. */
const EVENTS = {
  deposit: ["Deposited"],
  settlement: ["Released", "Refunded", "TimedOut"],
} as const;

/** An empty signature: the sender of the transaction counts as the signer. */
const BY_SENDER: Hex = "0x";

/** A call of one of the contract's functions, as an item of a batch. */
export function encodeEscrowCall<Name extends EscrowFunction>(
  functionName: Name,
  args: ContractFunctionArgs<typeof hireEscrowAbi, "nonpayable", Name>,
): Hex {
  return encodeFunctionData({ abi: hireEscrowAbi, functionName, args } as EncodeFunctionDataParameters);
}

type EscrowFunction = ContractFunctionName<typeof hireEscrowAbi, "nonpayable">;

export type EscrowCalls = ReturnType<typeof createEscrowCalls>;

/**
 * Functions that read a HireEscrow, and one function for each of its verbs. Such a function sends a transaction,
 * waits until it is mined and returns its hash. Without a signature the sender itself is the signer.
 *
 * @throws ChainError with the contract's error as `reason`; what the contract would refuse is not sent
 * @example
 * const escrow = createEscrowCalls({ sender, deployment });
 * await escrow.depositWithAuthorization(hire, authorization);
 * await escrow.release(hire, signature);
 */
export function createEscrowCalls(parameters: { sender: TransactionSender; deployment: EscrowDeployment }) {
  const { sender, deployment } = parameters;
  const address = deployment.escrow;
  const send = async (functionName: string, args: readonly unknown[]): Promise<Hex> =>
    (await sender.sendAndWait({ address, abi: hireEscrowAbi, functionName, args })).transactionHash;

  return {
    deployment,
    ...checksOf(sender.client, deployment),
    idOf: (hire: Hire): Hex => escrowId(hire, deployment),
    /** The state now, or as it was after this block. */
    state: async (hire: Hire | Hex, blockNumber?: bigint): Promise<EscrowState> => {
      const id = typeof hire === "string" ? hire : escrowId(hire, deployment);
      return await readEscrowStateAt(sender.client, address, id, blockNumber);
    },

    /** The result that an item of a batch would have now. @throws ChainError `chain_unreachable` */
    tryItem: (item: Hex, gasEach: bigint = GAS_EACH): Promise<TriedCall> =>
      tryCall(sender.client, { to: address, data: item, gas: gasEach }),
    /**
     * Whether an address has code: a contract wallet's, or what an EIP-7702 account points to.
     *
     * @throws ChainError `chain_unreachable`
     */
    hasCode: async (account: Address): Promise<boolean> => {
      try {
        return ((await sender.client.getCode({ address: account })) ?? "0x") !== "0x";
      } catch (cause) {
        throw unreachable(`The chain could not be asked for the code of ${account}.`, cause);
      }
    },
    /** Unix seconds of the latest block, and its number. */
    head: async (): Promise<{ time: bigint; number: bigint }> => {
      const { timestamp, number } = await sender.client.getBlock();
      return { time: timestamp, number };
    },
    /** The hires deposited in these blocks, both included. */
    deposits: async (fromBlock: bigint, toBlock: bigint): Promise<Hire[]> => {
      const of = { address, abi: hireEscrowAbi, eventName: "Deposited", fromBlock, toBlock } as const;
      const logs = await sender.client.getContractEvents({ ...of, strict: true });
      return logs.map(({ args }) => ({
        ...{ hireId: args.hireId, amount: args.amount, fee: args.fee, deadline: args.deadline },
        buyer: lower(args.buyer),
        seller: lower(args.seller),
        payee: lower(args.payee),
        feeRecipient: lower(args.feeRecipient),
        arbiter: lower(args.arbiter),
      }));
    },
    /**
     * The transaction that deposited or settled an escrow, if it is in the last `blocks` blocks. Throws if the RPC
     * refuses to search all of them.
     */
    findEvent: async (id: Hex, what: "deposit" | "settlement", blocks = 5_000n): Promise<Hex | undefined> => {
      const head = await sender.client.getBlockNumber();
      const look = async (fromBlock: bigint, to: bigint): Promise<Hex | undefined> => {
        // The node that answers may be ahead of the one that gave the head.
        const toBlock = to === head ? "latest" : to;
        for (const eventName of EVENTS[what]) {
          const of = { address, abi: hireEscrowAbi, eventName, args: { escrowId: id } } as const;
          const [log] = await sender.client.getContractEvents({ ...of, fromBlock, toBlock });
          if (log) return log.transactionHash;
        }
        return undefined;
      };
      return await findNewest(look, { head, blocks });
    },

    /** Sent by the buyer itself, which has given the escrow an allowance. */
    deposit: (hire: Hire) => send("deposit", [hire]),
    depositWithAuthorization: (hire: Hire, { validAfter, validBefore, signature }: DepositAuthorization) =>
      send("depositWithAuthorization", [hire, validAfter, validBefore, signature]),
    depositWithPermit: (hire: Hire, permit: DepositPermit) =>
      send("depositWithPermit", [
        hire,
        permit.permitValue,
        permit.permitDeadline,
        permit.permitSignature,
        permit.signature,
      ]),
    markDelivered: (hire: Hire, resultHash: Hex = ZERO_HASH, signature: Hex = BY_SENDER) =>
      send("markDelivered", [hire, resultHash, signature]),
    release: (hire: Hire, signature: Hex = BY_SENDER) => send("release", [hire, signature]),
    split: (hire: Hire, toSeller: bigint, signature: Hex = BY_SENDER) =>
      send("split", [hire, toSeller, signature]),
    refund: (hire: Hire, signer: Address, signature: Hex = BY_SENDER) =>
      send("refund", [hire, signer, signature]),
    /** Sent by anybody, from the deadline on. */
    timeoutRefund: (hire: Hire) => send("timeoutRefund", [hire]),
    ...batchesOf(sender, address),
    /** Pays an account the credit that the token could not move to it. */
    withdraw: (account: Address) => send("withdraw", [account]),
    /** Sent by the guardian: stops deposits for this many seconds, 30 days at most. */
    pause: (seconds: bigint) => send("pause", [seconds]),
    unpause: () => send("unpause", []),
  };
}

/** What a client must have in common with an escrow. */
function checksOf(client: TransactionSender["client"], deployment: EscrowDeployment) {
  const { escrow } = deployment;
  const requireChain = chainCheck(client, deployment);
  const ask = (work: () => Promise<void>, what: string): Promise<void> =>
    work().catch((cause: unknown) => {
      throw cause instanceof ChainError
        ? cause
        : unreachable(`The chain could not be asked for ${what}.`, cause);
    });
  return {
    /** Requires that the RPC is of the escrow's chain. @throws ChainError `wrong_chain`, `chain_unreachable` */
    requireChain: () => ask(requireChain, "its number"),
    /** Requires that the escrow holds this token. @throws ChainError `wrong_token`, `chain_unreachable` */
    requireToken: (token: Address) => ask(tokenCheck(client, { escrow, token }), "the escrow's token"),
  };
}

/** Batches of calls, with what a keeper has to know of them. */
function batchesOf(sender: TransactionSender, address: Address) {
  return {
    /**
     * Many calls of the contract in one transaction, as {@link encodeEscrowCall} writes them. A failing call is
     * left out, and calls for which the gas is not enough are not tried. The result says which.
     *
     * @param gasEach the gas of each item; 1,000,000 where a contract wallet verifies ({@link GAS_EACH_CONTRACT})
     * @param waitMs milliseconds to wait until it is mined. Default 180,000
     */
    batch: async (
      items: readonly Hex[],
      gasEach: bigint = GAS_EACH,
      waitMs?: number,
    ): Promise<BatchOutcome> => {
      const call = { address, abi: hireEscrowAbi, functionName: "batch", args: [items, gasEach] };
      const receipt = await sender.sendAndWait({ ...call, gas: batchGas(items, gasEach) }, waitMs);
      return readBatchOutcome(receipt, address, items.length);
    },
    /** The gas that a batch of these items would have used after this block, without its transaction. @throws ChainError */
    gasOfBatch: async (items: readonly Hex[], gasEach: bigint, blockNumber: bigint): Promise<bigint> => {
      const [data, gas] = [encodeEscrowCall("batch", [items, gasEach]), batchGas(items, gasEach)];
      return (await tryCall(sender.client, { to: address, data, gas, blockNumber })).gasUsed;
    },
    /**
     * The batches that were sent and may still be mined, also those of an earlier process if the sender has a store.
     * `mined` is rejected if the batch is never mined.
     */
    unminedBatches: async (): Promise<{ items: readonly Hex[]; mined: Promise<unknown> }[]> =>
      (await sender.unmined())
        .filter(({ to }) => to === address)
        .map(({ data, mined }) => ({ items: itemsOf(data), mined })),
  };
}

/** The items of a batch; none for another transaction. */
function itemsOf(data: Hex): readonly Hex[] {
  const { functionName, args } = decodeFunctionData({ abi: hireEscrowAbi, data });
  return functionName === "batch" ? args[0] : [];
}

function lower(address: string): Address {
  return address.toLowerCase() as Address;
}
