import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { rpcTransport } from "tallystick-sdk/net/rpcTransport";
import { anchorsIn } from "tallystick-sdk/proof/anchorsIn";
import { ledgerContractFault } from "tallystick-sdk/proof/ledgerContractFault";
import { createPublicClient, type TransactionReceipt } from "viem";

/** The questions of a verification to a chain. */
export type AuditChain = ReturnType<typeof openAuditChain>;

/** The head of a ledger in its contract after a block. */
export type LedgerHead = { size: number; root: Hex };

const TIMEOUT_MS = 30_000;
const [TRANSFER, AUTHORIZATION_USED] = [
  // keccak256 of Transfer(address,address,uint256), and of AuthorizationUsed(address,bytes32).
  "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef",
  "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5",
];

/** A transfer of a token, as a transaction's receipt has it. */
export type ChainTransfer = {
  block: number;
  log: number;
  from: string;
  to: string;
  value: bigint;
  authorized: boolean;
};

/** @param rpcUrl the RPC of a trusted node of the chain */
export function openAuditChain(rpcUrl: string) {
  const client = createPublicClient({
    transport: rpcTransport(rpcUrl, { timeout: TIMEOUT_MS, retryCount: 2 }),
  });
  const ask = async <T>(what: () => Promise<T>): Promise<T> => {
    try {
      return await what();
    } catch (cause) {
      throw new TallystickError({
        code: "chain_unavailable",
        message: `The chain could not be asked: ${(cause as Error).message.split("\n")[0]}`,
        hint: "Check --rpc. It must have the latest hundred blocks with their state.",
        cause,
      });
    }
  };
  const receiptOf = (tx: Hex): Promise<TransactionReceipt | null> =>
    ask(async () => {
      try {
        return await client.getTransactionReceipt({ hash: tx });
      } catch (error) {
        if ((error as Error).name === "TransactionReceiptNotFoundError") return null;
        throw error;
      }
    });
  return {
    chainId: () => ask(() => client.getChainId()),
    blockHash: (block: number) =>
      ask(async () => (await client.getBlock({ blockNumber: BigInt(block) })).hash as Hex),
    /**
     * The transfers of a token in a transaction; none if it failed, does not exist, or came after the block
     * `upTo`.
     */
    transfers: async (tx: Hex, token: Address, upTo: number): Promise<ChainTransfer[]> => {
      const receipt = await receiptOf(tx);
      if (receipt === null || receipt.status !== "success" || receipt.blockNumber > BigInt(upTo)) return [];
      return transfersIn(receipt, token);
    },
    /**
     * The contracts that say in a transaction that they anchored a ledger. Any contract can say so; only the ledger's
     * id shows which one is its contract.
     */
    anchoredBy: async (ledger: string, tx: Hex): Promise<Address[]> => {
      const receipt = await receiptOf(tx);
      const anchors = anchorsIn(receipt?.logs ?? []).filter(({ args }) => args.ledgerId === ledger);
      return anchors.map(({ address }) => address.toLowerCase() as Address);
    },
    /** Why the answers of a ledgers' contract do not count; null if they do. */
    contractFault: (address: Address, block: number): Promise<string | null> =>
      ask(async () => {
        const chainId = await client.getChainId();
        return await ledgerContractFault(client, { chainId, address, block: BigInt(block) });
      }),
    headOf: (contract: Address, ledger: Hex, block: number): Promise<LedgerHead> =>
      ask(async () => {
        const call = {
          address: contract,
          abi: anchoredLedgerAbi,
          functionName: "head",
          args: [ledger],
        } as const;
        const { size, root } = await client.readContract({ ...call, blockNumber: BigInt(block) });
        return { size: Number(size), root };
      }),
    hasEscrow: (escrow: Address, id: Hex, block: number): Promise<boolean> =>
      ask(async () => {
        const call = { address: escrow, abi: hireEscrowAbi, functionName: "stateOf", args: [id] } as const;
        return (await client.readContract({ ...call, blockNumber: BigInt(block) })).status !== 0;
      }),
  };
}

function transfersIn({ logs, blockNumber }: TransactionReceipt, token: Address): ChainTransfer[] {
  const block = Number(blockNumber);
  const own = logs.filter(({ address }) => address.toLowerCase() === token);
  const address = (topic: string | undefined) => `0x${topic?.slice(-40)}`;
  return own.flatMap((it) => {
    const [kind, from, to] = it.topics;
    if (kind !== TRANSFER) return [];
    const authorized = own.some(
      ({ logIndex, topics }) =>
        logIndex === (it.logIndex ?? 0) - 1 &&
        topics[0] === AUTHORIZATION_USED &&
        address(topics[1]) === address(from),
    );
    const value = BigInt(it.data === "0x" ? 0 : it.data);
    return [{ block, log: it.logIndex ?? 0, from: address(from), to: address(to), value, authorized }];
  });
}
