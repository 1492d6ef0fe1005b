import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import { escrowFee } from "tallystick-protocol/escrow/feeSchedule";
import type { Hire } from "tallystick-protocol/escrow/hire";
import { createTransactionSender } from "tallystick-sdk/chain/transactionSender";
import { createEscrowCalls, type EscrowCalls } from "tallystick-sdk/escrow/escrowCalls";
import { createEscrowSigner } from "tallystick-sdk/escrow/signEscrow";
import type { Hex } from "viem";
import { newWallet, type SdkChain, startSdkChain, type Wallet } from "../hire/sdkChain.ts";
import { hostileWallet } from "./hostileWallet.ts";

const AMOUNT = 500_000n;

/** Bytes that are as long as a key's signature, but that no key made. */
export const WORD: Hex = `0x${"5a".repeat(65)}`;

export type KeeperWorld = Awaited<ReturnType<typeof openKeeperWorld>>;

/** A chain with a keeper's account, whose gas is counted, and with people who deposit. */
export async function openKeeperWorld(shared?: SdkChain) {
  const chain = shared ?? (await startSdkChain());
  const { client, token, escrow } = chain;
  const deployment = { chainId: chain.network.chainId, escrow };
  const treasury = newWallet();
  const keeperWallet = newWallet();
  await client.setBalance({ address: keeperWallet.address, value: 10n ** 24n });
  const rpc = { chainId: chain.network.chainId, rpc: chain.transport, pollingMs: 10 };
  const ownCalls = createEscrowCalls({
    sender: createTransactionSender({ ...rpc, account: keeperWallet.account }),
    deployment,
  });
  const strangers = createEscrowCalls({ sender: chain.sender, deployment });
  const spent = { gas: 0, transactions: 0 };
  /** The keeper's own calls, with their gas counted. The keeper sends only batches. */
  const calls: EscrowCalls = {
    ...ownCalls,
    batch: async (...given) => {
      const outcome = await ownCalls.batch(...given);
      spent.gas += Number(outcome.gasUsed);
      spent.transactions++;
      return outcome;
    },
  };
  let number = 0;

  const hireOf = async (buyer: Address, changes: Partial<Hire> = {}): Promise<Hire> => ({
    hireId: `0x${(++number).toString(16).padStart(64, "0")}`,
    buyer,
    seller: newWallet().address,
    payee: ZERO_ADDRESS,
    amount: AMOUNT,
    fee: escrowFee(AMOUNT),
    feeRecipient: treasury.address,
    deadline: BigInt((await chain.now()) + 1_000_000),
    arbiter: ZERO_ADDRESS,
    ...changes,
  });
  const signerOf = ({ account }: Wallet) =>
    createEscrowSigner({ account, deployment, network: chain.network });
  const gasOf = async (hash: Hex): Promise<number> =>
    Number((await client.waitForTransactionReceipt({ hash, pollingInterval: 10 })).gasUsed);

  return {
    chain,
    calls,
    /** Calls of the contract that anybody else sends. */
    strangers,
    spent,
    treasury,
    worth: { minAmount: 10_000n, fee: { recipient: treasury.address } },
    hireOf,
    signerOf,
    /** A person with a key, and money for this many hires. */
    person: async (hires = 10): Promise<Wallet> => {
      const wallet = newWallet();
      await chain.mint(wallet, AMOUNT * BigInt(hires));
      return wallet;
    },
    held: async (buyer: Wallet, changes: Partial<Hire> = {}): Promise<Hire> => {
      const hire = await hireOf(buyer.address, changes);
      await strangers.depositWithAuthorization(hire, await signerOf(buyer).authorizeDeposit(hire));
      return hire;
    },
    /** A contract wallet with money. `gas`: of its creation and of this payment, without the base cost of the transactions. */
    wallet: async (mood = 0, hires = 10): Promise<{ address: Address; gas: number }> => {
      const hash = await client.sendTransaction({ chain: null, data: hostileWallet(token, mood) });
      const receipt = await client.waitForTransactionReceipt({ hash, pollingInterval: 10 });
      const address = receipt.contractAddress?.toLowerCase() as Address;
      const minted = await chain.mint({ address }, AMOUNT * BigInt(hires));
      return { address, gas: Number(receipt.gasUsed + minted.gasUsed) - 2 * 21_000 };
    },
    /**
     * A hire that a contract wallet deposited, and the gas of the deposit without the base cost of the
     * transaction.
     */
    heldBy: async (buyer: Address, changes: Partial<Hire> = {}): Promise<{ hire: Hire; gas: number }> => {
      const hire = await hireOf(buyer, changes);
      const authorization = { validAfter: 0n, validBefore: hire.deadline, signature: WORD };
      const hash = await strangers.depositWithAuthorization(hire, authorization);
      return { hire, gas: (await gasOf(hash)) - 21_000 };
    },
    feel: async (wallet: Address, mood: number): Promise<void> => {
      const data: Hex = `0x${mood.toString(16).padStart(64, "0")}`;
      await gasOf(await client.sendTransaction({ chain: null, to: wallet, data }));
    },
    statusOf: async (hire: Hire): Promise<string> => (await strangers.state(hire)).status,
    close: async () => {
      if (!shared) await chain.close();
    },
  };
}
