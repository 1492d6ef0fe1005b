import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import {
  type Authorization,
  receiveWithAuthorizationTypedData,
  transferWithAuthorizationTypedData,
} from "tallystick-protocol/escrow/authorization";
import {
  escrowId,
  type Hire,
  markDeliveredTypedData,
  refundTypedData,
  releaseTypedData,
} from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import {
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  keccak256,
  toHex,
} from "viem";
import { localTransport } from "../processes/localTransport.ts";
import { type Actor, actors } from "./actors.ts";
import { TICK_BLOCKS } from "./services.ts";
import type { DemoNode } from "./startDemoNode.ts";

/** Money held for a hire. */
export type Escrow = { hire: Hire; id: Hex; tx: Hex };

export type DemoChain = ReturnType<typeof createDemoChain>;

/** More gas than any call of the story needs. It is fixed, so that no estimate is necessary. */
const GAS = 1_000_000n;

/**
 * The agents' actions on the chain. Agents only sign. The relayer sends and pays, like a facilitator of x402.
 * Everything is a real transaction. Each call waits for it, and throws if it was reverted.
 */
export function createDemoChain(node: Node, signal: AbortSignal) {
  const connection = connect(node, signal);
  return {
    client: connection.client,
    now: connection.now,
    ...tokenVerbs(connection, node.deployment),
    ...escrowVerbs(connection, node.deployment),
    ...timeVerbs(connection),
    ...ledgerVerbs(connection, node),
  };
}

type Node = Pick<DemoNode, "rpcUrl" | "deployment" | "ledger">;
type Deployment = DemoNode["deployment"];
type Connection = ReturnType<typeof connect>;

const usdcOf = ({ chainId, token }: Deployment) => ({ name: "USD Coin", version: "2", chainId, token });

function connect(node: Node, signal: AbortSignal) {
  const { chainId } = node.deployment;
  const chain = defineChain({
    id: chainId,
    name: "demo",
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [node.rpcUrl] } },
  });
  const transport = localTransport(node.rpcUrl, { signal });
  const client = createPublicClient({ chain, transport, cacheTime: 0 });
  let authorizations = 0;

  const rpc = (method: string, params: unknown[]) =>
    client.request({ method, params } as never) as Promise<unknown>;

  /** Sends a transaction of an actor, and returns its hash. @throws TallystickError when it was reverted */
  async function send(by: Actor, to: Address, data: Hex): Promise<Hex> {
    const wallet = createWalletClient({ account: by.account, chain, transport });
    const nonce = await client.getTransactionCount({ address: by.address });
    const fees = { maxFeePerGas: 10_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
    const hash = await wallet.sendTransaction({ to, data, nonce, gas: GAS, type: "eip1559", ...fees });
    const receipt = await client.getTransactionReceipt({ hash });
    if (receipt.status === "success") return hash;
    throw new TallystickError({
      code: "demo_transaction_reverted",
      message: `Transaction ${hash} was reverted.`,
    });
  }

  async function now(): Promise<bigint> {
    return (await client.getBlock()).timestamp;
  }

  async function authorization(from: Actor, to: Address, value: bigint, nonce?: Hex): Promise<Authorization> {
    const unique = nonce ?? keccak256(toHex(`authorization ${authorizations++} of ${from.address}`));
    return {
      from: from.address,
      to,
      value,
      validAfter: 0n,
      validBefore: (await now()) + 3_600n,
      nonce: unique,
    };
  }

  return { client, rpc, send, now, authorization };
}

function tokenVerbs({ send, authorization }: Connection, deployment: Deployment) {
  const { token } = deployment;
  const usdc = usdcOf(deployment);
  return {
    /** Mints money for an agent. Only a test token allows this. */
    mint: (to: Actor, value: bigint) =>
      send(
        actors.relayer,
        token,
        encodeFunctionData({ abi: testUsdcAbi, functionName: "mint", args: [to.address, value] }),
      ),

    /** A plain transfer, which pays for nothing. */
    transfer: (from: Actor, to: Actor, value: bigint) =>
      send(
        from,
        token,
        encodeFunctionData({ abi: testUsdcAbi, functionName: "transfer", args: [to.address, value] }),
      ),

    /** A direct payment: the buyer signs an EIP-3009 authorization, and the relayer submits it. */
    pay: async (buyer: Actor, seller: Actor, value: bigint): Promise<Hex> => {
      const it = await authorization(buyer, seller.address, value);
      const signature = await buyer.account.signTypedData(transferWithAuthorizationTypedData(it, usdc));
      const data = encodeFunctionData({
        abi: testUsdcAbi,
        functionName: "transferWithAuthorization",
        args: [it.from, it.to, it.value, it.validAfter, it.validBefore, it.nonce, signature],
      });
      return await send(actors.relayer, token, data);
    },
  };
}

function escrowVerbs({ send, authorization }: Connection, deployment: Deployment) {
  const { hireEscrow, chainId } = deployment;
  const usdc = usdcOf(deployment);
  const escrows = { chainId, escrow: hireEscrow.address };
  const callEscrow = (call: Parameters<typeof encodeFunctionData<typeof hireEscrowAbi>>[0]) =>
    send(actors.relayer, hireEscrow.address, encodeFunctionData(call));

  return {
    /** Puts money into escrow by one signature of the buyer. The signature's nonce is the digest of the terms. */
    deposit: async (terms: {
      buyer: Actor;
      seller: Actor;
      amount: bigint;
      hireId: Hex;
      deadline: bigint;
    }): Promise<Escrow> => {
      const { buyer, seller, amount, hireId, deadline } = terms;
      const hire: Hire = {
        hireId,
        buyer: buyer.address,
        seller: seller.address,
        payee: ZERO_ADDRESS,
        amount,
        fee: 0n,
        feeRecipient: ZERO_ADDRESS,
        deadline,
        arbiter: ZERO_ADDRESS,
      };
      const id = escrowId(hire, escrows);
      const it = await authorization(buyer, hireEscrow.address, amount, id);
      const signature = await buyer.account.signTypedData(receiveWithAuthorizationTypedData(it, usdc));
      const tx = await callEscrow({
        abi: hireEscrowAbi,
        functionName: "depositWithAuthorization",
        args: [hire, it.validAfter, it.validBefore, signature],
      });
      return { hire, id, tx };
    },

    /** The seller says on the chain that it has delivered. */
    markDelivered: async ({ hire, id }: Escrow, seller: Actor): Promise<Hex> => {
      const resultHash = keccak256(toHex(`result of ${id}`));
      const signature = await seller.account.signTypedData(markDeliveredTypedData(id, escrows, resultHash));
      return await callEscrow({
        abi: hireEscrowAbi,
        functionName: "markDelivered",
        args: [hire, resultHash, signature],
      });
    },

    /** The buyer accepts the work, and the seller is paid. */
    release: async ({ hire, id }: Escrow, buyer: Actor): Promise<Hex> => {
      const signature = await buyer.account.signTypedData(releaseTypedData(id, escrows));
      return await callEscrow({ abi: hireEscrowAbi, functionName: "release", args: [hire, signature] });
    },

    /** The buyer refuses the work, and the money goes back. */
    refund: async ({ hire, id }: Escrow, buyer: Actor): Promise<Hex> => {
      const signature = await buyer.account.signTypedData(refundTypedData(id, buyer.address, escrows));
      return await callEscrow({
        abi: hireEscrowAbi,
        functionName: "refund",
        args: [hire, buyer.address, signature],
      });
    },

    /** Nobody acted until the deadline, so anybody may send the money back. */
    timeoutRefund: ({ hire }: Escrow): Promise<Hex> =>
      callEscrow({ abi: hireEscrowAbi, functionName: "timeoutRefund", args: [hire] }),
  };
}

function timeVerbs({ client, rpc }: Connection) {
  return {
    /** Lets time pass on the chain. */
    passTime: async (seconds: number): Promise<void> => {
      await rpc("evm_increaseTime", [seconds]);
      await rpc("evm_mine", []);
    },

    /** Sets the time of the next block, in unix seconds. Later blocks continue from there. */
    setNextTime: async (time: number): Promise<void> => {
      await rpc("evm_setNextBlockTimestamp", [time]);
    },

    /** Mines up to the next tick of the indexer, at least one block. Returns the tick's block number. */
    mineToTick: async (): Promise<number> => {
      const block = Number(await client.getBlockNumber());
      const blocks = TICK_BLOCKS - (block % TICK_BLOCKS);
      // Blocks are mined one by one. If hardhat_mine makes more than a few at once, their parent hashes do not
      // match. An indexer then sees a reorg that is deeper than finality.
      for (let n = 0; n < blocks; n++) await rpc("evm_mine", []);
      return block + blocks;
    },
  };
}

function ledgerVerbs({ client }: Connection, { deployment, ledger }: Node) {
  const { anchoredLedger, chainId } = deployment;
  return {
    /** The ledger's head as the contract has it. */
    anchoredHead: async (): Promise<{ size: number; root: Hex; seq: bigint }> => {
      const { size, root, seq } = await client.readContract({
        address: anchoredLedger,
        abi: anchoredLedgerAbi,
        functionName: "head",
        args: [ledger],
      });
      return { size: Number(size), root, seq };
    },

    /** Sends a call that the contract will refuse, without simulating it first. Returns the receipt's status. */
    sendUnchecked: async (to: Address, data: Hex): Promise<{ hash: Hex; status: "success" | "reverted" }> => {
      const nonce = await client.getTransactionCount({ address: actors.relayer.address });
      const fees = { maxFeePerGas: 10_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
      const transaction = { chainId, to, data, nonce, gas: GAS, type: "eip1559", ...fees } as const;
      const signed = await actors.relayer.account.signTransaction(transaction);
      // Hardhat answers a reverted transaction with an error. The transaction is in a block anyway.
      await client.sendRawTransaction({ serializedTransaction: signed }).catch(() => {});
      const hash = keccak256(signed);
      return { hash, status: (await client.getTransactionReceipt({ hash })).status };
    },
  };
}
