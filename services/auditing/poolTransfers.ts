import { testUsdcAbi } from "tallystick-protocol/abi/testUsdcAbi";
import type { Address } from "tallystick-protocol/address";
import {
  type Authorization,
  transferWithAuthorizationTypedData,
} from "tallystick-protocol/escrow/authorization";
import type { Hex } from "tallystick-protocol/hex";
import type { Log } from "tallystick-runtime/stderrLog";
import { type PaymentNetwork, tokenDomainOf } from "tallystick-sdk/chain/paymentNetwork";
import type { TransactionSender } from "tallystick-sdk/chain/transactionSender";
import type { LocalAccount } from "viem";

/** The content of a transfer. `amount`: atomic units as a decimal string. */
export type Transfer = { auditor: Address; amount: string; nonce: Hex };

/** A transfer that anybody can carry out until `validBefore`, in unix seconds of the chain's clock. */
export type SignedTransfer = Transfer & { validBefore: number; signature: Hex };

/** Signs a pool's transfers (EIP-3009), sends them, and knows which of them are pending. */
export function createPoolTransfers(parameters: {
  pool: LocalAccount;
  network: PaymentNetwork;
  sender: TransactionSender;
  /** How long a signature can be used, in seconds. */
  validSeconds: number;
  log: Log;
}) {
  const { pool, network, sender, validSeconds, log } = parameters;
  const from = pool.address.toLowerCase() as Address;
  /** The transactions that this process sent, by nonce. They may still be pending. */
  const sent = new Map<Hex, Hex>();

  return {
    sign: async <It extends Transfer>(transfer: It, chainTime: number): Promise<It & SignedTransfer> => {
      const { auditor: to, amount, nonce } = transfer;
      const validBefore = chainTime + validSeconds;
      const authorization: Authorization = {
        ...{ from, to, value: BigInt(amount), validAfter: 0n, validBefore: BigInt(validBefore), nonce },
      };
      const typedData = transferWithAuthorizationTypedData(authorization, tokenDomainOf(network));
      return { ...transfer, validBefore, signature: await pool.signTypedData(typedData) };
    },
    /** Tries to send a transfer. If that fails, the next round checks it and sends it again. */
    send: async ({ auditor, amount, validBefore, nonce, signature }: SignedTransfer): Promise<void> => {
      const args = [from, auditor, BigInt(amount), 0n, BigInt(validBefore), nonce, signature];
      const functionName = "transferWithAuthorization";
      try {
        sent.set(nonce, await sender.send({ address: network.token, abi: testUsdcAbi, functionName, args }));
      } catch (error) {
        log("A payment to an auditor could not be sent.", { auditor, amount, error });
      }
    },
    /** Whether this process sent the transfer with this nonce, and its transaction was neither dropped nor reverted. */
    isOnItsWay: async (nonce: Hex): Promise<boolean> => {
      const hash = sent.get(nonce);
      if (hash === undefined) return false;
      // The sender may have sent the transaction again at another gas price. Then the chain does not know the first
      // hash.
      if (sender.isUnmined(hash)) return true;
      const { client } = sender;
      const isKnown = await client.getTransaction({ hash }).then(
        () => true,
        () => false,
      );
      if (!isKnown) return false;
      const receipt = await client.getTransactionReceipt({ hash }).catch(() => undefined);
      return receipt?.status !== "reverted";
    },
    forget: (nonce: Hex): boolean => sent.delete(nonce),
  };
}
