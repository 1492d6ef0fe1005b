import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import type { Chain, PublicClient, Transport } from "viem";
import { zeroAddress } from "viem";

/** The last anchored state of a ledger, as the contract has it. */
export type AnchoredHead = { root: Hex; size: bigint; time: bigint; seq: bigint };

/** An open ledger, as its contract has it. */
export type LedgerState = {
  writer: Address;
  head: AnchoredHead;
  isEquivocated: boolean;
  /**
   * The announced next writer, when it may accept (unix seconds), and whether nothing can be anchored until then; null when
   * nobody is announced.
   */
  announced: { next: Address; readyAt: bigint; halted: boolean } | null;
  /**
   * The size up to which the asking account wrote the ledger before another writer followed; null when it never wrote it.
   */
  formerSize: bigint | null;
};

/** A ledger, as its contract has it at one block. */
export type LedgerOnChain = {
  /** `time` in unix seconds. */
  block: { number: bigint; time: bigint };
  /** Undefined when the ledger is not open. */
  ledger: LedgerState | undefined;
  /**
   * The head some blocks earlier. A reorganization should not reach it. Undefined when the ledger was not open then, or
   * when the node does not have that state.
   */
  confirmed: { size: bigint; root: Hex } | undefined;
};

export type ReadLedgerParameters = {
  /** A client without a cache, because a block that is some seconds old is not the latest. */
  client: PublicClient<Transport, Chain | undefined>;
  chainId: number;
  contract: Address;
  ledgerId: Hex;
  /** How many blocks must follow an anchor until it counts as confirmed. */
  confirmations: number;
  /** The asking account. The answer also says whether this account was the writer before. */
  asker?: Address;
};

/**
 * Reads a ledger from its contract at the latest block. Every call names the block, because nodes behind a
 * balancer may be at different blocks, and their answers must not be mixed.
 *
 * @throws TallystickError `wrong_chain`; errors of the RPC are passed on unchanged
 */
export async function readLedgerOnChain(parameters: ReadLedgerParameters): Promise<LedgerOnChain> {
  const { client, chainId, contract, ledgerId, confirmations, asker } = parameters;
  const target = { address: contract, abi: anchoredLedgerAbi, args: [ledgerId] } as const;
  const [actual, block] = await Promise.all([client.getChainId(), client.getBlock({ blockTag: "latest" })]);
  if (actual !== chainId) {
    throw new TallystickError({
      code: "wrong_chain",
      message: `RPC_URL leads to chain ${actual}, not to chain ${chainId}.`,
      hint: "Set CHAIN_ID and RPC_URL to the same chain.",
    });
  }
  const at = (blockNumber: bigint) => ({ ...target, blockNumber });
  const now = { number: block.number, time: block.timestamp };
  const writer = lower(await client.readContract({ ...at(block.number), functionName: "writerOf" }));
  if (writer === zeroAddress) return { block: now, ledger: undefined, confirmed: undefined };
  const [head, isEquivocated, [next, readyAt, halted], formerSize, confirmed] = await Promise.all([
    client.readContract({ ...at(block.number), functionName: "head" }),
    client.readContract({ ...at(block.number), functionName: "isEquivocated" }),
    client.readContract({ ...at(block.number), functionName: "announcedWriter" }),
    asker === undefined || asker === writer ? null : readFormer(asker),
    readConfirmed(block.number - BigInt(confirmations)),
  ]);
  return {
    block: now,
    ledger: {
      writer,
      head,
      isEquivocated,
      announced: next === zeroAddress ? null : { next: lower(next), readyAt, halted },
      formerSize,
    },
    confirmed: confirmations === 0 ? head : confirmed,
  };

  async function readConfirmed(blockNumber: bigint): Promise<{ size: bigint; root: Hex } | undefined> {
    if (confirmations === 0 || blockNumber < 0n) return undefined;
    return client.readContract({ ...at(blockNumber), functionName: "head" }).catch(() => undefined);
  }

  async function readFormer(account: Address): Promise<bigint | null> {
    const args = [ledgerId, account] as const;
    const call = { ...at(block.number), functionName: "formerWriter", args } as const;
    const [size, until] = await client.readContract(call);
    return until === 0n ? null : size;
  }
}

function lower(address: Hex): Address {
  return address.toLowerCase() as Address;
}
