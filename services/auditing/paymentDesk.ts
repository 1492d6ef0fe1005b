import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { Log } from "tallystick-runtime/stderrLog";
import { budgetExceeded } from "tallystick-sdk/budget/budget";
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

  /** Whether a payment to an auditor can be decided: none is on its way, and the node knows all that were made. */
  async function isFree({ auditor, paid }: AuditorAccount): Promise<boolean> {
    if ((await read(keyOf(auditor))) !== undefined) return false;
    const known = await read<{ paid: string }>(`paid/${auditor}`);
    if (known === "damaged") return false;
    // The node may not have read the last payment yet. With its answer the desk could pay the same amount twice.
    if (known === undefined || paid >= BigInt(known.paid)) return true;
    const message =
      "The node does not know a payment to this auditor yet, so this round decides no payment to the auditor.";
    log(message, { auditor, paid });
    return false;
  }

  /**
   * Decides a payment to an auditor that {@link isFree}.
   *
   * @param part undefined: the whole debt is paid
   * @returns whether a payment to this auditor is on its way now
   */
  async function begin({ auditor, accrued, paid }: AuditorAccount, part?: Part): Promise<boolean> {
    const debt = accrued - paid;
    const nonce = paymentNonce(network, { pool: address, auditor, paid });
    const { isUsed, time } = await stateOf(nonce, 1);
    if (isUsed) return false;
    const amount = part === undefined ? debt : await partOf(debt, nonce, part, parameters);
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
     * Decides payments to the auditors to whom the pool owes `least` or more. The amounts in `accounts` must be final.
     * Every auditor has the same share of the budget, and what one does not need is shared by the others. So a debt of
     * nearly the whole budget does not use up what would have paid many. A debt above its share is paid in parts, before all
     * others, the largest first and at most ten at once, so that many debts do not get crumbs. So somebody who earns with many keys cannot take all that a large debt would get. The parts
     * leave the others what they are owed, and enough of the budget for later debts of the period.
     */
    pay: async (accounts: readonly AuditorAccount[], signal: AbortSignal): Promise<PaymentRound> => {
      const due: AuditorAccount[] = [];
      for (const account of accounts) {
        signal.throwIfAborted();
        // An auditor that cannot be paid in this round takes no share of the budget.
        if (debtOf(account) >= least && (await isFree(account))) due.push(account);
      }
      return await payDue(due, { begin, budget, log, signal });
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

/** The most debts among which the budget for parts is shared at once. A transfer costs gas, however small its part is. */
const MAX_SHARES = 10;

/** What a part of a debt must leave: equal shares for `among` debts, this one included, and `kept` for whole payments. */
type Part = { among: number; kept: bigint };

/**
 * The part of a debt that the budget allows now, `least` or more.
 *
 * @throws BudgetError
 */
async function partOf(
  debt: bigint,
  nonce: Hex,
  { among, kept }: Part,
  { budget, least }: Pick<PaymentDeskParameters, "budget" | "least">,
): Promise<bigint> {
  // Perhaps a process reserved an amount for this payment, and ended before it decided the payment.
  await budget.giveBack(nonce);
  const [free, forParts] = [(await budget.remaining()) - kept, await budget.leftForParts()];
  const left = free < forParts ? free : forParts;
  if (left < least) throw budgetExceeded(least, left > 0n ? left : 0n);
  const share = left / BigInt(among);
  const part = share > least ? share : least;
  return part < debt ? part : debt;
}

type Paying = Pick<PaymentDeskParameters, "budget" | "log"> & {
  /** Decides a payment. @returns whether a payment to this auditor is on its way now */
  begin: (account: AuditorAccount, part?: Part) => Promise<boolean>;
  signal: AbortSignal;
};

/** First pays a part of the debts above their share, and then the others. */
async function payDue(
  due: readonly AuditorAccount[],
  { begin, budget, log, signal }: Paying,
): Promise<PaymentRound> {
  const round: PaymentRound = { settled: 0n, waiting: 0, refused: 0 };
  const tryToBegin = async (account: AuditorAccount, part?: Part) => {
    signal.throwIfAborted();
    try {
      if (await begin(account, part)) round.waiting++;
    } catch (error) {
      if (!(error instanceof BudgetError)) throw error;
      round.refused++;
      log("The budget does not allow this payment to an auditor.", { auditor: account.auditor, error });
    }
  };
  const rising = due.toSorted((a, b) => Number(debtOf(a) - debtOf(b)));
  const left = await budget.remaining();
  let kept = 0n;
  let whole = 0;
  for (const account of rising) {
    if (debtOf(account) > (left - kept) / BigInt(rising.length - whole)) break;
    kept += debtOf(account);
    whole++;
  }
  const large = rising.slice(whole).reverse();
  const shares = Math.min(large.length, MAX_SHARES);
  for (const [n, account] of large.entries())
    await tryToBegin(account, { among: Math.max(1, shares - n), kept });
  for (const account of rising.slice(0, whole)) await tryToBegin(account);
  return round;
}

function debtOf({ accrued, paid }: AuditorAccount): bigint {
  return accrued - paid;
}
