import type { Address } from "tallystick-protocol/address";
import * as z from "zod";
import type { KeyValueStore } from "../store/keyValueStore.ts";
import { unlessDamaged } from "../store/unlessDamaged.ts";

/**
 * The gas that a paid hire adds to its buyer's account: about the gas of its deposit, its mark of delivery
 * and its release.
 */
export const HIRE_GAS = 150_000;

/**
 * How long a loss of an account counts, in milliseconds. Usually it counts for a day. It counts for a month if the
 * account has never paid a fee, and if its signature failed or its deposits brought no fee. The time doubles with each
 * further window of this kind. Otherwise a buyer whose money always comes back could use up its whole allowance every
 * day, and the keeper would get nothing.
 */
export const WINDOW_MS = 86_400_000;
export const STRANGER_WINDOW_MS = 30 * WINDOW_MS;
const MAX_DOUBLINGS = 6;

/** The number of changes between two searches for accounts that no longer matter. */
const SWEEP_WRITES = 10_000;

/** An account of {@link advancesOf} or {@link signaturesOf}. */
export type GasAccountId = string;

/** What was spent on a buyer's hires before they brought a fee. */
export const advancesOf = (buyer: Address): GasAccountId => buyer;

/** What a contract wallet's signatures cost when they failed. */
export const signaturesOf = (wallet: Address): GasAccountId => `${wallet}${WORDS}`;

const WORDS = ".words";

/** What an account has cost and brought in its present window. */
const accountForm = z.object({
  /** Gas that was spent and earned nothing. */
  lost: z.number(),
  /** Gas that hires which paid the fee have added. */
  earned: z.number(),
  /** Whether a hire of this account has ever paid the fee. */
  paid: z.boolean(),
  /** Whether a signature failed although it was valid when it came. */
  failed: z.boolean(),
  /** The number of windows in a row with a failure. */
  strikes: z.number(),
  /** The end of this window, in unix milliseconds. Losses and earnings are forgotten then. */
  until: z.number(),
});

type Account = z.output<typeof accountForm>;

export type GasAccountsParameters = {
  expectsFees?: boolean;
  log?: (sentence: string, details?: { [key: string]: unknown }) => void;
};

export type GasAccounts = Awaited<ReturnType<typeof openGasAccounts>>;

/** Gas set aside for one attempt, until its result is known. */
export type Reservation = {
  gas: number;
  /**
   * The attempt cost this much and earned nothing. `failed`: the signature was valid when it came, and no
   * longer when it was sent.
   */
  lose: (gas: number, failed?: boolean) => Promise<void>;
  /** The attempt cost nothing, or what it cost was paid for. */
  giveBack: () => void;
};

/**
 * What the keeper has spent on each account, stored on disk. An account may cost a limited amount in a window of a
 * day. Each paid hire raises this amount. Each further failure counts for a longer time. An account is stored only
 * once it has cost or earned something, so that invented accounts do not fill the disk.
 *
 * Nobody knows what an account has cost if its file cannot be read. A buyer's account gets no gas in the longest window that it
 * can have. A fee ends this window as any other. The account of a wallet's signatures gets no gas for a day: without gas its
 * releases cannot bring the fee that would end a longer window. Until then the file stays as it is, so that a person can put a
 * copy in its place.
 *
 * @param parameters.expectsFees whether hires pay this keeper a fee. Without fees no buyer ever pays
 */
export async function openGasAccounts(
  store: KeyValueStore,
  now: () => number = Date.now,
  { expectsFees = false, log = () => {} }: GasAccountsParameters = {},
) {
  const { accounts, unread } = await readAccounts(store, now(), { expectsFees, log });
  const reserved = new Map<GasAccountId, number>();
  let writes = 0;
  /**
   * Whether a window has brought nothing. Either a signature failed, or a buyer who has never paid made deposits that
   * brought no fee.
   */
  const isInVain = (of: GasAccountId, { lost, paid, failed }: Account): boolean =>
    failed || (expectsFees && !of.endsWith(WORDS) && !paid && lost > 0);

  /** Forgets the accounts that no longer matter. */
  async function sweep(): Promise<void> {
    for (const [of, account] of accounts) {
      const { until, strikes } = account;
      const counts = isInVain(of, account) || strikes > 0 ? STRANGER_WINDOW_MS * 2 ** MAX_DOUBLINGS : 0;
      if (now() < until + counts) continue;
      accounts.delete(of);
      await store.delete(`gas/${of}`);
    }
  }
  await sweep();

  /** The account as it is now. A finished window is forgotten, and a failure in it makes the next window longer. */
  function current(of: GasAccountId): Account {
    const kept = accounts.get(of);
    if (kept !== undefined && now() < kept.until) return kept;
    const strikes = (kept?.strikes ?? 0) + Number(kept !== undefined && isInVain(of, kept));
    return { lost: 0, earned: 0, paid: kept?.paid ?? false, failed: false, strikes, until: 0 };
  }

  async function write(of: GasAccountId, account: Account, hasJustFailed = false): Promise<void> {
    const windowMs = isInVain(of, account) && !account.paid ? STRANGER_WINDOW_MS : WINDOW_MS;
    const end = now() + windowMs * 2 ** Math.min(account.strikes, MAX_DOUBLINGS);
    // A window begins with its first change, and a failure makes it longer.
    if (account.until === 0) unread.delete(of);
    if (account.until === 0 || hasJustFailed) account.until = Math.max(account.until, end);
    accounts.set(of, account);
    if (unread.has(of)) return;
    await store.put(`gas/${of}`, account);
    if (++writes % SWEEP_WRITES === 0) await sweep();
  }

  const roomOf = (of: GasAccountId, most: number): number => {
    const { lost, earned } = current(of);
    return most + earned - lost - (reserved.get(of) ?? 0);
  };

  return {
    /** Gas that may still be risked for an account that may lose `most` in a window. */
    roomOf,
    /** Sets gas aside at once; undefined when there is no room for it. */
    reserve: (of: GasAccountId, gas: number, most: number): Reservation | undefined => {
      if (roomOf(of, most) < gas) return undefined;
      reserved.set(of, (reserved.get(of) ?? 0) + gas);
      let isOpen = true;
      const giveBack = (): void => {
        if (!isOpen) return;
        isOpen = false;
        const left = (reserved.get(of) ?? 0) - gas;
        if (left > 0) reserved.set(of, left);
        else reserved.delete(of);
      };
      return {
        gas,
        giveBack,
        lose: async (cost, failed = false) => {
          const account = current(of);
          const change = { lost: account.lost + cost, failed: account.failed || failed };
          const written = write(of, { ...account, ...change }, failed);
          giveBack();
          await written;
        },
      };
    },
    /** Counts a hire that paid the fee. */
    earn: async (of: GasAccountId): Promise<void> => {
      const account = current(of);
      // A buyer who pays the first fee does not wait a month any more: the losses end after a day at the latest.
      if (!account.paid && !account.failed && account.until > 0)
        account.until = Math.min(account.until, now() + WINDOW_MS);
      await write(of, { ...account, earned: account.earned + HIRE_GAS, paid: true, strikes: 0 });
    },
    /** Seconds until an account's losses are forgotten. */
    secondsToWait: (of: GasAccountId): number => Math.max(1, Math.ceil((current(of).until - now()) / 1_000)),
  };
}

/** Reads all accounts. `unread`: those whose files cannot be read, until their window is over. */
async function readAccounts(
  store: KeyValueStore,
  now: number,
  { expectsFees, log }: Required<GasAccountsParameters>,
): Promise<{ accounts: Map<GasAccountId, Account>; unread: Set<GasAccountId> }> {
  const accounts = new Map<GasAccountId, Account>();
  const unread = new Set<GasAccountId>();
  for (const key of await store.keys("gas")) {
    const of = key.slice("gas/".length);
    let fault: Error | undefined;
    const stored = await unlessDamaged(store.get(key), (error) => {
      fault = error;
    });
    // It was deleted meanwhile.
    if (stored === undefined && fault === undefined) continue;
    const { data, error } = accountForm.safeParse(stored);
    accounts.set(of, data ?? usedUp(of, now, expectsFees));
    if (data !== undefined) continue;
    // One file that cannot be read must not stop the keeper.
    unread.add(of);
    const sentence =
      "A gas account cannot be read, so it gets no more gas. Put a copy in its place, or delete it.";
    log(sentence, { key, error: String(fault ?? error) });
  }
  return { accounts, unread };
}

/** An account that has cost more than any account may. */
function usedUp(of: GasAccountId, now: number, expectsFees: boolean): Account {
  const isLong = expectsFees && !of.endsWith(WORDS);
  const windowMs = isLong ? STRANGER_WINDOW_MS * 2 ** MAX_DOUBLINGS : WINDOW_MS;
  const lost = Number.MAX_SAFE_INTEGER;
  const strikes = isLong ? MAX_DOUBLINGS : 0;
  return { lost, earned: 0, paid: false, failed: false, strikes, until: now + windowMs };
}
