import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { replacementFees, type TransactionFees } from "tallystick-protocol/replacementFees";
import {
  isAddressEqual,
  keccak256,
  type LocalAccount,
  type PublicClient,
  serializeTransaction,
  type TransactionReceipt,
  TransactionReceiptNotFoundError,
} from "viem";
import { within } from "../deadline.ts";
import { ChainError } from "../errors.ts";
import { pause } from "../pause.ts";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { type OrderedWrites, orderedWrites } from "../store/orderedWrites.ts";
import { unlessDamaged } from "../store/unlessDamaged.ts";
import { isUnpaid } from "./isUnpaid.ts";

/** What a transaction does, without its price. */
type Content = { nonce: number; to: Address; data: Hex; gas: bigint };

/** A sent transaction that is perhaps not mined yet, with the hashes that it had at its different prices. */
type Sent = Content & {
  fees: TransactionFees;
  hashes: Hex[];
  /** The time of its last price, on a clock that only goes forward, and the latest block then. */
  pricedAt: number;
  pricedInBlock: bigint | undefined;
  /** Whether a node has taken it. If not, its nonce may be given to another call. */
  isTaken: boolean;
  /** Whether a node refused it because it pays too little to replace another transaction with the same nonce. */
  isTooCheap: boolean;
  /** Whether an earlier process sent it. */
  isEarlier: boolean;
  /** The time of the last look, if the node then said two things: the nonce is used, and there is no receipt. */
  missingAt: number | undefined;
  /**
   * The sum of the times between two such looks in a row, in milliseconds. If the node gave an error in between, the
   * time does not count.
   */
  missingFor: number;
  /** How many callers wait for it. */
  waiting: number;
  result: PromiseWithResolvers<TransactionReceipt>;
};

/** As it is in the store: amounts in wei as decimal strings. */
type Stored = {
  chainId: number;
  nonce: number;
  to: Address;
  data: Hex;
  gas: string;
  maxFeePerGas: string;
  maxPriorityFeePerGas: string;
  hashes: Hex[];
};

/** What {@link SentTransactions.send} tells its caller about a transaction. */
export type Departure = {
  /**
   * Called just before the transaction is stored and sent. If this throws, the transaction is neither stored nor sent.
   */
  leave: () => void;
  /**
   * Called when the transaction could not be stored, or when its account cannot pay for it. The transaction is then
   * neither sent nor in the store.
   */
  stay: () => void;
};

export type SentTransactionsParameters = {
  account: LocalAccount;
  chainId: number;
  client: PublicClient;
  /** Remembers what was sent until it is mined. Without a store a restart forgets it. */
  store: KeyValueStore | undefined;
  log?: ((sentence: string, details?: { [key: string]: unknown }) => void) | undefined;
  /** Milliseconds until a transaction that is not mined is sent again at a higher price. */
  replaceMs: number;
  /** Milliseconds between two looks at the chain, while something is not mined. */
  pollingMs: number;
  /** Milliseconds after which a used nonce without a receipt counts as another transaction's. Default 60,000. */
  missingMs?: number;
  /** A clock in milliseconds that only goes forward. Default: this process's. */
  clock?: () => number;
};

/**
 * If nodes give too low a number of used nonces, they are asked again. `MOST_COUNTS` is the most questions, and
 * `COUNT_MS` the longest pause between two of them, in milliseconds.
 */
const MOST_COUNTS = 5;
const COUNT_MS = 1_000;

/**
 * How many transactions are sent again at a time, beginning with the lowest nonce. Nodes keep about this many
 * transactions of one account.
 */
const MOST_AT_ONCE = 16;

/**
 * The transactions of one account that are perhaps not mined yet. A transaction that waits too long is sent again at
 * a higher price. It has the same call and the same nonce, so the chain can take it only once. Nothing is given up as
 * long as it can be mined.
 */
export class SentTransactions {
  readonly #parameters: SentTransactionsParameters;
  readonly #address: Address;
  readonly #missingMs: number;
  readonly #now: () => number;
  /** By nonce. */
  readonly #sent = new Map<number, Sent>();
  readonly #byHash = new Map<Hex, Sent>();
  readonly #disk: OrderedWrites | undefined;
  /** The nonce after the highest one of the mined transactions. */
  #afterMined = 0;
  /** A nonce that is unused, and that none of these transactions has. `since` is the time when this was first seen. */
  #gap: { nonce: number; since: number } | undefined;
  #loaded: Promise<void> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isLooking = false;
  #isSoon = false;
  #isClosed = false;

  constructor(parameters: SentTransactionsParameters) {
    this.#parameters = parameters;
    this.#address = parameters.account.address.toLowerCase() as Address;
    this.#missingMs = parameters.missingMs ?? 60_000;
    this.#now = parameters.clock ?? (() => performance.now());
    const { store, chainId } = parameters;
    const start = this.#keyOf("").length;
    this.#disk =
      store && orderedWrites(store, (key) => asStored(this.#sent.get(Number(key.slice(start))), chainId));
  }

  #keyOf(nonce: number | ""): string {
    return `sent/${this.#address}.${this.#parameters.chainId}.${nonce}`;
  }

  #count(blockTag: "latest" | "pending"): Promise<number> {
    return this.#parameters.client.getTransactionCount({ address: this.#address, blockTag });
  }

  #inOrder(): Sent[] {
    return [...this.#sent.values()].sort((a, b) => a.nonce - b.nonce);
  }

  /** Reads what an earlier process has sent. If the store fails, the next call tries again. */
  load(): Promise<void> {
    this.#loaded ??= this.#readStore().catch((error: unknown) => {
      this.#loaded = undefined;
      throw error;
    });
    return this.#loaded;
  }

  async #readStore(): Promise<void> {
    const own = this.#keyOf("");
    const { store, log } = this.#parameters;
    for (const key of (await store?.keys("sent")) ?? []) {
      if (store === undefined || !key.startsWith(own)) continue;
      // A damaged transaction is as one that an earlier process forgot: a node may have it, and its nonce is filled if not.
      const it = await unlessDamaged(store.get<Stored>(key), (error) =>
        log?.("A transaction that was sent cannot be read, and is not followed.", {
          key,
          error: String(error),
        }),
      );
      if (it === undefined) continue;
      const { nonce, to, data, hashes } = it;
      const maxFeePerGas = BigInt(it.maxFeePerGas);
      const fees = { maxFeePerGas, maxPriorityFeePerGas: BigInt(it.maxPriorityFeePerGas) };
      const content = { nonce, to, data, gas: BigInt(it.gas) };
      this.#keep({ ...this.#fresh(content, fees), hashes, isTaken: true, isEarlier: true });
    }
    await this.#sendEarlier().catch(() => {});
    this.#schedule();
  }

  /** Sends what an earlier process stored, because that process may have ended before it sent the transaction. */
  async #sendEarlier(): Promise<void> {
    if (this.#sent.size === 0) return;
    const next = await this.#count("latest");
    const unused = this.#inOrder().filter(({ nonce }) => nonce >= next);
    for (const it of unused.slice(0, MOST_AT_ONCE)) await this.#repeat(await this.#signAndSave(it));
  }

  #fresh(content: Content, fees: TransactionFees): Sent {
    const result = Promise.withResolvers<TransactionReceipt>();
    // Without this, a rejection for which nobody waits would count as an unhandled error.
    result.promise.catch(() => {});
    const unknown = { hashes: [], pricedAt: this.#now(), pricedInBlock: undefined, missingAt: undefined };
    return {
      ...content,
      fees,
      ...unknown,
      missingFor: 0,
      isTaken: false,
      isTooCheap: false,
      isEarlier: false,
      waiting: 0,
      result,
    };
  }

  #keep(it: Sent): void {
    this.#sent.set(it.nonce, it);
    for (const hash of it.hashes) this.#byHash.set(hash, it);
  }

  /** Writes to the store which transaction now has a nonce. */
  async #save(nonce: number): Promise<void> {
    await this.#disk?.save(this.#keyOf(nonce));
  }

  async #forget(it: Sent, earlier?: Sent): Promise<void> {
    // A caller may have sent the same call again at the same price. That transaction has the same hash.
    for (const hash of it.hashes) if (this.#byHash.get(hash) === it) this.#byHash.delete(hash);
    if (this.#sent.get(it.nonce) !== it) return;
    this.#sent.delete(it.nonce);
    if (earlier) this.#keep(earlier);
    await this.#save(it.nonce);
  }

  /** Signs a known transaction at its present price, and stores it. Nothing is sent before it is in the store. */
  async #signAndSave(it: Sent): Promise<Hex> {
    const serialized = await this.#sign(it);
    if (this.#sent.get(it.nonce) !== it) throw isUsed(it.nonce);
    this.#keep(it);
    await this.#save(it.nonce);
    return serialized;
  }

  /** Signs a transaction at its present price. */
  async #sign(it: Sent): Promise<Hex> {
    const { nonce, to, data, gas, fees } = it;
    const { chainId } = this.#parameters;
    const serialized = await this.#parameters.account.signTransaction(
      { type: "eip1559", chainId, nonce, to, data, gas, ...fees },
      { serializer: serializeTransaction },
    );
    const hash = keccak256(serialized);
    if (!it.hashes.includes(hash)) it.hashes.push(hash);
    return serialized;
  }

  /** The chain's present fees. */
  #feesNow(): Promise<TransactionFees> {
    return this.#parameters.client.estimateFeesPerGas({ chain: null, type: "eip1559" });
  }

  /**
   * The next free nonce: above those of all transactions that the node knows, and of those here that a node has taken.
   */
  async nextNonce(): Promise<number> {
    const pending = await this.#pendingCount();
    const taken = [...this.#sent.values()].filter(({ isTaken }) => isTaken).map(({ nonce }) => nonce + 1);
    return Math.max(pending, ...taken);
  }

  /**
   * Several nodes may answer at the address of one RPC, and one that is behind does not count what was just mined. A
   * number that stays too low is believed, because a reorganization may have undone what was mined.
   */
  async #pendingCount(): Promise<number> {
    for (let counts = 1; ; counts++) {
      const pending = await this.#count("pending");
      if (pending < this.#afterMined && counts < MOST_COUNTS) {
        await pause(Math.min(COUNT_MS, this.#parameters.pollingMs));
        continue;
      }
      if (pending < this.#afterMined) this.#afterMined = pending;
      return pending;
    }
  }

  /** Plans the next look. It comes immediately when somebody begins to wait. */
  #schedule(soon = false): void {
    this.#isSoon ||= soon;
    if (this.#isLooking || this.#isClosed || this.#sent.size === 0) return;
    if (this.#isSoon) clearTimeout(this.#timer);
    if (this.#isSoon || this.#timer === undefined)
      this.#timer = setTimeout(() => void this.#look(), this.#isSoon ? 0 : this.#parameters.pollingMs);
    this.#isSoon = false;
    // In Node a timer keeps the process alive. This timer must do so only if somebody waits. In browsers a timer is a
    // number.
    const handle = this.#timer as unknown as { ref?: () => void; unref?: () => void };
    const isWaitedFor = [...this.#sent.values()].some(({ waiting }) => waiting > 0);
    if (isWaitedFor) handle.ref?.();
    else handle.unref?.();
  }

  async #look(): Promise<void> {
    this.#timer = undefined;
    this.#isLooking = true;
    // The RPC or the store may not answer. The next look tries again.
    await this.#lookOnce().catch(() => {});
    this.#isLooking = false;
    this.#schedule();
  }

  async #lookOnce(): Promise<void> {
    const count = (blockTag: "latest" | "pending"): Promise<number> =>
      this.#count(blockTag).catch((error: unknown) => {
        // While the RPC does not answer, nobody knows what is missing.
        for (const it of this.#sent.values()) it.missingAt = undefined;
        throw error;
      });
    const next = await count("latest");
    const all = this.#inOrder();
    const now = this.#now();
    const untaken = all.filter(({ nonce, isTaken }) => nonce >= next && !isTaken);
    const pending = untaken.length > 0 ? await count("pending") : next;
    for (const it of untaken) {
      it.isTaken = it.nonce < pending;
      if (!it.isTaken && now - it.pricedAt > this.#missingMs) await this.#giveUp(it);
    }
    for (const it of all) if (it.nonce >= next) it.missingAt = undefined;
    const used = all.filter(({ nonce }) => nonce < next);
    for (let at = 0; at < used.length; at += MOST_AT_ONCE) {
      await Promise.all(used.slice(at, at + MOST_AT_ONCE).map((it) => this.#end(it)));
    }
    const waiting = all.filter(({ nonce, isTaken }) => nonce >= next && isTaken).slice(0, MOST_AT_ONCE);
    const isDue = waiting.filter(({ pricedAt }) => now - pricedAt >= this.#parameters.replaceMs);
    for (const it of isDue) await this.#sendAgain(it);
    await this.#fillGap(next, waiting, now);
  }

  /** Ends a transaction whose nonce is used: with its receipt, or with an error if no receipt appears for some time. */
  async #end(it: Sent): Promise<void> {
    let isMissing = true;
    for (const hash of it.hashes.toReversed()) {
      const receipt = await this.#parameters.client
        .getTransactionReceipt({ hash })
        .catch((error: unknown) => {
          isMissing &&= error instanceof TransactionReceiptNotFoundError;
          return undefined;
        });
      if (receipt === undefined) continue;
      this.#afterMined = Math.max(this.#afterMined, it.nonce + 1);
      // If the store cannot delete the transaction, its callers still get the receipt.
      return await this.#forget(it).finally(() => it.result.resolve(receipt));
    }
    // Perhaps another node of the same provider has the receipt. An error says nothing about the receipt. But an error
    // does not reset `missingFor`, so that nobody waits forever for a provider that fails again and again.
    const now = this.#now();
    if (isMissing && it.missingAt !== undefined) it.missingFor += now - it.missingAt;
    it.missingAt = isMissing ? now : undefined;
    if (it.missingFor > this.#missingMs) await this.#giveUp(it);
  }

  /** Ends a transaction that no node has, with an error. */
  async #giveUp(it: Sent): Promise<void> {
    const error = new ChainError({
      code: "chain_unreachable",
      message: `The transaction with nonce ${it.nonce} of ${this.#address} is not on the chain.`,
      hint: "Read the state again. Nothing else may send transactions of this account.",
    });
    await this.#forget(it).finally(() => it.result.reject(error));
  }

  /**
   * Sends the same call with the same nonce again. If the chain has new blocks without the transaction, the new one
   * pays more. Without new blocks a higher price does not help, but the node may have lost the transaction.
   */
  async #sendAgain(it: Sent): Promise<void> {
    const block = await this.#parameters.client.getBlockNumber({ cacheTime: 0 });
    const isStandingStill = block === it.pricedInBlock;
    const fees = isStandingStill ? it.fees : replacementFees(await this.#feesNow(), it.fees);
    it.fees = fees;
    it.pricedAt = this.#now();
    it.pricedInBlock = block;
    await this.#repeat(await this.#signAndSave(it));
  }

  /**
   * Fills a free nonce that blocks the transactions with higher nonces. The transaction with this nonce is lost: an
   * earlier process forgot it, or the node did. The new transaction with this nonce does nothing, so nobody's call
   * is sent twice.
   */
  async #fillGap(next: number, waiting: readonly Sent[], now: number): Promise<void> {
    const isGap = waiting.length > 0 && !this.#sent.has(next);
    if (!isGap) this.#gap = undefined;
    else if (this.#gap?.nonce !== next) this.#gap = { nonce: next, since: now };
    else if (now - this.#gap.since >= this.#parameters.replaceMs) {
      const gas =
        (await this.#parameters.client.estimateGas({ account: this.#address, to: this.#address })) * 2n;
      const it = this.#fresh({ nonce: next, to: this.#address, data: "0x", gas }, await this.#feesNow());
      // A call may have got this nonce meanwhile.
      if (this.#sent.has(next)) return;
      it.isTaken = true;
      this.#keep(it);
      await this.#repeat(await this.#signAndSave(it));
    }
  }

  /**
   * Sends a transaction that may be known already. A node answers with an error if it already has the transaction, or
   * if it wants a still higher price. After `close` another process may be the sender, and it does not know the new
   * hash.
   */
  async #repeat(serialized: Hex): Promise<void> {
    if (!this.#isClosed) await this.#broadcast(serialized).catch(() => {});
  }

  #broadcast(serializedTransaction: Hex): Promise<Hex> {
    return this.#parameters.client.sendRawTransaction({ serializedTransaction });
  }

  /** Sends a new transaction. An error or a wrong answer counts only if the node does not know the transaction. */
  async #offer(it: Sent, serialized: Hex): Promise<Hex> {
    const hash = keccak256(serialized);
    const fault = await this.#broadcast(serialized).then(
      (answer) => (answer === hash ? undefined : new Error("the RPC gave another hash")),
      (cause: unknown) => cause,
    );
    if (fault !== undefined) {
      it.isTooCheap = /underpriced|replacement/i.test(String(Object(fault).details ?? fault));
      await this.#parameters.client.getTransaction({ hash }).catch(() => Promise.reject(fault));
    }
    it.isTaken = true;
    return hash;
  }

  /**
   * Sends a new transaction, and returns its hash. Throws if it is not known whether a node took the transaction.
   * Several calls may have the same nonce, because a call that waits too long for an answer is not stopped. Only one of
   * these calls can be mined. A new call never replaces a call that a node has taken.
   */
  async send(content: Content, { leave, stay }: Departure): Promise<Hex> {
    const { nonce } = content;
    if (this.#isClosed) throw closed();
    const earlier = this.#sent.get(nonce);
    const now = await this.#feesNow();
    // Some nodes do not count a transaction that waits for a better price, so its nonce looks free.
    const it = this.#fresh(content, earlier?.isTooCheap ? replacementFees(now, earlier.fees) : now);
    const serialized = await this.#sign(it);
    // Nothing is awaited between these checks and `#keep`, so the checks are still true there.
    if (this.#isClosed) throw closed();
    const present = this.#sent.get(nonce);
    if (present?.isTaken || (present && present !== earlier)) throw isUsed(nonce);
    leave();
    for (const hash of present?.hashes ?? []) this.#byHash.delete(hash);
    this.#keep(it);
    try {
      await this.#save(nonce);
    } catch (error) {
      // If the store refuses this change too, nobody knows what the store has.
      await this.#forget(it, present).then(stay, () => {});
      throw error;
    }
    if (this.#sent.get(nonce) !== it) throw isUsed(nonce);
    try {
      return await this.#offer(it, serialized);
    } catch (error) {
      // No node takes the transaction. It is forgotten, so that nobody sends it later, when its caller no longer
      // expects it.
      if (isUnpaid(error)) await this.#forget(it, present).then(stay, () => {});
      throw error;
    } finally {
      this.#schedule();
    }
  }

  /** The hash of the same call if an earlier process sent it and it may still be mined. */
  hashOfEarlier(to: Address, data: Hex): Hex | undefined {
    const same = this.#inOrder().find((it) => it.isEarlier && it.data === data && isAddressEqual(it.to, to));
    return same?.hashes.at(-1);
  }

  /** Whether a transaction that had this hash may still be mined. */
  isUnmined(hash: Hex): boolean {
    return this.#byHash.has(hash);
  }

  /**
   * The receipt of a transaction, at any price that it has in the end. Undefined if it takes longer.
   *
   * @throws ChainError `chain_unreachable` if another transaction has its nonce, if it is not among these
   * transactions, or after `close`
   */
  async wait(hash: Hex, ms: number): Promise<TransactionReceipt | undefined> {
    const it = this.#byHash.get(hash);
    if (it === undefined) throw unknown(hash);
    it.waiting++;
    this.#schedule(true);
    try {
      return await within(it.result.promise, ms);
    } finally {
      it.waiting--;
    }
  }

  /** What may still be mined, in the order of nonces. */
  unmined(): { to: Address; data: Hex; mined: Promise<TransactionReceipt> }[] {
    return this.#inOrder().map(({ to, data, result }) => ({ to, data, mined: result.promise }));
  }

  /** Ends all looks and all waiting. What was sent stays valid, and in the store. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const { result } of this.#sent.values()) result.reject(closed());
  }
}

/** A transaction as it is in the store. */
function asStored(it: Sent | undefined, chainId: number): Stored | undefined {
  if (it === undefined) return undefined;
  const { nonce, to, data, hashes, gas, fees } = it;
  const { maxFeePerGas, maxPriorityFeePerGas } = fees;
  const amounts = { gas: String(gas), maxFeePerGas: String(maxFeePerGas) };
  const priority = { maxPriorityFeePerGas: String(maxPriorityFeePerGas) };
  return { chainId, nonce, to, data, hashes, ...amounts, ...priority };
}

function isUsed(nonce: number): Error {
  return new Error(`another transaction has taken nonce ${nonce} meanwhile`);
}

function closed(): ChainError {
  return new ChainError({
    code: "chain_unreachable",
    message: "The sender of transactions was closed.",
    hint: "What it sent may still be mined: read the state again.",
  });
}

function unknown(hash: Hex): ChainError {
  return new ChainError({
    code: "chain_unreachable",
    message: `Transaction ${hash} was not sent here, or is mined.`,
    hint: "Read its receipt from the chain.",
  });
}
