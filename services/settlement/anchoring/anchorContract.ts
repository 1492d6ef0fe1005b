import { setTimeout as sleep } from "node:timers/promises";
import { anchoredLedgerAbi } from "tallystick-protocol/abi/anchoredLedgerAbi";
import type { Address } from "tallystick-protocol/address";
import { TallystickError } from "tallystick-protocol/errors";
import type { Hex } from "tallystick-protocol/hex";
import { replacementFees, type TransactionFees } from "tallystick-protocol/replacementFees";
import {
  type Account,
  type Chain,
  createPublicClient,
  createWalletClient,
  defineChain,
  encodeFunctionData,
  type PublicClient,
  type Transport,
  type WalletClient,
} from "viem";
import { type LedgerOnChain, readLedgerOnChain } from "./readLedgerOnChain.ts";

/** What anchoring needs from a chain. */
export type AnchorContract = {
  /** What the contract says of the ledger at the latest block. */
  read: () => Promise<LedgerOnChain>;
  /**
   * Opens the ledger and waits until it is open.
   *
   * @throws TallystickError `not_open` when the present writer is not the first one, because only the first
   * writer can open a ledger
   */
  open: () => Promise<void>;
  /** Anchors, and waits for the transaction. Returns its hash. `seq` is the number that this anchor gets. */
  anchor: (parameters: NextAnchor) => Promise<Hex>;
};

/** The content of the next anchor. */
export type NextAnchor = { seq: bigint; size: bigint; root: Hex; proof: Hex[] };

export type AnchorContractParameters = {
  transport: Transport;
  /** Sends the transactions and pays for them. Nothing else may use its nonces while a ledger runs. */
  account: Account;
  /** The writer of the ledger; and its first writer, if that is another account. */
  writer: Address;
  firstWriter?: Address;
  /** Signs an anchor for the writer. Needed if another account sends the anchors. */
  sign?: (anchor: Omit<NextAnchor, "proof">) => Promise<Hex>;
  chainId: number;
  contract: Address;
  ledgerId: Hex;
  origin: string;
  /** How many blocks must follow an anchor until it counts as confirmed. Default 0. */
  confirmations?: number;
  /** The account that may announce another writer, as in the ledger's id; the zero address for nobody. */
  guardian: Address;
  /** How often to look for a receipt, in milliseconds. */
  pollingIntervalMs?: number;
  /** How long to wait for a receipt before the transaction is sent again at a higher price, in milliseconds. */
  receiptTimeoutMs?: number;
};

/** A transaction that is not mined yet. `isForeign`: an earlier process sent it, at an unknown price. */
type Unmined = TransactionFees & { nonce: number; isForeign: boolean };

/** An AnchoredLedger on a chain, by JSON-RPC. One transaction is in flight at a time. */
export function anchorContract(parameters: AnchorContractParameters): AnchorContract {
  const { transport, account, chainId, contract, ledgerId, origin, guardian, writer, sign } = parameters;
  const { firstWriter = writer } = parameters;
  const { confirmations = 0, pollingIntervalMs = 1_000, receiptTimeoutMs = 60_000 } = parameters;
  const chain = defineChain({
    id: chainId,
    name: `chain ${chainId}`,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [] } },
  });
  const client: PublicClient<Transport, Chain> = createPublicClient({
    chain,
    transport,
    pollingInterval: pollingIntervalMs,
    // Without a cache: a head that is some seconds old would give the wrong size.
    cacheTime: 0,
  });
  const wallet: WalletClient<Transport, Chain, Account> = createWalletClient({ account, chain, transport });
  const target = { address: contract, abi: anchoredLedgerAbi } as const;
  let unmined: Unmined | undefined;

  /** Sends a call and waits for it. If nobody mines it, the next transaction replaces it at a higher price. */
  async function send(data: Hex): Promise<Hex> {
    // Simulated on the mined state, because the pending state may contain an anchor of ours that still waits.
    const estimate = await client.estimateGas({ account, to: contract, data, blockTag: "latest" });
    const gas = (estimate * 6n) / 5n;
    const { nonce, isForeign } = await nextNonce();
    const call = { to: contract, data, gas, nonce, type: "eip1559" } as const;
    const { maxFeePerGas, maxPriorityFeePerGas } = await wallet.prepareTransactionRequest(call);
    const now: TransactionFees = { maxFeePerGas, maxPriorityFeePerGas };
    const fees = unmined?.nonce === nonce ? replacementFees(now, unmined) : now;
    // If this transaction pays too little to replace the other one, the next attempt pays more.
    if (isForeign) unmined = { nonce, ...fees, isForeign };
    const hash = await wallet.sendTransaction({ to: contract, data, gas, nonce, ...fees });
    unmined = { nonce, ...fees, isForeign: false };
    const receipt = await client.waitForTransactionReceipt({ hash, timeout: receiptTimeoutMs });
    unmined = undefined;
    if (receipt.status !== "success") {
      throw new TallystickError({
        code: "anchor_reverted",
        message: `Transaction ${receipt.transactionHash} was refused by the contract.`,
        hint: "The head on chain changed meanwhile. The service reads it again.",
      });
    }
    return receipt.transactionHash;
  }

  /**
   * The nonce of the transaction that nobody has mined yet, or the next nonce. A transaction of an earlier process gets
   * as much time as one of ours. After that time it is replaced too, because all later transactions would wait for it.
   */
  async function nextNonce(): Promise<{ nonce: number; isForeign: boolean }> {
    const count = (blockTag: "latest" | "pending") =>
      client.getTransactionCount({ address: account.address, blockTag });
    const mined = await count("latest");
    if (unmined && mined <= unmined.nonce) return unmined;
    const end = performance.now() + receiptTimeoutMs;
    for (;;) {
      const [free, nonce] = await Promise.all([count("pending"), count("latest")]);
      const isForeign = free > nonce;
      if (!isForeign || performance.now() > end) return { nonce, isForeign };
      await sleep(pollingIntervalMs);
    }
  }

  return {
    read: () => readLedgerOnChain({ client, chainId, contract, ledgerId, confirmations, asker: writer }),
    open: async () => {
      if (firstWriter !== writer) {
        throw new TallystickError({
          code: "not_open",
          message: `The contract has no ledger ${ledgerId}, so ${writer} cannot continue it.`,
          hint: "Set LEDGER_FIRST_WRITER, LEDGER_GUARDIAN, LEDGER_ORIGIN and ANCHORED_LEDGER as the first writer had them.",
        });
      }
      const args = [origin, writer, guardian] as const;
      await client.simulateContract({ ...target, account, functionName: "open", args });
      await send(encodeFunctionData({ ...target, functionName: "open", args }));
    },
    anchor: async ({ seq, size, root, proof }) => {
      const isSender = account.address.toLowerCase() === writer;
      const signature = isSender || !sign ? "0x" : await sign({ seq, size, root });
      const args = [ledgerId, size, root, proof, signature] as const;
      // Simulates the call, so that a refusal costs nothing and has the contract's own reason.
      await client.simulateContract({ ...target, account, functionName: "anchor", args });
      return send(encodeFunctionData({ ...target, functionName: "anchor", args }));
    },
  };
}
