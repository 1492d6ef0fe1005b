import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { Log } from "tallystick-runtime/stderrLog";
import type { Budget } from "tallystick-sdk/budget/budget";
import type { PaymentNetwork } from "tallystick-sdk/chain/paymentNetwork";
import { readPaymentState } from "tallystick-sdk/chain/paymentState";
import type { TransactionSender } from "tallystick-sdk/chain/transactionSender";
import { BudgetError } from "tallystick-sdk/errors";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { unlessDamaged } from "tallystick-sdk/store/unlessDamaged";
import type { LocalAccount } from "viem";
import type { AuditorAccount } from "./operatorNode.ts";
import { paymentNonce } from "./paymentNonce.ts";
import { createPoolTransfers, type SignedTransfer } from "./poolTransfers.ts";

/** A decided payment: stored before its signature is sent, and deleted once the payment is final on the chain. */
type Payment = SignedTransfer & {
  /** What the auditor was paid before, in atomic units. */
  paid: string;
};

/** How one round ended. `waiting`: decided, and not final on the chain yet. Amounts are atomic units. */
export type PaymentRound = { settled: bigint; waiting: number; refused: number };

export type PaymentDeskParameters = {
  /** The operator's pool, which owns the money. */
  pool: LocalAccount;
  network: PaymentNetwork;
  /** Sends the transactions and pays for them. */
  sender: TransactionSender;
  store: KeyValueStore;
  budget: Budget;
  /** The least amount that is paid, in atomic units. Smaller amounts wait, because a transfer costs gas. */
  least: bigint;
  /** The number of blocks that make a payment final. The block of the payment is the first of them. */
  confirmations: number;
  /** How long a signature can be used, in seconds. */
  validSeconds: number;
  log: Log;
};

/**
 * Pays auditors what their verdicts have earned, and nothing twice. Only one payment to an auditor is on its way at a
 * time. The nonce of a payment contains the total that the auditor was paid before. So the token itself refuses a
 * second payment. After a crash the next process continues from the chain's state.
 */
export function createPaymentDesk(parameters: PaymentDeskParameters) {
  const { pool, network, sender, store, budget, least, confirmations, log } = parameters;
  const address = pool.address.toLowerCase() as Address;
  const transfers = createPoolTransfers(parameters);
  const read = reader(store, log);
  const keyOf = (auditor: Address): string => `payment/${auditor}`;

  /** @param depth the block to read at. 1 is the newest block, 2 is the block before the newest, and so on */
  const stateOf = (nonce: Hex, depth: number) =>
    readPaymentState(sender.client, network, { payer: address, nonce }, depth);

  /** Returns the amount of a payment when it is final. Otherwise sends the payment again if that is needed. */
  async function follow(payment: Payment): Promise<bigint | undefined> {
    const { auditor, nonce } = payment;
    const final = await stateOf(nonce, confirmations);
    if (final.isUsed) {
      await budget.spend(nonce);
      await store.put(`paid/${auditor}`, { paid: String(BigInt(payment.paid) + BigInt(payment.amount)) });
      await store.delete(keyOf(auditor));
      transfers.forget(nonce);
      log("An auditor was paid.", { auditor, amount: payment.amount, nonce });
      return BigInt(payment.amount);
    }
    const latest = await stateOf(nonce, 1);
    if (latest.isUsed) return undefined;
    // If the signature has expired, the payment is signed again. Both signatures have the same nonce, so the token
    // accepts at most one of them.
    if (final.time >= payment.validBefore) {
      const again = await transfers.sign(payment, latest.time);
      await store.put(keyOf(auditor), again);
      await transfers.send(again);
    } else if (!(await transfers.isOnItsWay(nonce)) && latest.time < payment.validBefore)
      await transfers.send(payment);
    return undefined;
  }

  /** Decides a payment. @returns whether a payment to this auditor is on its way now */
  async function begin({ auditor, accrued, paid }: AuditorAccount): Promise<boolean> {
    const known = await read<{ paid: string }>(`paid/${auditor}`);
    if (known === "damaged") return false;
    // The node may not have read the last payment yet. Its answer would then cause a second payment.
    if (known !== undefined && paid < BigInt(known.paid)) {
      log("The node does not know a payment that was made, so its figures are not used for payments.", {
        auditor,
        paid,
      });
      return false;
    }
    const amount = accrued - paid;
    const nonce = paymentNonce(network, { pool: address, auditor, paid });
    const { isUsed, time } = await stateOf(nonce, 1);
    if (isUsed) return false;
    await budget.reserve(nonce, amount);
    const payment = await transfers.sign(
      { auditor, paid: String(paid), amount: String(amount), nonce },
      time,
    );
    if (!(await store.putNew(keyOf(auditor), payment))) return true;
    await transfers.send(payment);
    return true;
  }

  return {
    /** Follows the payments on their way. */
    follow: async (signal: AbortSignal): Promise<PaymentRound> => {
      const round: PaymentRound = { settled: 0n, waiting: 0, refused: 0 };
      for (const key of await store.keys("payment")) {
        signal.throwIfAborted();
        const payment = await read<Payment>(key);
        if (payment === undefined) continue;
        const settled = payment === "damaged" ? undefined : await follow(payment);
        if (settled === undefined) round.waiting++;
        else round.settled += settled;
      }
      return round;
    },
    /** Decides payments to the auditors to whom the pool owes `least` or more. The amounts in `accounts` must be final. */
    pay: async (accounts: readonly AuditorAccount[], signal: AbortSignal): Promise<PaymentRound> => {
      const round: PaymentRound = { settled: 0n, waiting: 0, refused: 0 };
      for (const account of accounts) {
        signal.throwIfAborted();
        if (account.accrued - account.paid < least) continue;
        if ((await read(keyOf(account.auditor))) !== undefined) continue;
        try {
          if (await begin(account)) round.waiting++;
        } catch (error) {
          if (!(error instanceof BudgetError)) throw error;
          round.refused++;
          log("The budget does not allow this payment to an auditor.", { auditor: account.auditor, error });
        }
      }
      return round;
    },
  };
}

/**
 * Returns a function that reads what is stored about payments to an auditor. While this is damaged, nobody knows what was paid,
 * and nothing is paid.
 */
function reader(store: KeyValueStore, log: Log) {
  return async <T>(key: string): Promise<T | "damaged" | undefined> => {
    let isDamaged = false;
    const value = await unlessDamaged(store.get<T>(key), (error) => {
      isDamaged = true;
      log("An auditor is paid nothing, because a file about its payments cannot be read.", { key, error });
    });
    return isDamaged ? "damaged" : value;
  };
}

export type PaymentDesk = ReturnType<typeof createPaymentDesk>;
