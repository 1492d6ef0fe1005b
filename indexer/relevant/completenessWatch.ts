import type { Address } from "tallystick-protocol/address";
import {
  checkCompleteness,
  type Flow,
  type Gap,
  type Verified,
} from "../logPort/completeness/checkCompleteness.ts";
import { sampleOf } from "../logPort/completeness/sampleOf.ts";
import type { BalanceSource, BlockAt, Call, LogPort } from "../logPort/logPort.ts";

export type CompletenessWatchOptions = {
  /** The sources of transfers, the first one in use; the others are asked when something does not add up. */
  ports: readonly LogPort[];
  balances: BalanceSource;
  firstBlock: number;
  /** The number of checks in which every wallet is visited once. */
  rounds: number;
  /** Milliseconds for one check. */
  deadlineMs: number;
};

/** The input of a check. */
export type Look = {
  /** A final block. */
  at: BlockAt;
  /** The watched wallets, in the order in which they were added. */
  watched: readonly Address[];
  hubTransfers: number;
  /** What the wallets had received up to that block, by the rows. */
  received: (wallets: readonly Address[]) => Promise<ReadonlyMap<Address, Flow>>;
};

/**
 * Checks the balances of watched wallets again and again in the background. A balance must be what the wallet
 * received, by the rows, minus what it sent. Each check visits some of the wallets, and all new ones.
 */
export class CompletenessWatch {
  readonly #options: CompletenessWatchOptions;
  readonly #verified = new Map<Address, Verified & { received: bigint }>();
  #round = 0;
  #seen = 0;
  #running: Promise<void> | null = null;
  #gaps: Gap[] = [];
  #suspects: Address[];

  /** @param suspects wallets that are visited first */
  constructor(options: CompletenessWatchOptions, suspects: readonly Address[] = []) {
    this.#options = options;
    this.#suspects = [...suspects];
  }

  /** The gaps of the last check. */
  get gaps(): readonly Gap[] {
    return this.#gaps;
  }

  /**
   * Whether the transfers of a wallet do not add up now, or did not in an earlier process and were not checked since
   * then.
   */
  get isDoubtful(): boolean {
    return this.#gaps.length > 0 || this.#suspects.length > 0;
  }

  /**
   * Starts a check, unless one is running. Resolves when the rows are read. The chain is read after that, and
   * the result is in `gaps`.
   *
   * @param told called at the end with the first gap or null. If no source answered, the result is unknown,
   * and the next check visits the same wallets
   */
  async begin(
    look: Look,
    signal: AbortSignal,
    told: { onLooked: (gap: Gap | null) => Promise<void>; onFailed: (error: unknown) => void },
  ): Promise<void> {
    const { rounds, firstBlock } = this.#options;
    if (this.#running !== null || this.#gaps.length > 0 || look.at.block < firstBlock) return;
    // The list of watched wallets may grow while the check runs. The wallets that come then belong to the next check.
    const seen = look.watched.length;
    const fresh = [...this.#suspects, ...look.watched.slice(this.#seen)];
    const sample = [...new Set([...fresh, ...sampleOf(look.watched, this.#round, rounds)])];
    const received = await look.received(sample);
    const work = async () => {
      this.#gaps = await this.#look(look, sample, received, signal);
      this.#round++;
      this.#seen = seen;
      this.#suspects = [];
      await told.onLooked(this.#gaps[0] ?? null);
    };
    this.#running = work()
      .catch(told.onFailed)
      .finally(() => {
        this.#running = null;
      });
  }

  /** Checks the gaps again. Returns null when everything adds up now. */
  async lookAgain(look: Look, signal: AbortSignal): Promise<Gap | null> {
    const wallets = this.#gaps.map(({ wallet }) => wallet);
    const received = await look.received(wallets);
    this.#gaps = await this.#look(look, wallets, received, signal);
    return this.#gaps[0] ?? null;
  }

  /** Resolves when no check is running. */
  async idle(): Promise<void> {
    await this.#running;
  }

  /** Checks these wallets, and no others. Returns their gaps. */
  async #look(
    { at, hubTransfers }: Pick<Look, "at" | "hubTransfers">,
    wallets: readonly Address[],
    received: ReadonlyMap<Address, Flow>,
    signal: AbortSignal,
  ): Promise<Gap[]> {
    const { ports, balances, firstBlock, deadlineMs } = this.#options;
    const call: Call = { signal, deadlineMs };
    const since = (wallet: Address): Flow => {
      const { count, sum } = received.get(wallet) ?? { count: 0, sum: 0n };
      return { count, sum: sum - (this.#verified.get(wallet)?.received ?? 0n) };
    };
    const options = {
      balances,
      firstBlock,
      round: 0,
      rounds: 1,
      hubTransfers,
      at,
      verified: this.#verified,
      received: async (some: readonly Address[]) => new Map(some.map((it) => [it, since(it)])),
    };
    const added = new Map<Address, Verified>();
    let gaps: Gap[] = [];
    let watched = wallets;
    // Outgoing transfers are not stored in rows, so a source may lack some of them. Then the next one is asked.
    for (const port of ports) {
      const found = await checkCompleteness({ ...options, port, watched }, call);
      gaps = found.gaps;
      watched = gaps.map(({ wallet }) => wallet);
      const open = new Set(watched);
      for (const wallet of found.checked) {
        if (!open.has(wallet)) added.set(wallet, found.verified.get(wallet) as Verified);
      }
      if (gaps.length === 0) break;
    }
    // `received` has a sum as of this block only for the wallets of this check.
    for (const [wallet, known] of added) {
      this.#verified.set(wallet, { ...known, received: received.get(wallet)?.sum ?? 0n });
    }
    return gaps;
  }
}
