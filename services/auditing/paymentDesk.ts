import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { Log } from "tallystick-runtime/stderrLog";
import type { PaymentNetwork } from "tallystick-sdk/chain/paymentNetwork";
import { readPaymentState } from "tallystick-sdk/chain/paymentState";
import type { TransactionSender } from "tallystick-sdk/chain/transactionSender";
import { BudgetError } from "tallystick-sdk/errors";
import type { KeyValueStore } from "tallystick-sdk/store/keyValueStore";
import { unlessDamaged } from "tallystick-sdk/store/unlessDamaged";
import type { LocalAccount } from "viem";
import type { AuditorAccount } from "./operatorNode.ts";
import { paymentNonce } from "./paymentNonce.ts";
import type { PoolBudget } from "./periodBudget.ts";
import { createPoolTransfers, type SignedTransfer } from "./poolTransfers.ts";

/** A decided payment: stored before its signature is sent, and deleted once the payment is final on the chain. */
type Payment = SignedTransfer & {
  /** What the auditor was paid before, in atomic units. */
  paid: string;
};

/**
 * How one round ended. `settled` is the sum of the payments that became final, in atomic units. `waiting` is the number
 * of payments that are decided, and not final on the chain yet. `refused` is the number of payments that the budget
 * refused.
 */
export type PaymentRound = { settled: bigint; waiting: number; refused: number };

export type PaymentDeskParameters = {
  /** The operator's pool, which owns the money. */
  pool: LocalAccount;
  network: PaymentNetwork;
  /** Sends the transactions and pays for them. */
  sender: TransactionSender;
  store: KeyValueStore;
  budget: PoolBudget;
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
 * time. The nonce of a payment is a hash of the total that the auditor was paid before, among other values. So all
 * payments to an auditor after the same total have the same nonce, and the token accepts only one of them. After a
 * crash the next process reads the stored payments, and asks the chain which of them were made.
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
    // The payment is signed again only if its signature had expired at the last final block. Both signatures have the
    // same nonce, so the token accepts at most one of them.
    if (final.time >= payment.validBefore) {
      const again = await transfers.sign(payment, latest.time);
      await store.put(keyOf(auditor), again);
      await transfers.send(again);
    } else if (!(await transfers.isOnItsWay(nonce)) && latest.time < payment.validBefore)
      await transfers.send(payment);
    return undefined;
  }

  /**
   * Decides a payment.
   *
   * @param isPart whether to pay only a part of a debt that the budget does not allow
   * @returns whether a payment to this auditor is on its way now
   */
  async function begin({ auditor, accrued, paid }: AuditorAccount, isPart: boolean): Promise<boolean> {
    const known = await read<{ paid: string }>(`paid/${auditor}`);
    if (known === "damaged") return false;
    // The node may not have read the last payment yet. With its answer the desk could pay the same amount twice.
    if (known !== undefined && paid < BigInt(known.paid)) {
      log(
        "The node does not know a payment to this auditor yet, so this round decides no payment to the auditor.",
        {
          auditor,
          paid,
        },
      );
      return false;
    }
    const debt = accrued - paid;
    const nonce = paymentNonce(network, { pool: address, auditor, paid });
    const { isUsed, time } = await stateOf(nonce, 1);
    if (isUsed) return false;
    const amount = isPart ? await partOf(debt, nonce, parameters) : debt;
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
    /**
     * Decides payments to the auditors to whom the pool owes `least` or more. The amounts in `accounts` must be final. The
     * smallest debts are paid first, so that a large one does not use up what would have paid many. After
     * the debts that the budget allows, a part of the others is paid. Among these the auditor that was paid least comes first, so
     * that no auditor always comes after another. A part leaves enough of the budget for later debts of the period.
     */
    pay: async (accounts: readonly AuditorAccount[], signal: AbortSignal): Promise<PaymentRound> => {
      const due: AuditorAccount[] = [];
      for (const account of accounts) {
        signal.throwIfAborted();
        const isDue = account.accrued - account.paid >= least;
        if (isDue && (await read(keyOf(account.auditor))) === undefined) due.push(account);
      }
      return await payDue(due, { begin, log, signal });
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

/**
 * The part of a debt that the budget allows now. If that is less than `least`, returns the whole debt, which the
 * budget refuses.
 */
async function partOf(
  debt: bigint,
  nonce: Hex,
  { budget, least }: Pick<PaymentDeskParameters, "budget" | "least">,
): Promise<bigint> {
  // Perhaps a process reserved an amount for this payment, and ended before it decided the payment.
  await budget.giveBack(nonce);
  const left = await budget.leftForParts();
  return left < least || left > debt ? debt : left;
}

type Paying = {
  /** Decides a payment. @returns whether a payment to this auditor is on its way now */
  begin: (account: AuditorAccount, isPart: boolean) => Promise<boolean>;
  log: Log;
  signal: AbortSignal;
};

/** First decides the payments that the budget allows, and then pays a part of other debts. */
async function payDue(due: readonly AuditorAccount[], { begin, log, signal }: Paying): Promise<PaymentRound> {
  const round: PaymentRound = { settled: 0n, waiting: 0, refused: 0 };
  const tryToBegin = async (account: AuditorAccount, isPart: boolean, refuse: (error: unknown) => void) => {
    signal.throwIfAborted();
    try {
      if (await begin(account, isPart)) round.waiting++;
    } catch (error) {
      if (!(error instanceof BudgetError)) throw error;
      refuse(error);
    }
  };
  const large: AuditorAccount[] = [];
  const debtOf = ({ accrued, paid }: AuditorAccount): bigint => accrued - paid;
  for (const account of due.toSorted((a, b) => Number(debtOf(a) - debtOf(b))))
    await tryToBegin(account, false, () => large.push(account));
  for (const account of large.toSorted((a, b) => Number(a.paid - b.paid)))
    await tryToBegin(account, true, (error) => {
      round.refused++;
      log("The budget does not allow this payment to an auditor.", { auditor: account.auditor, error });
    });
  return round;
}
